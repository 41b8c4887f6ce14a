package sweep

import (
	"slices"

	"github.com/krops-go/krops/internal/aws/inventory"
)

// need says that items of a kind go before others. If exact, only those that
// name the other among what they use; otherwise all of the same owner or VPC.
type need struct {
	kind  inventory.Kind
	exact bool
}

func all(kinds ...inventory.Kind) []need {
	needs := make([]need, len(kinds))
	for n, kind := range kinds {
		needs[n] = need{kind: kind}
	}
	return needs
}

func users(kinds ...inventory.Kind) []need {
	needs := all(kinds...)
	for n := range needs {
		needs[n].exact = true
	}
	return needs
}

// orderEntry is a line of the table below.
type orderEntry struct {
	action Action
	kind   inventory.Kind
	after  []need
}

// order lists every action in an order that satisfies AWS's dependency rules,
// and for each what has to be gone before it.
//
// Most of it is what AWS enforces. The rest has these reasons: gateways and
// endpoints outlive the nodes, because a node that lost its way to the API
// server cannot confirm the evictions that a node group deletion waits for;
// load balancers outlive the cluster, because controllers in it would make
// them again; roles outlive what assumes them.
func order() []orderEntry {
	const (
		nodeGroup  = inventory.NodeGroup
		cluster    = inventory.Cluster
		asg        = inventory.AutoScalingGroup
		instance   = inventory.Instance
		classicLB  = inventory.ClassicLoadBalancer
		lb         = inventory.LoadBalancer
		nat        = inventory.NATGateway
		eip        = inventory.ElasticIP
		endpoint   = inventory.VPCEndpoint
		eni        = inventory.NetworkInterface
		igw        = inventory.InternetGateway
		routeTable = inventory.RouteTable
		group      = inventory.SecurityGroup
		subnet     = inventory.Subnet
	)
	return []orderEntry{
		{Delete, nodeGroup, nil},
		{Delete, asg, all(nodeGroup)},
		{Delete, instance, all(nodeGroup, asg)},
		{Delete, cluster, all(nodeGroup)},
		{Delete, inventory.Addon, all(cluster)},
		{Delete, inventory.Role, all(nodeGroup, asg, instance, cluster)},
		{Delete, inventory.OIDCProvider, all(cluster)},
		{Delete, classicLB, all(nodeGroup, cluster)},
		{Delete, lb, all(nodeGroup, cluster)},
		{Delete, inventory.TargetGroup, all(cluster, lb)},
		{Delete, endpoint, all(nodeGroup, cluster)},
		{Delete, nat, all(nodeGroup, instance)},
		{Delete, eni, all(nodeGroup, instance, cluster, classicLB, lb, endpoint, nat)},
		{Delete, eip, slices.Concat(all(instance), users(nat, lb))},
		{Delete, igw, all(instance, classicLB, lb, nat, eni, eip)},
		{Delete, routeTable, all(nodeGroup, cluster, endpoint, nat)},
		{Revoke, group, all(nodeGroup, instance, cluster, classicLB, lb, endpoint)},
		{Delete, group, users(classicLB, lb, endpoint, eni)},
		{Delete, subnet, slices.Concat(all(nodeGroup, asg, instance), users(cluster, classicLB, lb, endpoint, nat, eni))},
		{Delete, inventory.VPC, all(instance, classicLB, lb, endpoint, nat, eni, igw, routeTable, group, subnet)},
	}
}

// rules are the table above, ready for look-ups.
type rules struct {
	rank  map[stepKind]int
	after map[stepKind][]need
}

type stepKind struct {
	action Action
	kind   inventory.Kind
}

func newRules() rules {
	r := rules{rank: map[stepKind]int{}, after: map[stepKind][]need{}}
	for n, e := range order() {
		k := stepKind{e.action, e.kind}
		r.rank[k], r.after[k] = n, e.after
	}
	return r
}

func kindOf(s Step) stepKind { return stepKind{s.Action, s.Item.Kind} }

// mustFollow reports that later cannot be tried before earlier has succeeded.
func (r rules) mustFollow(later, earlier Step) bool {
	if !related(later.Item, earlier.Item) {
		return false
	}
	if earlier.Action == Revoke {
		return later.Action == Delete && later.Item.Kind == inventory.SecurityGroup
	}
	for _, n := range r.after[kindOf(later)] {
		if n.kind == earlier.Item.Kind && (!n.exact || slices.Contains(earlier.Item.Uses, later.Item.ID)) {
			return true
		}
	}
	return false
}

// related reports that two items are near enough for one to hold the other:
// in one region (IAM is in all), and of one owner or in one VPC.
func related(a, b inventory.Item) bool {
	if a.Region != b.Region && a.Region != "" && b.Region != "" {
		return false
	}
	return a.Owner == b.Owner || (a.VPC != "" && a.VPC == b.VPC)
}

// restsOn lists the kinds that a step needs gone, directly or through others.
func (r rules) restsOn(k stepKind) map[inventory.Kind]bool {
	kinds := map[inventory.Kind]bool{}
	var add func(stepKind)
	add = func(k stepKind) {
		for _, n := range r.after[k] {
			if !kinds[n.kind] {
				kinds[n.kind] = true
				add(stepKind{Delete, n.kind})
			}
		}
	}
	add(k)
	return kinds
}
