package e2e

import (
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/google/go-cmp/cmp"
)

const (
	clusterName = "eu-north-1-management"
	poolName    = "eu-north-1-management-arm"
	region      = "eu-north-1"
)

// The provider's tags, see the tag constants of its API package infra/v1beta2.
const (
	ownerTag = "sigs.k8s.io/cluster-api-provider-aws/cluster/" + clusterName
	roleTag  = "sigs.k8s.io/cluster-api-provider-aws/role"
	cloudTag = "kubernetes.io/cluster/" + clusterName
)

func (r *rehearsal) awsConfig() aws.Config {
	r.t.Helper()
	world := r.world()
	return aws.Config{
		Region:       region,
		BaseEndpoint: aws.String(fmt.Sprintf("http://127.0.0.1:%d", world.Port)),
		Credentials:  credentials.NewStaticCredentialsProvider(world.AccessKeyID, world.SecretAccessKey, ""),
	}
}

// assertAccount looks at the account through the SDK: what the provider made
// for the management cluster, and its tags.
func (r *rehearsal) assertAccount() {
	t, ctx := r.t, r.t.Context()
	t.Helper()
	cfg := r.awsConfig()
	eksAPI, ec2API := eks.NewFromConfig(cfg), ec2.NewFromConfig(cfg)

	cluster, err := eksAPI.DescribeCluster(ctx, &eks.DescribeClusterInput{Name: aws.String(clusterName)})
	if err != nil {
		t.Fatal(err)
	}
	if c := cluster.Cluster; c.Status != types.ClusterStatusActive || aws.ToString(c.Version) != "1.35" {
		t.Errorf("EKS cluster is %s in version %s, want ACTIVE in 1.35", c.Status, aws.ToString(c.Version))
	}
	wantTags(t, "EKS cluster", cluster.Cluster.Tags, map[string]string{
		"Name": clusterName, ownerTag: "owned", roleTag: "common", cloudTag: "owned",
	})
	addons, err := eksAPI.ListAddons(ctx, &eks.ListAddonsInput{ClusterName: aws.String(clusterName)})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"coredns", "kube-proxy", "vpc-cni"}, addons.Addons); diff != "" {
		t.Errorf("add-ons (-want +got):\n%s", diff)
	}
	group, err := eksAPI.DescribeNodegroup(ctx, &eks.DescribeNodegroupInput{ClusterName: aws.String(clusterName), NodegroupName: aws.String(poolName)})
	if err != nil {
		t.Fatal(err)
	}
	if g := group.Nodegroup; g.Status != types.NodegroupStatusActive || aws.ToInt32(g.ScalingConfig.DesiredSize) != 2 {
		t.Errorf("node group is %s with %d nodes, want ACTIVE with 2", g.Status, aws.ToInt32(g.ScalingConfig.DesiredSize))
	}
	wantTags(t, "node group", group.Nodegroup.Tags, map[string]string{cloudTag: "owned"})

	vpcID := assertVPC(t, ec2API)
	inVPC := []ec2types.Filter{{Name: aws.String("vpc-id"), Values: []string{vpcID}}}
	assertSubnets(t, ec2API, inVPC)
	assertNATGateways(t, ec2API, inVPC)
	instances, err := ec2API.DescribeInstances(ctx, &ec2.DescribeInstancesInput{Filters: inVPC})
	if err != nil {
		t.Fatal(err)
	}
	running := map[ec2types.InstanceType]int{}
	for _, reservation := range instances.Reservations {
		for _, i := range reservation.Instances {
			if i.State.Name == ec2types.InstanceStateNameRunning {
				running[i.InstanceType]++
			}
		}
	}
	if diff := cmp.Diff(map[ec2types.InstanceType]int{ec2types.InstanceTypeT4gMedium: 2}, running); diff != "" {
		t.Errorf("running instances (-want +got):\n%s", diff)
	}
}

func assertVPC(t *testing.T, api *ec2.Client) string {
	t.Helper()
	vpcs, err := api.DescribeVpcs(t.Context(), &ec2.DescribeVpcsInput{Filters: []ec2types.Filter{
		{Name: aws.String("tag:" + ownerTag), Values: []string{"owned"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if len(vpcs.Vpcs) != 1 {
		t.Fatalf("%d VPCs of the cluster, want 1", len(vpcs.Vpcs))
	}
	wantTags(t, "VPC", tagsOf(vpcs.Vpcs[0].Tags), map[string]string{"Name": clusterName + "-vpc", ownerTag: "owned", roleTag: "common"})
	return aws.ToString(vpcs.Vpcs[0].VpcId)
}

// assertSubnets wants a public and a private subnet in each of three zones.
func assertSubnets(t *testing.T, api *ec2.Client, inVPC []ec2types.Filter) {
	t.Helper()
	subnets, err := api.DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{Filters: inVPC})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]map[string]int{}
	for _, s := range subnets.Subnets {
		tags, zone := tagsOf(s.Tags), aws.ToString(s.AvailabilityZone)
		role := tags[roleTag]
		balancers := map[string]string{"public": "kubernetes.io/role/elb", "private": "kubernetes.io/role/internal-elb"}[role]
		wantTags(t, "subnet "+aws.ToString(s.SubnetId), tags, map[string]string{
			"Name": fmt.Sprintf("%s-subnet-%s-%s", clusterName, role, zone), ownerTag: "owned", roleTag: role, cloudTag: "owned", balancers: "1",
		})
		if got[zone] == nil {
			got[zone] = map[string]int{}
		}
		got[zone][role]++
	}
	pair := map[string]int{"public": 1, "private": 1}
	if diff := cmp.Diff(map[string]map[string]int{region + "a": pair, region + "b": pair, region + "c": pair}, got); diff != "" {
		t.Errorf("subnets by zone (-want +got):\n%s", diff)
	}
}

func assertNATGateways(t *testing.T, api *ec2.Client, inVPC []ec2types.Filter) {
	t.Helper()
	gateways, err := api.DescribeNatGateways(t.Context(), &ec2.DescribeNatGatewaysInput{Filter: inVPC})
	if err != nil {
		t.Fatal(err)
	}
	if len(gateways.NatGateways) != 3 {
		t.Errorf("%d NAT gateways, want 3", len(gateways.NatGateways))
	}
	for _, g := range gateways.NatGateways {
		if g.State != ec2types.NatGatewayStateAvailable {
			t.Errorf("NAT gateway %s is %s", aws.ToString(g.NatGatewayId), g.State)
		}
		wantTags(t, "NAT gateway", tagsOf(g.Tags), map[string]string{"Name": clusterName + "-nat", ownerTag: "owned", roleTag: "common"})
	}
}

func tagsOf(list []ec2types.Tag) map[string]string {
	tags := map[string]string{}
	for _, t := range list {
		tags[aws.ToString(t.Key)] = aws.ToString(t.Value)
	}
	return tags
}

func wantTags(t *testing.T, what string, got, want map[string]string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tags of %s (-want +got):\n%s", what, diff)
	}
}
