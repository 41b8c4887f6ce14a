package inventory

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	elbv2types "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/krops-go/krops/internal/aws/awserr"
)

var (
	denied = awserr.New("AccessDenied", "not authorized")
	absent = awserr.New("ResourceNotFoundException", "no cluster found")
)

// account is an AWS account whose listings are empty unless a field says
// otherwise. The calls that no test makes are left to panic.
type account struct {
	IAM
	EC2
	EKS
	AutoScaling
	ELB
	ELBV2

	mu         sync.Mutex
	roles      []iamtypes.Role
	vpcs       []ec2types.Vpc
	nats       []ec2types.NatGateway
	addresses  []ec2types.Address
	instances  []ec2types.Instance
	groups     []ec2types.SecurityGroup
	lbs        []elbv2types.LoadBalancer
	lbTags     map[string][]elbv2types.Tag
	subnetsErr error
	roleErr    map[string]error
	pages      int
}

func (a *account) apis() APIs {
	return APIs{IAM: a, Region: func(string) Regional {
		return Regional{EC2: a, EKS: a, AutoScaling: a, ELB: classic{}, ELBV2: a}
	}}
}

func (a *account) ListRoles(_ context.Context, in *iam.ListRolesInput, _ ...func(*iam.Options)) (*iam.ListRolesOutput, error) {
	a.mu.Lock()
	a.pages++
	a.mu.Unlock()
	start, _ := strconv.Atoi(aws.ToString(in.Marker))
	end := min(start+100, len(a.roles))
	out := &iam.ListRolesOutput{IsTruncated: end < len(a.roles)}
	for _, role := range a.roles[start:end] {
		role.Tags = nil // as AWS does
		out.Roles = append(out.Roles, role)
	}
	if out.IsTruncated {
		out.Marker = aws.String(strconv.Itoa(end))
	}
	return out, nil
}

func (a *account) GetRole(_ context.Context, in *iam.GetRoleInput, _ ...func(*iam.Options)) (*iam.GetRoleOutput, error) {
	if err := a.roleErr[*in.RoleName]; err != nil {
		return nil, err
	}
	for _, role := range a.roles {
		if *role.RoleName == *in.RoleName {
			return &iam.GetRoleOutput{Role: &role}, nil
		}
	}
	return nil, awserr.New("NoSuchEntity", "no role")
}

func (a *account) ListOpenIDConnectProviders(context.Context, *iam.ListOpenIDConnectProvidersInput, ...func(*iam.Options)) (*iam.ListOpenIDConnectProvidersOutput, error) {
	return &iam.ListOpenIDConnectProvidersOutput{}, nil
}

func (a *account) DescribeVpcs(context.Context, *ec2.DescribeVpcsInput, ...func(*ec2.Options)) (*ec2.DescribeVpcsOutput, error) {
	return &ec2.DescribeVpcsOutput{Vpcs: a.vpcs}, nil
}

func (a *account) DescribeSubnets(context.Context, *ec2.DescribeSubnetsInput, ...func(*ec2.Options)) (*ec2.DescribeSubnetsOutput, error) {
	return &ec2.DescribeSubnetsOutput{}, a.subnetsErr
}

func (a *account) DescribeRouteTables(context.Context, *ec2.DescribeRouteTablesInput, ...func(*ec2.Options)) (*ec2.DescribeRouteTablesOutput, error) {
	return &ec2.DescribeRouteTablesOutput{}, nil
}

func (a *account) DescribeInternetGateways(context.Context, *ec2.DescribeInternetGatewaysInput, ...func(*ec2.Options)) (*ec2.DescribeInternetGatewaysOutput, error) {
	return &ec2.DescribeInternetGatewaysOutput{}, nil
}

func (a *account) DescribeNatGateways(context.Context, *ec2.DescribeNatGatewaysInput, ...func(*ec2.Options)) (*ec2.DescribeNatGatewaysOutput, error) {
	return &ec2.DescribeNatGatewaysOutput{NatGateways: a.nats}, nil
}

func (a *account) DescribeAddresses(context.Context, *ec2.DescribeAddressesInput, ...func(*ec2.Options)) (*ec2.DescribeAddressesOutput, error) {
	return &ec2.DescribeAddressesOutput{Addresses: a.addresses}, nil
}

func (a *account) DescribeSecurityGroups(context.Context, *ec2.DescribeSecurityGroupsInput, ...func(*ec2.Options)) (*ec2.DescribeSecurityGroupsOutput, error) {
	return &ec2.DescribeSecurityGroupsOutput{SecurityGroups: a.groups}, nil
}

func (a *account) DescribeNetworkInterfaces(context.Context, *ec2.DescribeNetworkInterfacesInput, ...func(*ec2.Options)) (*ec2.DescribeNetworkInterfacesOutput, error) {
	return &ec2.DescribeNetworkInterfacesOutput{}, nil
}

func (a *account) DescribeVpcEndpoints(context.Context, *ec2.DescribeVpcEndpointsInput, ...func(*ec2.Options)) (*ec2.DescribeVpcEndpointsOutput, error) {
	return &ec2.DescribeVpcEndpointsOutput{}, nil
}

func (a *account) DescribeInstances(context.Context, *ec2.DescribeInstancesInput, ...func(*ec2.Options)) (*ec2.DescribeInstancesOutput, error) {
	return &ec2.DescribeInstancesOutput{Reservations: []ec2types.Reservation{{Instances: a.instances}}}, nil
}

func (a *account) DescribeCluster(context.Context, *eks.DescribeClusterInput, ...func(*eks.Options)) (*eks.DescribeClusterOutput, error) {
	return nil, absent
}

func (a *account) ListNodegroups(context.Context, *eks.ListNodegroupsInput, ...func(*eks.Options)) (*eks.ListNodegroupsOutput, error) {
	return nil, absent
}

func (a *account) ListAddons(context.Context, *eks.ListAddonsInput, ...func(*eks.Options)) (*eks.ListAddonsOutput, error) {
	return nil, absent
}

func (a *account) DescribeAutoScalingGroups(context.Context, *autoscaling.DescribeAutoScalingGroupsInput, ...func(*autoscaling.Options)) (*autoscaling.DescribeAutoScalingGroupsOutput, error) {
	return &autoscaling.DescribeAutoScalingGroupsOutput{}, nil
}

func (a *account) DescribeLoadBalancers(context.Context, *elbv2.DescribeLoadBalancersInput, ...func(*elbv2.Options)) (*elbv2.DescribeLoadBalancersOutput, error) {
	return &elbv2.DescribeLoadBalancersOutput{LoadBalancers: a.lbs}, nil
}

func (a *account) DescribeTargetGroups(context.Context, *elbv2.DescribeTargetGroupsInput, ...func(*elbv2.Options)) (*elbv2.DescribeTargetGroupsOutput, error) {
	return &elbv2.DescribeTargetGroupsOutput{}, nil
}

// DescribeTags fails as a whole when one of the load balancers has no entry.
func (a *account) DescribeTags(_ context.Context, in *elbv2.DescribeTagsInput, _ ...func(*elbv2.Options)) (*elbv2.DescribeTagsOutput, error) {
	if len(in.ResourceArns) > 20 {
		return nil, awserr.New("ValidationError", "too many resources")
	}
	out := &elbv2.DescribeTagsOutput{}
	for _, arn := range in.ResourceArns {
		tags, ok := a.lbTags[arn]
		if !ok {
			return nil, awserr.New("LoadBalancerNotFound", arn)
		}
		out.TagDescriptions = append(out.TagDescriptions, elbv2types.TagDescription{ResourceArn: aws.String(arn), Tags: tags})
	}
	return out, nil
}

// classic is a region without classic load balancers.
type classic struct{}

func (classic) DescribeLoadBalancers(context.Context, *elb.DescribeLoadBalancersInput, ...func(*elb.Options)) (*elb.DescribeLoadBalancersOutput, error) {
	return &elb.DescribeLoadBalancersOutput{}, nil
}

func (classic) DescribeTags(context.Context, *elb.DescribeTagsInput, ...func(*elb.Options)) (*elb.DescribeTagsOutput, error) {
	return &elb.DescribeTagsOutput{}, nil
}

var oneCluster = Scope{Clusters: []ClusterName{{CAPI: "wl-a", EKS: "default_wl-a", Region: region}}}

func ownerTag() []ec2types.Tag {
	return []ec2types.Tag{{Key: aws.String(providerTagPrefix + "wl-a"), Value: aws.String(owned)}}
}

func TestTakeRoles(t *testing.T) {
	cloudTag := []iamtypes.Tag{{Key: aws.String("kubernetes.io/cluster/default_wl-a"), Value: aws.String("owned")}}
	a := &account{}
	for n := range 250 {
		role := iamtypes.Role{RoleName: aws.String(fmt.Sprintf("role-%03d", n)), Path: aws.String("/")}
		if n >= 100 && n < 120 {
			role.Tags = cloudTag
		}
		a.roles = append(a.roles, role)
	}
	a.roles = append(a.roles, iamtypes.Role{
		RoleName: aws.String("AWSServiceRoleForEKS"), Path: aws.String("/aws-service-role/eks.amazonaws.com/"), Tags: cloudTag,
	})

	t.Run("finds owned roles behind the first page", func(t *testing.T) {
		inv, err := Take(t.Context(), a.apis(), oneCluster)
		if err != nil {
			t.Fatal(err)
		}
		if len(inv.Items) != 20 || inv.Items[0].ID != "role-100" || inv.Items[19].ID != "role-119" {
			t.Errorf("found %d: %v", len(inv.Items), inv.Items)
		}
		if a.pages != 3 {
			t.Errorf("read %d pages, want 3", a.pages)
		}
	})

	t.Run("keeps what it could read when one role cannot be", func(t *testing.T) {
		a.roleErr = map[string]error{"role-105": denied, "role-106": awserr.New("NoSuchEntity", "deleted meanwhile")}
		inv, err := Take(t.Context(), a.apis(), oneCluster)
		if !errors.Is(err, denied) || len(inv.Unknown) != 1 {
			t.Errorf("error %v, unknown %v; want the refusal", err, inv.Unknown)
		}
		if len(inv.Items) != 18 {
			t.Errorf("found %d, want 18", len(inv.Items))
		}
	})
}

func TestTakeUnknown(t *testing.T) {
	a := &account{subnetsErr: denied, vpcs: []ec2types.Vpc{{VpcId: aws.String("vpc-1"), Tags: ownerTag()}}}
	scope := Scope{Clusters: append(oneCluster.Clusters, ClusterName{CAPI: "wl-b", EKS: "default_wl-b", Region: "eu-west-1"})}
	inv, err := Take(t.Context(), a.apis(), scope)
	if !errors.Is(err, denied) {
		t.Fatalf("error %v, want the refusal", err)
	}
	if len(inv.Items) != 1 || inv.Items[0].ID != "vpc-1" {
		t.Errorf("found %v, want the VPC all the same", inv.Items)
	}
	want := []string{
		"unknown: listing ec2 subnets in eu-north-1: " + denied.Error(),
		"unknown: listing ec2 subnets in eu-west-1: " + denied.Error(),
	}
	for n, unknown := range inv.Unknown {
		if unknown.Error() != want[n] {
			t.Errorf("unknown %q, want %q", unknown, want[n])
		}
	}
	if len(inv.Unknown) != len(want) {
		t.Errorf("%d unknown, want %d", len(inv.Unknown), len(want))
	}
}

func TestTakeLeavesOutWhatAWSStillListsAfterDeletion(t *testing.T) {
	nat := func(id string, state ec2types.NatGatewayState) ec2types.NatGateway {
		return ec2types.NatGateway{NatGatewayId: aws.String(id), State: state, Tags: ownerTag()}
	}
	instance := func(id string, state ec2types.InstanceStateName) ec2types.Instance {
		return ec2types.Instance{InstanceId: aws.String(id), State: &ec2types.InstanceState{Name: state}, Tags: ownerTag()}
	}
	a := &account{
		nats: []ec2types.NatGateway{
			nat("nat-deleted", ec2types.NatGatewayStateDeleted),
			nat("nat-deleting", ec2types.NatGatewayStateDeleting),
			nat("nat-available", ec2types.NatGatewayStateAvailable),
			nat("nat-failed", ec2types.NatGatewayStateFailed),
		},
		instances: []ec2types.Instance{
			instance("i-terminated", ec2types.InstanceStateNameTerminated),
			instance("i-stopping", ec2types.InstanceStateNameShuttingDown),
		},
		groups: []ec2types.SecurityGroup{
			{GroupId: aws.String("sg-default"), GroupName: aws.String("default"), Tags: ownerTag()},
			{GroupId: aws.String("sg-nodes"), GroupName: aws.String("nodes"), Tags: ownerTag()},
		},
	}
	inv, err := Take(t.Context(), a.apis(), oneCluster)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, item := range inv.Items {
		got = append(got, item.ID)
	}
	want := []string{"i-stopping", "nat-available", "nat-deleting", "nat-failed", "sg-nodes"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestTakeAddressesWithoutNetwork(t *testing.T) {
	a := &account{addresses: []ec2types.Address{
		{AllocationId: aws.String("eipalloc-1"), Tags: ownerTag()},
		{AllocationId: aws.String("eipalloc-2")},
	}}
	inv, err := Take(t.Context(), a.apis(), oneCluster)
	if err != nil || len(inv.Items) != 1 || inv.Items[0].ID != "eipalloc-1" {
		t.Errorf("got %v (%v), want the tagged address", inv.Items, err)
	}
}

func TestTakeLoadBalancerTags(t *testing.T) {
	a := &account{lbTags: map[string][]elbv2types.Tag{}}
	for n := range 45 {
		arn := fmt.Sprintf("arn:%02d", n)
		a.lbs = append(a.lbs, elbv2types.LoadBalancer{LoadBalancerArn: aws.String(arn)})
		a.lbTags[arn] = []elbv2types.Tag{{Key: aws.String("kubernetes.io/cluster/default_wl-a"), Value: aws.String("owned")}}
	}
	delete(a.lbTags, "arn:30") // deleted between the two calls
	inv, err := Take(t.Context(), a.apis(), oneCluster)
	if err != nil {
		t.Fatal(err)
	}
	if len(inv.Items) != 44 {
		t.Errorf("found %d, want 44", len(inv.Items))
	}
}
