package elbsim_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	classic "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	v2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/google/go-cmp/cmp"

	"github.com/krops-go/krops/internal/rehearsal/awssim/ec2sim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/elbsim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// account is an account in which time passes when a test says so.
type account struct {
	t       *testing.T
	now     time.Time
	ids     int
	ec2     *ec2sim.Service
	classic *elbsim.Classic
	v2      *elbsim.V2
}

const (
	accountID = "111122223333"
	region    = "eu-north-1"
)

func newAccount(t *testing.T) *account {
	a := &account{t: t, now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	a.ec2 = ec2sim.New(accountID, a, ec2sim.Options{})
	a.classic, a.v2 = elbsim.NewClassic(elbsim.WithNetwork(a.ec2)), elbsim.NewV2(elbsim.WithNetwork(a.ec2))
	return a
}

func (a *account) Now() time.Time { return a.now }
func (a *account) NewID(prefix string, n int) string {
	a.ids++
	return prefix + fmt.Sprintf("%0*x", n, a.ids)
}
func (a *account) Async(func(context.Context) error, func(error)) {
	a.t.Fatal("load balancers have no work of their own")
}
func (a *account) Await(_ context.Context, _ time.Duration, done func() bool) bool { return done() }

func (a *account) pass(d time.Duration) {
	a.now = a.now.Add(d)
	for _, s := range []service.Service{a.ec2, a.classic, a.v2} {
		s.Settle(a.now)
	}
}

// do makes a call and returns the code of its refusal.
func (a *account) do(s service.Service, in any) (any, string) {
	a.t.Helper()
	return callIn(a.t, s, in, &service.Call{Context: context.Background(), Region: region, Account: accountID, World: a})
}

// network makes a VPC with an internet gateway and two subnets.
func (a *account) network() (vpc, gateway string, subnets []string) {
	a.t.Helper()
	must := func(out any, code string) any {
		a.t.Helper()
		if code != "" {
			a.t.Fatal(code)
		}
		return out
	}
	vpc = *must(a.do(a.ec2, &ec2.CreateVpcInput{CidrBlock: aws.String("10.0.0.0/16")})).(*ec2.CreateVpcOutput).Vpc.VpcId
	gateway = *must(a.do(a.ec2, &ec2.CreateInternetGatewayInput{})).(*ec2.CreateInternetGatewayOutput).InternetGateway.InternetGatewayId
	must(a.do(a.ec2, &ec2.AttachInternetGatewayInput{InternetGatewayId: &gateway, VpcId: &vpc}))
	for n, zone := range []string{"a", "b"} {
		subnets = append(subnets, *must(a.do(a.ec2, &ec2.CreateSubnetInput{
			VpcId: &vpc, AvailabilityZone: aws.String(region + zone), CidrBlock: aws.String(fmt.Sprintf("10.0.%d.0/24", n)),
		})).(*ec2.CreateSubnetOutput).Subnet.SubnetId)
	}
	return vpc, gateway, subnets
}

func (a *account) want(s service.Service, in any, code string) {
	a.t.Helper()
	if _, got := a.do(s, in); got != code {
		a.t.Errorf("%T: got %q, want %q", in, got, code)
	}
}

func (a *account) spec(vpc string, subnets []string) elbsim.ServiceBalancer {
	return elbsim.ServiceBalancer{
		Region: region, Account: accountID, Cluster: "wl-a", Namespace: "shop", Name: "front", UID: "01234567-89ab-cdef-0123-456789abcdef",
		VPC: vpc, Subnets: subnets, Ports: []elbsim.Port{{Front: 80, Node: 30080}},
	}
}

func TestAClassicLeftoverBlocksTheNetwork(t *testing.T) {
	a := newAccount(t)
	vpc, gateway, subnets := a.network()
	nodes := func() string {
		out, code := a.do(a.ec2, &ec2.CreateSecurityGroupInput{VpcId: &vpc, GroupName: aws.String("nodes"), Description: aws.String("nodes")})
		if code != "" {
			t.Fatal(code)
		}
		return *out.(*ec2.CreateSecurityGroupOutput).GroupId
	}()
	spec := a.spec(vpc, subnets)
	spec.NodeGroup = nodes
	name, group, err := a.classic.ExposeClassic(a, a.ec2, spec)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("a0123456789abcdef0123456789abcde", name); diff != "" {
		t.Error(diff)
	}
	list, _ := a.do(a.classic, &classic.DescribeLoadBalancersInput{LoadBalancerNames: []string{name}})
	shown := list.(*classic.DescribeLoadBalancersOutput).LoadBalancerDescriptions[0]
	if *shown.VPCId != vpc || len(shown.Subnets) != 2 || shown.SecurityGroups[0] != group || shown.ListenerDescriptions[0].Listener.LoadBalancerPort != 80 {
		t.Errorf("got %+v", shown)
	}
	tags, _ := a.do(a.classic, &classic.DescribeTagsInput{LoadBalancerNames: []string{name}})
	if got := tags.(*classic.DescribeTagsOutput).TagDescriptions[0].Tags; len(got) != 2 || *got[0].Key != "kubernetes.io/cluster/wl-a" {
		t.Errorf("tags are %+v", got)
	}
	if found := a.classic.TaggedResources(region); len(found) != 1 || found[0].Tags["kubernetes.io/service-name"] != "shop/front" {
		t.Errorf("the tag search finds %+v", found)
	}

	removeGroup := &ec2.DeleteSecurityGroupInput{GroupId: &group}
	detach := &ec2.DetachInternetGatewayInput{InternetGatewayId: &gateway, VpcId: &vpc}
	blocked := func() {
		t.Helper()
		a.want(a.ec2, detach, "DependencyViolation")
		a.want(a.ec2, removeGroup, "DependencyViolation")
		a.want(a.ec2, &ec2.DeleteSubnetInput{SubnetId: &subnets[0]}, "DependencyViolation")
	}
	blocked()
	a.want(a.classic, &classic.DeleteLoadBalancerInput{LoadBalancerName: &name}, "")
	a.want(a.classic, &classic.DescribeLoadBalancersInput{LoadBalancerNames: []string{name}}, "LoadBalancerNotFound")
	if len(a.classic.Objects()) != 0 {
		t.Errorf("what was deleted is still listed: %v", a.classic.Objects())
	}
	blocked() // the interfaces are still there
	a.pass(time.Second)
	a.want(a.ec2, detach, "")
	a.want(a.ec2, removeGroup, "DependencyViolation") // the nodes' group still names it
	a.want(a.ec2, &ec2.RevokeSecurityGroupIngressInput{GroupId: &nodes, IpPermissions: []types.IpPermission{{
		IpProtocol: aws.String("-1"), UserIdGroupPairs: []types.UserIdGroupPair{{GroupId: &group}},
	}}}, "")
	a.want(a.ec2, removeGroup, "")
	a.want(a.ec2, &ec2.DeleteSubnetInput{SubnetId: &subnets[0]}, "")
}

func TestANetworkLeftover(t *testing.T) {
	a := newAccount(t)
	vpc, _, subnets := a.network()
	arn, err := a.v2.ExposeNetwork(a, a.spec(vpc, subnets))
	if err != nil {
		t.Fatal(err)
	}
	state := func() string {
		out, _ := a.do(a.v2, &v2.DescribeLoadBalancersInput{LoadBalancerArns: []string{arn}})
		return string(out.(*v2.DescribeLoadBalancersOutput).LoadBalancers[0].State.Code)
	}
	if got := state(); got != "provisioning" {
		t.Errorf("a new one is %s", got)
	}
	a.pass(time.Second)
	if got := state(); got != "active" {
		t.Errorf("later it is %s", got)
	}
	out, _ := a.do(a.v2, &v2.DescribeTargetGroupsInput{LoadBalancerArn: &arn})
	groups := out.(*v2.DescribeTargetGroupsOutput).TargetGroups
	if len(groups) != 1 || *groups[0].Port != 30080 {
		t.Fatalf("got %+v", groups)
	}
	listeners, _ := a.do(a.v2, &v2.DescribeListenersInput{LoadBalancerArn: &arn})
	if got := listeners.(*v2.DescribeListenersOutput).Listeners; len(got) != 1 || *got[0].DefaultActions[0].TargetGroupArn != *groups[0].TargetGroupArn {
		t.Errorf("got %+v", got)
	}
	if found := a.v2.TaggedResources(region); len(found) != 3 {
		t.Errorf("the tag search finds %+v", found)
	}
	enis, _ := a.do(a.ec2, &ec2.DescribeNetworkInterfacesInput{Filters: []types.Filter{{Name: aws.String("requester-id"), Values: []string{"amazon-elb"}}}})
	if got := enis.(*ec2.DescribeNetworkInterfacesOutput).NetworkInterfaces; len(got) != 2 || len(got[0].Groups) != 0 || got[0].InterfaceType != types.NetworkInterfaceTypeNetworkLoadBalancer {
		t.Errorf("interfaces are %+v", got)
	}

	removeTargets := &v2.DeleteTargetGroupInput{TargetGroupArn: groups[0].TargetGroupArn}
	a.want(a.v2, removeTargets, "ResourceInUse")
	a.want(a.v2, &v2.DeleteLoadBalancerInput{LoadBalancerArn: &arn}, "")
	a.want(a.v2, removeTargets, "")
	a.want(a.ec2, &ec2.DeleteSubnetInput{SubnetId: &subnets[1]}, "DependencyViolation")
	a.pass(time.Second)
	a.want(a.ec2, &ec2.DeleteSubnetInput{SubnetId: &subnets[1]}, "")
	if left := append(a.classic.Objects(), a.v2.Objects()...); len(left) != 0 {
		t.Errorf("left are %v", left)
	}
}

func TestABalancerThatCannotBeMadeLeavesNothing(t *testing.T) {
	a := newAccount(t)
	vpc, _, subnets := a.network()
	if _, err := a.v2.ExposeNetwork(a, a.spec(vpc, append(subnets, "subnet-00000000000000000"))); err == nil {
		t.Error("it was made in a subnet that is not there")
	}
	enis, _ := a.do(a.ec2, &ec2.DescribeNetworkInterfacesInput{})
	if got := enis.(*ec2.DescribeNetworkInterfacesOutput).NetworkInterfaces; len(got) != 0 {
		t.Errorf("interfaces are left: %+v", got)
	}
	if err := elbsim.NewClassic().Create(a, elbsim.Balancer{Name: "x", Region: region, Subnets: subnets}); err == nil {
		t.Error("it was made without a network")
	}
}
