package sweep_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/krops-go/krops/internal/aws/inventory"
	"github.com/krops-go/krops/internal/aws/sweep"
)

const region = "eu-north-1"

// owned builds an item of cluster wl-a in vpc-1.
func owned(kind inventory.Kind, id string, uses ...string) inventory.Item {
	return inventory.Item{
		Kind: kind, Region: region, ID: id, VPC: "vpc-1", Uses: uses,
		Owner: "wl-a", Reason: "tag kubernetes.io/cluster/wl-a=owned",
	}
}

func role(id string) inventory.Item {
	item := owned(inventory.Role, id)
	item.Region, item.VPC = "", ""
	return item
}

// estate has one item of every kind, two where order between them matters.
func estate() []inventory.Item {
	nodeGroup := owned(inventory.NodeGroup, "pool", "asg")
	nodeGroup.Parent, nodeGroup.VPC = "default_wl-a", ""
	addon := owned(inventory.Addon, "coredns")
	addon.Parent, addon.VPC = "default_wl-a", ""
	asg := owned(inventory.AutoScalingGroup, "asg", "i-1")
	asg.VPC = ""
	eip := owned(inventory.ElasticIP, "eip")
	eip.VPC = ""
	oidc := role("arn:oidc")
	oidc.Kind = inventory.OIDCProvider
	return []inventory.Item{
		owned(inventory.VPC, "vpc-1"),
		owned(inventory.Subnet, "subnet-1"),
		owned(inventory.SecurityGroup, "sg-a"),
		owned(inventory.SecurityGroup, "sg-b"),
		owned(inventory.RouteTable, "rtb"),
		owned(inventory.InternetGateway, "igw"),
		owned(inventory.NetworkInterface, "eni", "subnet-1", "sg-a"),
		owned(inventory.VPCEndpoint, "vpce", "subnet-1"),
		eip,
		owned(inventory.NATGateway, "nat", "subnet-1", "eip"),
		owned(inventory.TargetGroup, "tg"),
		owned(inventory.LoadBalancer, "lb", "subnet-1", "sg-a"),
		owned(inventory.ClassicLoadBalancer, "clb", "subnet-1", "sg-a"),
		owned(inventory.Instance, "i-1"),
		asg, oidc, role("role"), addon,
		owned(inventory.Cluster, "default_wl-a", "subnet-1"),
		nodeGroup,
	}
}

func plan(items []inventory.Item, more ...func(*inventory.Inventory)) *sweep.Plan {
	inv := inventory.Inventory{
		Scope: inventory.Scope{Clusters: []inventory.ClusterName{{CAPI: "wl-a", EKS: "default_wl-a", Region: region}}},
		Items: items,
	}
	for _, m := range more {
		m(&inv)
	}
	return sweep.NewPlan(inv)
}

// short names a step in tests: "delete nat", "revoke sg-a".
func short(s sweep.Step) string {
	return strings.Fields(string(s.Action))[0] + " " + s.Item.ID
}

// ancestors lists everything that has to succeed before the named step.
func ancestors(t *testing.T, p *sweep.Plan, name string) []string {
	t.Helper()
	i := slices.IndexFunc(p.Steps, func(s sweep.Step) bool { return short(s) == name })
	if i < 0 {
		t.Fatalf("the plan has no step %q:\n%s", name, p)
	}
	var names []string
	var walk func(int)
	walk = func(i int) {
		for _, j := range p.Steps[i].After {
			if n := short(p.Steps[j]); !slices.Contains(names, n) {
				names = append(names, n)
				walk(j)
			}
		}
	}
	walk(i)
	return names
}

func TestNewPlanOrder(t *testing.T) {
	p := plan(estate())
	for name, before := range map[string][]string{
		"delete default_wl-a": {"delete pool"},
		"delete asg":          {"delete pool"},
		"delete i-1":          {"delete pool", "delete asg"},
		"delete coredns":      {"delete default_wl-a"},
		"delete role":         {"delete pool", "delete default_wl-a", "delete i-1"},
		"delete arn:oidc":     {"delete default_wl-a"},
		"delete lb":           {"delete default_wl-a"},
		"delete clb":          {"delete default_wl-a"},
		"delete tg":           {"delete lb"},
		"delete nat":          {"delete pool"},
		"delete eip":          {"delete nat"},
		"delete igw":          {"delete nat", "delete eip", "delete lb", "delete clb", "delete eni"},
		"delete eni":          {"delete nat", "delete lb", "delete default_wl-a", "delete vpce"},
		"delete rtb":          {"delete vpce", "delete nat"},
		"delete sg-a":         {"revoke sg-a", "revoke sg-b", "delete eni", "delete lb"},
		"delete sg-b":         {"revoke sg-a", "revoke sg-b"},
		"delete subnet-1":     {"delete nat", "delete eni", "delete lb", "delete vpce", "delete default_wl-a"},
		"delete vpc-1":        {"delete subnet-1", "delete sg-a", "delete sg-b", "delete rtb", "delete igw", "delete vpce", "delete eni"},
	} {
		got := ancestors(t, p, name)
		for _, b := range before {
			if !slices.Contains(got, b) {
				t.Errorf("%s does not wait for %s", name, b)
			}
		}
	}
	if got := ancestors(t, p, "delete pool"); len(got) != 0 {
		t.Errorf("node groups wait for %v, want nothing", got)
	}
	for i, step := range p.Steps {
		for _, j := range step.After {
			if j >= i {
				t.Errorf("step %d waits for the later step %d", i, j)
			}
		}
		if len(step.Blocked) > 0 {
			t.Errorf("%s is blocked: %v", step, step.Blocked)
		}
	}
}

func TestNewPlanLeavesIndependentThingsIndependent(t *testing.T) {
	other := owned(inventory.Cluster, "default_wl-b")
	other.Owner, other.VPC = "wl-b", "vpc-2"
	otherGroup := owned(inventory.SecurityGroup, "sg-c")
	otherGroup.Owner, otherGroup.VPC = "wl-b", "vpc-2"
	p := plan(append(estate(), other, otherGroup, owned(inventory.Subnet, "subnet-2")))

	for name, not := range map[string]string{
		"delete default_wl-b": "delete pool",     // another cluster's
		"delete sg-c":         "revoke sg-a",     // in another VPC
		"delete subnet-2":     "delete eni",      // an interface in another subnet
		"delete sg-b":         "delete eni",      // an interface without that group
		"delete subnet-1":     "delete subnet-2", // its neighbour
	} {
		if slices.Contains(ancestors(t, p, name), not) {
			t.Errorf("%s waits for %s", name, not)
		}
	}
}

func TestNewPlanBlocks(t *testing.T) {
	blocked := func(p *sweep.Plan) []string {
		var names []string
		for _, step := range p.Steps {
			if len(step.Blocked) > 0 {
				names = append(names, short(step))
			}
		}
		slices.Sort(names)
		return names
	}
	unknown := func(service, where string, kinds ...inventory.Kind) func(*inventory.Inventory) {
		return func(inv *inventory.Inventory) {
			inv.Unknown = append(inv.Unknown, &inventory.ListingError{
				Service: service, Region: where, Listing: "things", Kinds: kinds, Err: errors.New("denied"),
			})
		}
	}
	network := []inventory.Item{
		owned(inventory.VPC, "vpc-1"), owned(inventory.Subnet, "subnet-1"), owned(inventory.NATGateway, "nat"),
		owned(inventory.InternetGateway, "igw"), owned(inventory.SecurityGroup, "sg-a"), role("role"),
		owned(inventory.Cluster, "default_wl-a"),
	}
	for name, c := range map[string]struct {
		p    *sweep.Plan
		want []string
	}{
		"everything that rests on unseen node groups": {
			plan(network, unknown("eks", region, inventory.NodeGroup)),
			[]string{"delete default_wl-a", "delete igw", "delete nat", "delete role", "delete sg-a", "delete subnet-1", "delete vpc-1", "revoke sg-a"}},
		"only the VPC for unseen route tables": {
			plan(network, unknown("ec2", region, inventory.RouteTable)), []string{"delete vpc-1"}},
		"nothing for unseen route tables of another region": {
			plan(network, unknown("ec2", "eu-west-1", inventory.RouteTable)), nil},
		"nothing for unseen roles": {
			plan(network, unknown("iam", "", inventory.Role)), nil},
		"the network that somebody else lives in, but not the cluster": {
			plan(network, func(inv *inventory.Inventory) {
				guest := owned(inventory.LoadBalancer, "guest")
				guest.Reason = "tagged kubernetes.io/cluster/training=owned"
				inv.Unproven = append(inv.Unproven, guest)
			}),
			[]string{"delete igw", "delete nat", "delete sg-a", "delete subnet-1", "delete vpc-1", "revoke sg-a"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, blocked(c.p)); diff != "" {
				t.Errorf("blocked (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPlanText(t *testing.T) {
	named := owned(inventory.VPC, "vpc-1")
	named.Name = "wl-a-vpc"
	p := plan([]inventory.Item{named, owned(inventory.SecurityGroup, "sg-a"), owned(inventory.SecurityGroup, "sg-b"), role("capa_1")},
		func(inv *inventory.Inventory) {
			inv.Unproven = []inventory.Item{{Kind: inventory.Role, ID: "wl-a-iam-service-role", Reason: "no ownership tag"}}
			inv.Unknown = []*inventory.ListingError{{Service: "ec2", Region: region, Listing: "subnets", Kinds: []inventory.Kind{inventory.Subnet}, Err: errors.New("denied")}}
		})
	want := `4 items: 1 iam-role, 2 security-group, 1 vpc
  1. delete iam-role capa_1 [wl-a: tag kubernetes.io/cluster/wl-a=owned]
  2. revoke rules of security-group sg-a in eu-north-1 [wl-a: tag kubernetes.io/cluster/wl-a=owned]
  3. revoke rules of security-group sg-b in eu-north-1 [wl-a: tag kubernetes.io/cluster/wl-a=owned]
  4. delete security-group sg-a in eu-north-1 [wl-a: tag kubernetes.io/cluster/wl-a=owned] after 2 3
  5. delete security-group sg-b in eu-north-1 [wl-a: tag kubernetes.io/cluster/wl-a=owned] after 2 3
  6. delete vpc vpc-1 in eu-north-1 "wl-a-vpc" [wl-a: tag kubernetes.io/cluster/wl-a=owned] after 4 5
     blocked: unknown: listing ec2 subnets in eu-north-1: denied
left alone, ownership unproven: iam-role wl-a-iam-service-role: no ownership tag
unknown: listing ec2 subnets in eu-north-1: denied
`
	if diff := cmp.Diff(want, p.String()); diff != "" {
		t.Errorf("plan text (-want +got):\n%s", diff)
	}
	if got := plan(nil).String(); got != "0 items\n" {
		t.Errorf("empty plan reads %q", got)
	}
}
