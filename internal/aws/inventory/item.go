// Package inventory finds everything in an AWS account that belongs to given
// clusters: by ownership tag, by name rule or by a link to something owned,
// from every service and region they use, all pages.
//
// Nothing is taken for owned without a proof, and the proof is kept on the
// item. A listing that failed is unknown, never empty. The same inventory is
// what a sweep deletes, what the orphan report shows and what proves at the end
// of a teardown that nothing is left.
package inventory

import (
	"cmp"
	"slices"
)

// Kind is what an item is.
type Kind string

// The kinds that are looked for.
const (
	NodeGroup           Kind = "node-group"
	Addon               Kind = "addon"
	Cluster             Kind = "eks-cluster"
	Role                Kind = "iam-role"
	OIDCProvider        Kind = "oidc-provider"
	AutoScalingGroup    Kind = "auto-scaling-group"
	Instance            Kind = "instance"
	ClassicLoadBalancer Kind = "classic-load-balancer"
	LoadBalancer        Kind = "load-balancer"
	TargetGroup         Kind = "target-group"
	NATGateway          Kind = "nat-gateway"
	ElasticIP           Kind = "elastic-ip"
	VPCEndpoint         Kind = "vpc-endpoint"
	NetworkInterface    Kind = "network-interface"
	InternetGateway     Kind = "internet-gateway"
	RouteTable          Kind = "route-table"
	SecurityGroup       Kind = "security-group"
	Subnet              Kind = "subnet"
	VPC                 Kind = "vpc"
)

// Item is one resource in the account.
type Item struct {
	Kind Kind
	// Region is empty for IAM, which has none.
	Region string
	// ID is what a delete call names: an id, a name or an ARN.
	ID string
	// Name is for people; it may be empty or equal to ID.
	Name string
	// Parent is the EKS cluster of a node group or add-on.
	Parent string
	// VPC is the network the item lives in; for a VPC, its own id.
	VPC string
	// Uses are the ids of resources that cannot go while this item is there,
	// such as an interface's subnet and security groups.
	Uses []string
	// Tags are all tags AWS reported.
	Tags map[string]string

	// Owner is the Cluster API name of the cluster the item belongs to.
	Owner string
	// Reason is the proof of ownership in words: which tag, name or link. On
	// an unproven item it says what is missing.
	Reason string
}

// Ref names the item unambiguously within the account.
func (i Item) Ref() string {
	ref := string(i.Kind) + " "
	if i.Parent != "" {
		ref += i.Parent + "/"
	}
	ref += i.ID
	if i.Region != "" {
		ref += " in " + i.Region
	}
	return ref
}

// compare orders items by region, kind, parent and id, so that lists are stable.
func compare(a, b Item) int {
	return cmp.Or(
		cmp.Compare(a.Region, b.Region),
		cmp.Compare(a.Kind, b.Kind),
		cmp.Compare(a.Parent, b.Parent),
		cmp.Compare(a.ID, b.ID),
	)
}

func sortItems(items []Item) { slices.SortFunc(items, compare) }
