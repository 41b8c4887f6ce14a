// Package ekssim is Amazon EKS: control planes, node groups, add-ons, access
// entries. A control plane is a real Kubernetes API server, brought up through
// the Clusters interface.
//
// The aws-auth ConfigMap does not count in MapPrincipal: it lives in the
// cluster, which EKS does not look into here. Remote access, Fargate, hybrid
// nodes, Auto Mode and IPv6 are refused.
package ekssim

import "context"

// Clusters runs the Kubernetes clusters behind simulated control planes. Calls
// for one cluster are never made at the same time.
type Clusters interface {
	// Start brings up the cluster's API server with token authentication for
	// AWS callers and returns once it is ready and has the objects that EKS
	// puts into a new cluster. A cluster that existed before is started again
	// with the state it had.
	Start(ctx context.Context, spec ClusterSpec) (ControlPlane, error)
	// Delete ends the cluster and forgets its state. An unknown one is success.
	Delete(ctx context.Context, id ClusterID) error
	// AddNode registers a node; one that exists is left as it is. RemoveNode
	// takes it away; an absent one is success.
	AddNode(ctx context.Context, id ClusterID, node Node) error
	RemoveNode(ctx context.Context, id ClusterID, name string) error
}

// ClusterID names a cluster within the account.
type ClusterID struct{ Region, Name string }

// ClusterSpec is what is asked for at creation.
type ClusterSpec struct {
	ID ClusterID
	// Version is the Kubernetes minor, such as "1.35".
	Version string
	// SelfManagedAddons asks for the aws-node, kube-proxy and coredns that EKS
	// installs unless told not to.
	SelfManagedAddons bool
}

// ControlPlane is how to reach a started cluster.
type ControlPlane struct {
	Endpoint string // URL of the API server
	CA       []byte // PEM
	Issuer   string // URL of the service account issuer
}

// Node is an instance as a node.
type Node struct {
	Name         string // the instance's private DNS name
	ProviderID   string // aws:///<zone>/<instance id>
	Labels       map[string]string
	Taints       []Taint
	Architecture string // "amd64" or "arm64", as Kubernetes spells them
	VCPUs        int
	MemoryMiB    int
}

// Taint is a node taint; Effect is spelled as Kubernetes does ("NoSchedule").
type Taint struct{ Key, Value, Effect string }
