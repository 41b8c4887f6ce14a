package ekssim

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/krops-go/krops/internal/rehearsal/awssim/asgsim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/ec2sim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// Network is what EKS does in the account's VPCs; EC2 does it. Errors are
// *service.Error.
type Network interface {
	LookupSubnet(region, id string) (ec2sim.Subnet, bool)
	LookupInstanceType(region, name string) (ec2sim.InstanceType, bool)
	// LookupLaunchTemplate returns a version of the launch template with the
	// id or, where that is empty, the name.
	LookupLaunchTemplate(region, id, name, version string) (ec2sim.LaunchTemplate, error)
	CreateOwnedSecurityGroup(region, vpc, name, description string, tags map[string]string) (string, error)
	DeleteOwnedSecurityGroup(region, id string) error
	CreateOwnedInterface(region, subnet string, groups []string, description string) (string, error)
	DeleteOwnedInterface(region, id string) error
}

// Roles is what EKS needs of IAM.
type Roles interface {
	// TrustsService reports whether the role exists and lets the AWS service
	// assume it.
	TrustsService(roleARN, servicePrincipal string) (exists, trusted bool)
	// CreateOwnedInstanceProfile makes an instance profile that holds the role.
	CreateOwnedInstanceProfile(w service.World, account, name, roleARN string) error
	// DeleteOwnedInstanceProfile removes it; an absent one is success.
	DeleteOwnedInstanceProfile(name string)
}

// Timing is how long changes take on the account's clock beyond the work that
// is really done for them. They are never instant, so that a caller that does
// not wait is found out. Zero members take the default.
type Timing struct {
	ClusterCreate, ClusterUpdate, ClusterDelete time.Duration
	NodeGroup, Addon                            time.Duration
	// UpdateShown is how long UPDATING is kept for an SDK waiter to see. A
	// client that waits for UPDATING, as Cluster API does, would otherwise
	// miss it on a busy machine and wait for ever.
	UpdateShown time.Duration
}

func (t Timing) orDefault() Timing {
	return Timing{
		ClusterCreate: cmp.Or(t.ClusterCreate, 100*time.Millisecond),
		ClusterUpdate: cmp.Or(t.ClusterUpdate, 300*time.Millisecond),
		ClusterDelete: cmp.Or(t.ClusterDelete, 200*time.Millisecond),
		NodeGroup:     cmp.Or(t.NodeGroup, 200*time.Millisecond),
		Addon:         cmp.Or(t.Addon, 200*time.Millisecond),
		UpdateShown:   cmp.Or(t.UpdateShown, 15*time.Second),
	}
}

// Service is Amazon EKS for one account.
type Service struct {
	clusters Clusters
	network  Network
	roles    Roles
	groups   *asgsim.Service
	timing   Timing
	state    state

	queues     map[ClusterID][]job // work for each cluster; the first is running
	restarting map[ClusterID]bool  // started before, and being started again
	restarts   map[ClusterID]error // failures of that
}

var (
	_ service.Service = (*Service)(nil)
	_ service.Resumer = (*Service)(nil)
)

// New returns an EKS without clusters. The other services are those of the
// same account: all run under its one lock.
func New(clusters Clusters, network Network, roles Roles, groups *asgsim.Service, timing Timing) *Service {
	return &Service{
		clusters: clusters, network: network, roles: roles, groups: groups, timing: timing.orDefault(),
		state:      state{Regions: map[string]map[string]*cluster{}},
		queues:     map[ClusterID][]job{},
		restarting: map[ClusterID]bool{},
		restarts:   map[ClusterID]error{},
	}
}

// Name is "eks".
func (s *Service) Name() string { return "eks" }

// State is the clusters and everything in them.
func (s *Service) State() any { return &s.state }

// Reaches implements service.Contained: EKS acts in EC2, IAM and Auto Scaling.
func (s *Service) Reaches() []string { return []string{"ec2", "iam", "autoscaling"} }

// Operations lists what is modelled.
func (s *Service) Operations() []service.Operation {
	return slices.Concat(
		s.clusterOperations(),
		s.updateOperations(),
		s.nodeGroupOperations(),
		s.addonOperations(),
		s.accessOperations(),
		s.podIdentityOperations(),
		s.identityProviderOperations(),
		s.tagOperations(),
		s.absentOperations(),
	)
}

// Objects lists clusters and everything in them.
func (s *Service) Objects() []service.Object {
	var out []service.Object
	for cl := range s.all() {
		region, name := cl.ID.Region, cl.ID.Name
		out = append(out, service.Object{Kind: "cluster", Region: region, ID: name, Name: name})
		for _, ng := range slices.Sorted(maps.Keys(cl.NodeGroups)) {
			out = append(out, service.Object{Kind: "nodegroup", Region: region, ID: name + "/" + ng, Name: ng})
		}
		for _, addon := range slices.Sorted(maps.Keys(cl.Addons)) {
			out = append(out, service.Object{Kind: "addon", Region: region, ID: name + "/" + addon, Name: addon})
		}
		for _, principal := range slices.Sorted(maps.Keys(cl.AccessEntries)) {
			out = append(out, service.Object{Kind: "access-entry", Region: region, ID: name + "/" + principal, Name: principal})
		}
		for _, id := range slices.Sorted(maps.Keys(cl.PodIdentities)) {
			out = append(out, service.Object{Kind: "podidentityassociation", Region: region, ID: name + "/" + id, Name: id})
		}
		if p := cl.IdentityProvider; p != nil {
			config := *p.View.IdentityProviderConfigName
			out = append(out, service.Object{Kind: "identityproviderconfig", Region: region, ID: name + "/" + config, Name: config})
		}
	}
	return out
}
