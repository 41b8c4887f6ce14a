package sweep_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/krops-go/krops/internal/aws/inventory"
)

// estateBuilder makes a cluster with its network as the provider does, with
// the provider's names and tags.
type estateBuilder struct {
	*simulated
	name inventory.ClusterName
	ec2  *ec2.Client
	eks  *eks.Client
	iam  *iam.Client
}

func (s *simulated) builder(name inventory.ClusterName) *estateBuilder {
	cfg := s.in(name.Region)
	return &estateBuilder{simulated: s, name: name, ec2: ec2.NewFromConfig(cfg), eks: eks.NewFromConfig(cfg), iam: iam.NewFromConfig(cfg)}
}

// must sends one call with a client's method and ends the test if it fails.
func must[In, Out, Opt any](s *simulated, call func(context.Context, *In, ...func(*Opt)) (*Out, error), in *In) *Out {
	s.t.Helper()
	out, err := call(s.t.Context(), in)
	if err != nil {
		s.t.Fatal(err)
	}
	return out
}

func (b *estateBuilder) ownerTag() map[string]string {
	return map[string]string{"sigs.k8s.io/cluster-api-provider-aws/cluster/" + b.name.CAPI: "owned"}
}

func (b *estateBuilder) cloudTag(cluster string) map[string]string {
	return map[string]string{"kubernetes.io/cluster/" + cluster: "owned"}
}

func (b *estateBuilder) tagged(kind types.ResourceType, name string) []types.TagSpecification {
	spec := types.TagSpecification{ResourceType: kind, Tags: []types.Tag{{Key: aws.String("Name"), Value: aws.String(b.name.CAPI + name)}}}
	for key, value := range b.ownerTag() {
		spec.Tags = append(spec.Tags, types.Tag{Key: aws.String(key), Value: aws.String(value)})
	}
	return []types.TagSpecification{spec}
}

// build makes the whole: a network over two zones with gateways, addresses,
// route tables, two security groups that refer to each other and a left-over
// interface; a cluster with a node group and an add-on; roles and an OIDC
// provider; and addresses that nothing uses.
func (b *estateBuilder) build() {
	b.t.Helper()
	vpc := must(b.simulated, b.ec2.CreateVpc, &ec2.CreateVpcInput{
		CidrBlock: aws.String("10.0.0.0/16"), TagSpecifications: b.tagged(types.ResourceTypeVpc, "-vpc"),
	}).Vpc.VpcId
	igw := must(b.simulated, b.ec2.CreateInternetGateway, &ec2.CreateInternetGatewayInput{
		TagSpecifications: b.tagged(types.ResourceTypeInternetGateway, "-igw"),
	}).InternetGateway.InternetGatewayId
	must(b.simulated, b.ec2.AttachInternetGateway, &ec2.AttachInternetGatewayInput{InternetGatewayId: igw, VpcId: vpc})

	var private []string
	for n, zone := range []string{"a", "b"} {
		public := b.subnet(vpc, zone, fmt.Sprintf("10.0.%d.0/24", n))
		nat := b.nat(public)
		b.routeTable(vpc, public, igw, nil)
		inner := b.subnet(vpc, zone, fmt.Sprintf("10.0.%d.0/24", 100+n))
		b.routeTable(vpc, inner, nil, nat)
		private = append(private, aws.ToString(inner))
	}
	groupA, groupB := b.group(vpc, "-node-eks-additional"), b.group(vpc, "-lb")
	b.allow(groupA, groupB)
	b.allow(groupB, groupA)
	must(b.simulated, b.ec2.CreateNetworkInterface, &ec2.CreateNetworkInterfaceInput{
		SubnetId: aws.String(private[0]), Groups: []string{aws.ToString(groupA)},
	})
	for range 4 {
		b.address()
	}
	b.cluster(private, groupA)
}

func (b *estateBuilder) subnet(vpc *string, zone, cidr string) *string {
	b.t.Helper()
	return must(b.simulated, b.ec2.CreateSubnet, &ec2.CreateSubnetInput{
		VpcId: vpc, AvailabilityZone: aws.String(b.name.Region + zone), CidrBlock: aws.String(cidr),
		TagSpecifications: b.tagged(types.ResourceTypeSubnet, "-subnet-"+zone),
	}).Subnet.SubnetId
}

func (b *estateBuilder) address() *string {
	b.t.Helper()
	return must(b.simulated, b.ec2.AllocateAddress, &ec2.AllocateAddressInput{
		Domain: types.DomainTypeVpc, TagSpecifications: b.tagged(types.ResourceTypeElasticIp, "-eip-common"),
	}).AllocationId
}

func (b *estateBuilder) nat(subnet *string) *string {
	b.t.Helper()
	nat := must(b.simulated, b.ec2.CreateNatGateway, &ec2.CreateNatGatewayInput{
		SubnetId: subnet, AllocationId: b.address(), TagSpecifications: b.tagged(types.ResourceTypeNatgateway, "-nat"),
	}).NatGateway.NatGatewayId
	err := ec2.NewNatGatewayAvailableWaiter(b.ec2, func(o *ec2.NatGatewayAvailableWaiterOptions) { o.MinDelay = 10 * time.Millisecond }).
		Wait(b.t.Context(), &ec2.DescribeNatGatewaysInput{NatGatewayIds: []string{*nat}}, time.Minute)
	if err != nil {
		b.t.Fatal(err)
	}
	return nat
}

func (b *estateBuilder) routeTable(vpc, subnet, igw, nat *string) {
	b.t.Helper()
	table := must(b.simulated, b.ec2.CreateRouteTable, &ec2.CreateRouteTableInput{
		VpcId: vpc, TagSpecifications: b.tagged(types.ResourceTypeRouteTable, "-rt"),
	}).RouteTable.RouteTableId
	must(b.simulated, b.ec2.CreateRoute, &ec2.CreateRouteInput{
		RouteTableId: table, DestinationCidrBlock: aws.String("0.0.0.0/0"), GatewayId: igw, NatGatewayId: nat,
	})
	must(b.simulated, b.ec2.AssociateRouteTable, &ec2.AssociateRouteTableInput{RouteTableId: table, SubnetId: subnet})
}

func (b *estateBuilder) group(vpc *string, name string) *string {
	b.t.Helper()
	return must(b.simulated, b.ec2.CreateSecurityGroup, &ec2.CreateSecurityGroupInput{
		VpcId: vpc, GroupName: aws.String(b.name.CAPI + name), Description: aws.String("test"),
		TagSpecifications: b.tagged(types.ResourceTypeSecurityGroup, name),
	}).GroupId
}

func (b *estateBuilder) allow(to, from *string) {
	b.t.Helper()
	rules := []types.IpPermission{{
		IpProtocol: aws.String("tcp"), FromPort: aws.Int32(443), ToPort: aws.Int32(443),
		UserIdGroupPairs: []types.UserIdGroupPair{{GroupId: from}},
		IpRanges:         []types.IpRange{{CidrIp: aws.String("10.0.0.0/8")}},
	}}
	must(b.simulated, b.ec2.AuthorizeSecurityGroupIngress, &ec2.AuthorizeSecurityGroupIngressInput{GroupId: to, IpPermissions: rules})
	must(b.simulated, b.ec2.AuthorizeSecurityGroupEgress, &ec2.AuthorizeSecurityGroupEgressInput{GroupId: from, IpPermissions: rules})
}

func (b *estateBuilder) cluster(subnets []string, group *string) {
	b.t.Helper()
	ctx := b.t.Context()
	clusterRole := b.role(b.name.CAPI+"-iam-service-role", "eks.amazonaws.com", b.cloudTag(b.name.CAPI))
	nodeRole := b.role("capa_"+strings.ToLower(b.name.CAPI)+"0hash", "ec2.amazonaws.com", b.cloudTag(b.name.EKS))
	tags := b.cloudTag(b.name.EKS)
	maps.Copy(tags, map[string]string{"sigs.k8s.io/cluster-api-provider-aws/cluster/" + b.name.EKS: "owned"})
	must(b.simulated, b.eks.CreateCluster, &eks.CreateClusterInput{
		Name: aws.String(b.name.EKS), RoleArn: clusterRole, Tags: tags,
		ResourcesVpcConfig: &ekstypes.VpcConfigRequest{SubnetIds: subnets, SecurityGroupIds: []string{*group}},
	})
	if err := eks.NewClusterActiveWaiter(b.eks).Wait(ctx, &eks.DescribeClusterInput{Name: aws.String(b.name.EKS)}, time.Minute); err != nil {
		b.t.Fatal(err)
	}
	must(b.simulated, b.eks.CreateNodegroup, &eks.CreateNodegroupInput{
		ClusterName: aws.String(b.name.EKS), NodegroupName: aws.String("pool"), NodeRole: nodeRole, Subnets: subnets,
		ScalingConfig: &ekstypes.NodegroupScalingConfig{MinSize: aws.Int32(1), MaxSize: aws.Int32(3), DesiredSize: aws.Int32(2)},
		Tags:          b.cloudTag(b.name.EKS),
	})
	must(b.simulated, b.eks.CreateAddon, &eks.CreateAddonInput{
		ClusterName: aws.String(b.name.EKS), AddonName: aws.String("coredns"), Tags: b.cloudTag(b.name.CAPI),
	})
	err := eks.NewNodegroupActiveWaiter(b.eks).Wait(ctx, &eks.DescribeNodegroupInput{
		ClusterName: aws.String(b.name.EKS), NodegroupName: aws.String("pool"),
	}, time.Minute)
	if err != nil {
		b.t.Fatal(err)
	}
	must(b.simulated, b.iam.CreateOpenIDConnectProvider, &iam.CreateOpenIDConnectProviderInput{
		Url: aws.String("https://oidc.example/" + b.name.CAPI), ClientIDList: []string{"sts.amazonaws.com"},
		ThumbprintList: []string{strings.Repeat("ab", 20)}, Tags: iamTags(b.cloudTag(b.name.EKS)),
	})
}

// role makes a role with a managed and an inline policy.
func (b *estateBuilder) role(name, trusted string, tags map[string]string) *string {
	b.t.Helper()
	trust := `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":["` + trusted + `"]},"Action":["sts:AssumeRole"]}]}`
	arn := must(b.simulated, b.iam.CreateRole, &iam.CreateRoleInput{
		RoleName: aws.String(name), AssumeRolePolicyDocument: aws.String(trust), Tags: iamTags(tags),
	}).Role.Arn
	must(b.simulated, b.iam.AttachRolePolicy, &iam.AttachRolePolicyInput{
		RoleName: aws.String(name), PolicyArn: aws.String("arn:aws:iam::aws:policy/AmazonEKSClusterPolicy"),
	})
	must(b.simulated, b.iam.PutRolePolicy, &iam.PutRolePolicyInput{
		RoleName: aws.String(name), PolicyName: aws.String("inline"),
		PolicyDocument: aws.String(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["s3:GetObject"],"Resource":["*"]}]}`),
	})
	return arn
}

func iamTags(tags map[string]string) []iamtypes.Tag {
	var out []iamtypes.Tag
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		out = append(out, iamtypes.Tag{Key: aws.String(key), Value: aws.String(tags[key])})
	}
	return out
}

// manyRoles makes roles that belong to nobody, so that owned ones are not on
// the first page.
func (b *estateBuilder) manyRoles(n int) {
	b.t.Helper()
	trust := `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":["ec2.amazonaws.com"]},"Action":["sts:AssumeRole"]}]}`
	for i := range n {
		must(b.simulated, b.iam.CreateRole, &iam.CreateRoleInput{
			RoleName: aws.String(fmt.Sprintf("application-%03d", i)), AssumeRolePolicyDocument: aws.String(trust),
		})
	}
}
