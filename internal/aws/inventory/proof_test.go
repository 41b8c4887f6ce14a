package inventory

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const region = "eu-north-1"

var estate = Scope{Clusters: []ClusterName{
	{CAPI: "wl-a", EKS: "default_wl-a", Region: region},
	{CAPI: "wl-b", EKS: "default_wl-b", Region: "eu-west-1"},
}}

func tags(pairs ...string) map[string]string {
	m := map[string]string{}
	for pair := range slices.Chunk(pairs, 2) {
		m[pair[0]] = pair[1]
	}
	return m
}

func TestAttributeByTag(t *testing.T) {
	const ours = "wl-a"
	for name, c := range map[string]struct {
		item Item
		want string // owner, "" for nobody
	}{
		"provider tag with the Cluster API name": {
			Item{Kind: Subnet, ID: "x", Tags: tags("sigs.k8s.io/cluster-api-provider-aws/cluster/wl-a", "owned")}, ours},
		"provider tag with the EKS name": {
			Item{Kind: Cluster, ID: "x", Tags: tags("sigs.k8s.io/cluster-api-provider-aws/cluster/default_wl-a", "owned")}, ours},
		"cloud tag with the Cluster API name": {
			Item{Kind: Instance, ID: "x", Tags: tags("kubernetes.io/cluster/wl-a", "owned")}, ours},
		"cloud tag with the EKS name": {
			Item{Kind: LoadBalancer, ID: "x", Tags: tags("kubernetes.io/cluster/default_wl-a", "owned")}, ours},
		"tag of EKS itself": {
			Item{Kind: SecurityGroup, ID: "x", Tags: tags("aws:eks:cluster-name", "default_wl-a")}, ours},
		"shared is not owned": {
			Item{Kind: Subnet, ID: "x", Tags: tags("kubernetes.io/cluster/default_wl-a", "shared")}, ""},
		"a longer name is another cluster": {
			Item{Kind: Subnet, ID: "x", Tags: tags("kubernetes.io/cluster/default_wl-a-2", "owned")}, ""},
		"the provider's tag for nobody in particular": {
			Item{Kind: Subnet, ID: "x", Tags: tags("sigs.k8s.io/cluster-api-provider-aws/role", "common")}, ""},
		"a cluster of the same name in another region": {
			Item{Kind: Subnet, ID: "x", Tags: tags("kubernetes.io/cluster/wl-b", "owned")}, ""},
		"an address without a VPC": {
			Item{Kind: ElasticIP, ID: "x", Tags: tags("sigs.k8s.io/cluster-api-provider-aws/cluster/wl-a", "owned")}, ours},
	} {
		t.Run(name, func(t *testing.T) {
			c.item.Region = region
			items, unproven := attribute([]Item{c.item}, estate)
			got := ""
			if len(items) == 1 {
				got = items[0].Owner
				if items[0].Reason == "" {
					t.Error("no reason is kept")
				}
			}
			if got != c.want || len(unproven) != 0 {
				t.Errorf("owner %q, unproven %v; want %q and none", got, unproven, c.want)
			}
		})
	}

	t.Run("finds a role with a hashed name in any region's cluster", func(t *testing.T) {
		items, _ := attribute([]Item{
			{Kind: Role, ID: "capa_1x", Tags: tags("kubernetes.io/cluster/default_wl-b", "owned")},
			{Kind: Role, ID: "admin"},
		}, estate)
		if len(items) != 1 || items[0].ID != "capa_1x" || items[0].Owner != "wl-b" {
			t.Errorf("got %v", items)
		}
	})
}

func TestAttributeInFurtherRegions(t *testing.T) {
	item := Item{Kind: Subnet, Region: "us-east-1", ID: "x", Tags: tags("kubernetes.io/cluster/default_wl-a", "owned")}
	if items, _ := attribute([]Item{item}, estate); len(items) != 0 {
		t.Errorf("found in a region that is not in the scope: %v", items)
	}
	wider := Scope{Clusters: estate.Clusters, Regions: []string{"us-east-1"}}
	if items, _ := attribute([]Item{item}, wider); len(items) != 1 || items[0].Owner != "wl-a" {
		t.Errorf("got %v, want the subnet of wl-a", items)
	}
	want := []string{"eu-north-1", "eu-west-1", "us-east-1"}
	if diff := cmp.Diff(want, wider.AllRegions()); diff != "" {
		t.Errorf("regions (-want +got):\n%s", diff)
	}
}

func TestAttributeByLink(t *testing.T) {
	vpc := Item{Kind: VPC, Region: region, ID: "vpc-ours", VPC: "vpc-ours", Tags: tags("sigs.k8s.io/cluster-api-provider-aws/cluster/wl-a", "owned")}
	theirs := Item{Kind: VPC, Region: region, ID: "vpc-theirs", VPC: "vpc-theirs"}
	cluster := Item{Kind: Cluster, Region: region, ID: "default_wl-a", Name: "default_wl-a", Tags: tags("kubernetes.io/cluster/default_wl-a", "owned")}
	for name, c := range map[string]struct {
		found []Item
		want  []string
	}{
		"what lives in an owned VPC": {
			[]Item{vpc, {Kind: NetworkInterface, ID: "eni-1", VPC: "vpc-ours"}, {Kind: SecurityGroup, ID: "sg-1", VPC: "vpc-ours"}},
			[]string{"eni-1", "sg-1", "vpc-ours"}},
		"not what lives in another": {
			[]Item{vpc, theirs, {Kind: NetworkInterface, ID: "eni-1", VPC: "vpc-theirs"}},
			[]string{"vpc-ours"}},
		"not what lives in none": {
			[]Item{vpc, {Kind: InternetGateway, ID: "igw-1"}},
			[]string{"vpc-ours"}},
		"node groups and add-ons of an owned cluster": {
			[]Item{cluster, {Kind: NodeGroup, ID: "pool", Parent: "default_wl-a"}, {Kind: Addon, ID: "coredns", Parent: "default_wl-a"}},
			[]string{"coredns", "default_wl-a", "pool"}},
		"the autoscaling group an owned node group names": {
			[]Item{cluster, {Kind: NodeGroup, ID: "pool", Parent: "default_wl-a", Uses: []string{"eks-pool-1"}},
				{Kind: AutoScalingGroup, ID: "eks-pool-1"}, {Kind: AutoScalingGroup, ID: "eks-pool-2"}},
			[]string{"eks-pool-1", "default_wl-a", "pool"}},
		"an address is not ours because our gateway uses it": {
			[]Item{vpc, {Kind: NATGateway, ID: "nat-1", VPC: "vpc-ours", Uses: []string{"eipalloc-1"}}, {Kind: ElasticIP, ID: "eipalloc-1"}},
			[]string{"nat-1", "vpc-ours"}},
	} {
		t.Run(name, func(t *testing.T) {
			for n := range c.found {
				c.found[n].Region = region
			}
			items, unproven := attribute(c.found, estate)
			var got []string
			for _, item := range items {
				got = append(got, item.ID)
			}
			slices.Sort(got)
			slices.Sort(c.want)
			if diff := cmp.Diff(c.want, got); diff != "" || len(unproven) != 0 {
				t.Errorf("owned (-want +got):\n%sunproven: %v", diff, unproven)
			}
		})
	}
}

func TestAttributeWithoutProof(t *testing.T) {
	vpc := Item{Kind: VPC, Region: region, ID: "vpc-ours", VPC: "vpc-ours", Tags: tags("sigs.k8s.io/cluster-api-provider-aws/cluster/wl-a", "owned")}
	for name, c := range map[string]struct {
		found    []Item
		unproven []string
	}{
		"a role with the provider's name but no tag": {
			[]Item{{Kind: Role, ID: "wl-a-iam-service-role", Name: "wl-a-iam-service-role"}}, []string{"wl-a-iam-service-role"}},
		"a cluster with our name but no tag, and what EKS tagged for it": {
			[]Item{
				{Kind: Cluster, Region: region, ID: "default_wl-a", Name: "default_wl-a"},
				{Kind: Instance, Region: region, ID: "i-1", Tags: tags("kubernetes.io/cluster/default_wl-a", "owned")},
				{Kind: SecurityGroup, Region: region, ID: "sg-1", Tags: tags("aws:eks:cluster-name", "default_wl-a")},
			}, []string{"default_wl-a"}},
		"a neighbour's load balancer in our VPC": {
			[]Item{{Kind: LoadBalancer, Region: region, ID: "lb", VPC: "vpc-ours", Tags: tags("kubernetes.io/cluster/training", "owned")}}, []string{"lb"}},
		"nothing of a neighbour elsewhere": {
			[]Item{{Kind: LoadBalancer, Region: region, ID: "lb", VPC: "vpc-9", Tags: tags("kubernetes.io/cluster/training", "owned")}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			items, unproven := attribute(append(c.found, vpc), estate)
			var got []string
			for _, item := range unproven {
				got = append(got, item.ID)
				if item.Reason == "" {
					t.Errorf("%s has no reason", item.Ref())
				}
			}
			if diff := cmp.Diff(c.unproven, got); diff != "" {
				t.Errorf("unproven (-want +got):\n%s", diff)
			}
			if len(items) != 1 || items[0].ID != vpc.ID {
				t.Errorf("owned: %v, want the VPC only", items)
			}
		})
	}
}

func TestScopeValidate(t *testing.T) {
	if err := estate.Validate(); err != nil {
		t.Errorf("a complete scope: %v", err)
	}
	for name, scope := range map[string]Scope{
		"no cluster":        {},
		"a nameless region": {Clusters: estate.Clusters, Regions: []string{""}},
		"no region":         {Clusters: []ClusterName{{CAPI: "a", EKS: "default_a"}}},
		"no EKS name":       {Clusters: []ClusterName{{CAPI: "a", Region: region}}},
		"no CAPI name":      {Clusters: []ClusterName{{EKS: "default_a", Region: region}}},
	} {
		if scope.Validate() == nil {
			t.Errorf("%s: got no error", name)
		}
	}
}
