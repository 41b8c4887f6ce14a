package ec2sim_test

import (
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"

	"github.com/krops-go/krops/internal/rehearsal/awssim/ec2sim"
)

func sortedText(list []string) []string {
	list = slices.Clone(list)
	slices.Sort(list)
	return list
}

// TestOwned is a managed cluster's share of EC2: what the service makes blocks
// the account's deletes until the service takes it away.
func TestOwned(t *testing.T) {
	a := newAccount(t, ec2sim.Options{})
	vpc := a.vpc("10.0.0.0/16")
	subnet := a.subnet(vpc, home+"a", "10.0.64.0/18")
	if got, ok := a.ec2.LookupSubnet(home, subnet); !ok || got != (ec2sim.Subnet{ID: subnet, VPC: vpc, Zone: home + "a", CIDR: "10.0.64.0/18"}) {
		t.Errorf("subnet is %v, %v", got, ok)
	}
	if _, ok := a.ec2.LookupSubnet("eu-west-1", subnet); ok {
		t.Error("the subnet is in another region too")
	}
	group, err := a.ec2.CreateOwnedSecurityGroup(home, vpc, "eks-cluster-sg-default_cp-1", "made by EKS", map[string]string{"aws:eks:cluster-name": "default_cp"})
	if err != nil {
		t.Fatal(err)
	}
	byTag := &ec2.DescribeSecurityGroupsInput{Filters: []types.Filter{filter("tag:aws:eks:cluster-name", "default_cp")}}
	if found := must[ec2.DescribeSecurityGroupsOutput](a, byTag).SecurityGroups; len(found) != 1 || *found[0].GroupId != group {
		t.Errorf("by the service's tag: %v", found)
	}
	a.refused(&ec2.DeleteTagsInput{Resources: []string{group}, Tags: []types.Tag{{Key: aws.String("aws:eks:cluster-name")}}}, "InvalidParameterValue")

	eni, err := a.ec2.CreateOwnedInterface(home, subnet, []string{group}, "Amazon EKS default_cp")
	if err != nil {
		t.Fatal(err)
	}
	launched, err := a.ec2.LaunchOwned(home, subnet, "t4g.small", []string{group}, map[string]string{"Name": "node"})
	if err != nil {
		t.Fatal(err)
	}
	want := ec2sim.Instance{
		ID: launched.ID, PrivateIP: "10.0.64.5", PrivateDNSName: "ip-10-0-64-5.eu-north-1.compute.internal", Zone: home + "a", Type: "t4g.small",
	}
	if diff := cmp.Diff(want, launched); diff != "" {
		t.Errorf("instance (-want +got):\n%s", diff)
	}
	a.refused(&ec2.DeleteNetworkInterfaceInput{NetworkInterfaceId: aws.String(eni)}, "InvalidParameterValue")
	a.refused(&ec2.DeleteSecurityGroupInput{GroupId: aws.String(group)}, "DependencyViolation")
	a.refused(&ec2.DeleteSubnetInput{SubnetId: aws.String(subnet)}, "DependencyViolation")
	wantCode(t, a.ec2.DeleteOwnedSecurityGroup(home, group), "DependencyViolation")
	free := must[ec2.DescribeNetworkInterfacesOutput](a, &ec2.DescribeNetworkInterfacesInput{
		Filters: []types.Filter{filter("group-id", group), filter("status", "available")},
	}).NetworkInterfaces
	if len(free) > 0 {
		t.Errorf("available interfaces: %v", free)
	}
	a.restart()
	for range 2 { // twice: what is gone already is success
		if err := a.ec2.TerminateOwned(home, launched.ID); err != nil {
			t.Fatal(err)
		}
		if err := a.ec2.DeleteOwnedInterface(home, eni); err != nil {
			t.Fatal(err)
		}
		if err := a.ec2.DeleteOwnedSecurityGroup(home, group); err != nil {
			t.Fatal(err)
		}
	}
	a.ok(&ec2.DeleteSubnetInput{SubnetId: aws.String(subnet)})
	a.ok(&ec2.DeleteVpcInput{VpcId: aws.String(vpc)})
	if left := a.objects(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestOwnedRefusals(t *testing.T) {
	a := newAccount(t, ec2sim.Options{})
	vpc := a.vpc("10.0.0.0/16")
	subnet := a.subnet(vpc, home+"a", "10.0.0.0/28")
	_, err := a.ec2.CreateOwnedSecurityGroup(home, "vpc-00000000000000fff", "x", "x", nil)
	wantCode(t, err, "InvalidVpcID.NotFound")
	_, err = a.ec2.CreateOwnedInterface(home, "subnet-00000000000000fff", nil, "")
	wantCode(t, err, "InvalidSubnetID.NotFound")
	_, err = a.ec2.CreateOwnedInterface(home, subnet, []string{"sg-00000000000000fff"}, "")
	wantCode(t, err, "InvalidGroup.NotFound")
	_, err = a.ec2.LaunchOwned(home, subnet, "t3a.medium", nil, nil)
	wantCode(t, err, "Unsupported")
	for range 16 - 5 {
		if _, err := a.ec2.CreateOwnedInterface(home, subnet, nil, ""); err != nil {
			t.Fatal(err)
		}
	}
	_, err = a.ec2.CreateOwnedInterface(home, subnet, nil, "")
	wantCode(t, err, "InsufficientFreeAddressesInSubnet")
}

func TestInstanceLife(t *testing.T) {
	a := newAccount(t, ec2sim.Options{})
	vpc := a.vpc("10.0.0.0/16")
	gateway := a.gateway(vpc)
	subnet := a.subnet(vpc, home+"a", "10.0.0.0/20")
	a.ok(&ec2.ModifySubnetAttributeInput{SubnetId: aws.String(subnet), MapPublicIpOnLaunch: &types.AttributeBooleanValue{Value: aws.Bool(true)}})
	launched, err := a.ec2.LaunchOwned(home, subnet, "m5.large", nil, map[string]string{"role": "bastion"})
	if err != nil {
		t.Fatal(err)
	}
	alive := &ec2.DescribeInstancesInput{Filters: []types.Filter{filter("tag:role", "bastion"), filter("instance-state-name", "pending", "running", "stopping", "stopped")}}
	byID := &ec2.DescribeInstancesInput{InstanceIds: []string{launched.ID}}
	first := func() types.Instance { return must[ec2.DescribeInstancesOutput](a, byID).Reservations[0].Instances[0] }
	if got := first(); got.State.Name != types.InstanceStateNamePending || got.PublicIpAddress == nil || *got.PrivateIpAddress != "10.0.0.4" || got.Architecture != types.ArchitectureValuesX8664 {
		t.Errorf("launched %+v, want pending with a public address", got)
	}
	a.pass(time.Second)
	if got := first(); got.State.Name != types.InstanceStateNameRunning || len(must[ec2.DescribeInstancesOutput](a, alive).Reservations) != 1 {
		t.Errorf("instance is %s, want running", got.State.Name)
	}
	detach := &ec2.DetachInternetGatewayInput{InternetGatewayId: aws.String(gateway), VpcId: aws.String(vpc)}
	a.refused(detach, "DependencyViolation")
	if err := a.ec2.TerminateOwned(home, launched.ID); err != nil {
		t.Fatal(err)
	}
	a.ok(detach)
	a.restart()
	if got := first(); got.State.Name != types.InstanceStateNameTerminated || got.PrivateIpAddress != nil || len(must[ec2.DescribeInstancesOutput](a, alive).Reservations) != 0 {
		t.Errorf("instance is %s at %v, want terminated without an address", got.State.Name, got.PrivateIpAddress)
	}
	if slices.Contains(a.objects(), "instance "+launched.ID) {
		t.Error("a terminated instance counts as existing")
	}
	a.pass(2 * time.Hour)
	a.refused(byID, "InvalidInstanceID.NotFound")
}
