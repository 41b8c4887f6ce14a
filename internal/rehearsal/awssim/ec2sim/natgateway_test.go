package ec2sim_test

import (
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/ec2sim"
)

// publicSubnet makes a subnet in a VPC with an internet gateway.
func publicSubnet(a *account) string {
	vpc := a.vpc("10.0.0.0/16")
	a.gateway(vpc)
	return a.subnet(vpc, home+"a", "10.0.0.0/20")
}

func TestNATGatewayLife(t *testing.T) {
	a := newAccount(t, ec2sim.Options{})
	subnet, address := publicSubnet(a), a.address()
	created := must[ec2.CreateNatGatewayOutput](a, &ec2.CreateNatGatewayInput{
		SubnetId: aws.String(subnet), AllocationId: aws.String(address), TagSpecifications: named(types.ResourceTypeNatgateway, "c-nat"),
	}).NatGateway
	id := *created.NatGatewayId
	if created.State != types.NatGatewayStatePending || *created.SubnetId != subnet || *created.NatGatewayAddresses[0].PrivateIp != "10.0.0.4" {
		t.Errorf("created %+v, want pending in its subnet with the first free address", created)
	}
	addressOf := func() types.Address {
		return must[ec2.DescribeAddressesOutput](a, &ec2.DescribeAddressesInput{AllocationIds: []string{address}}).Addresses[0]
	}
	if aws.ToString(addressOf().NetworkInterfaceId) != *created.NatGatewayAddresses[0].NetworkInterfaceId {
		t.Error("the address is not associated with the gateway's interface from the start")
	}
	a.refused(&ec2.DisassociateAddressInput{AssociationId: addressOf().AssociationId}, "AuthFailure")
	a.restart()
	if got := a.natState(id); got != types.NatGatewayStatePending {
		t.Errorf("pending gateway is %s after a restart", got)
	}
	a.pass(400 * time.Millisecond)
	if got := a.natState(id); got != types.NatGatewayStateAvailable {
		t.Errorf("gateway is %s, want available", got)
	}
	a.ok(&ec2.DeleteNatGatewayInput{NatGatewayId: aws.String(id)})
	a.ok(&ec2.DeleteNatGatewayInput{NatGatewayId: aws.String(id)})
	if got := a.natState(id); got != types.NatGatewayStateDeleting || addressOf().AssociationId == nil {
		t.Errorf("gateway is %s and its address %v, want both still there", got, addressOf())
	}
	a.restart()
	byID := &ec2.DescribeNatGatewaysInput{NatGatewayIds: []string{id}}
	gone := must[ec2.DescribeNatGatewaysOutput](a, byID).NatGateways[0]
	if gone.State != types.NatGatewayStateDeleted || a.held != 1 || gone.DeleteTime == nil {
		t.Errorf("asked by id, it is %s after %d holds, want deleted after one", gone.State, a.held)
	}
	if addressOf().AssociationId != nil {
		t.Error("the address is still associated")
	}
	if slices.Contains(a.objects(), "natgateway "+id) {
		t.Error("a deleted gateway counts as existing")
	}
	a.pass(59 * time.Minute)
	if found := must[ec2.DescribeNatGatewaysOutput](a, &ec2.DescribeNatGatewaysInput{}).NatGateways; len(found) != 1 || *found[0].Tags[0].Value != "c-nat" {
		t.Errorf("within the hour it should be listed with its tags, got %v", found)
	}
	a.pass(2 * time.Minute)
	if found := must[ec2.DescribeNatGatewaysOutput](a, &ec2.DescribeNatGatewaysInput{}).NatGateways; len(found) != 0 {
		t.Errorf("after the hour it is still listed: %v", found)
	}
	a.refused(byID, "NatGatewayNotFound")
}

func TestNATGatewayWaiterIsHeld(t *testing.T) {
	a := newAccount(t, ec2sim.Options{})
	id := a.nat(publicSubnet(a), a.address())
	byID := &ec2.DescribeNatGatewaysInput{NatGatewayIds: []string{id}}
	if got := must[ec2.DescribeNatGatewaysOutput](a, byID).NatGateways[0].State; got != types.NatGatewayStatePending || a.held != 0 {
		t.Errorf("a person sees %s after %d holds, want pending at once", got, a.held)
	}
	a.waiter = true
	if got := must[ec2.DescribeNatGatewaysOutput](a, byID).NatGateways[0].State; got != types.NatGatewayStateAvailable || a.held != 1 {
		t.Errorf("a waiter sees %s after %d holds, want available after one", got, a.held)
	}
}

func TestNATGatewayFails(t *testing.T) {
	a := newAccount(t, ec2sim.Options{})
	public := publicSubnet(a)
	closed := a.subnet(a.vpc("10.1.0.0/16"), home+"b", "10.1.0.0/20")
	tiny := a.subnet(vpcOf(a, public), home+"a", "10.0.64.0/28")
	for range 16 - 5 {
		a.ok(&ec2.CreateNetworkInterfaceInput{SubnetId: aws.String(tiny)})
	}
	taken := a.address()
	a.nat(public, taken)
	for _, c := range []struct{ name, subnet, address, code string }{
		{"without an internet gateway", closed, a.address(), "Gateway.NotAttached"},
		{"with an address in use", public, taken, "Resource.AlreadyAssociated"},
		{"in a full subnet", tiny, a.address(), "InsufficientFreeAddressesInSubnet"},
	} {
		t.Run(c.name, func(t *testing.T) {
			id := a.nat(c.subnet, c.address)
			a.pass(time.Second)
			failed := must[ec2.DescribeNatGatewaysOutput](a, &ec2.DescribeNatGatewaysInput{NatGatewayIds: []string{id}}).NatGateways[0]
			if failed.State != types.NatGatewayStateFailed || aws.ToString(failed.FailureCode) != c.code {
				t.Errorf("gateway is %s for %q, want failed for %s", failed.State, aws.ToString(failed.FailureCode), c.code)
			}
		})
	}
	a.pass(2 * time.Hour)
	if found := must[ec2.DescribeNatGatewaysOutput](a, &ec2.DescribeNatGatewaysInput{}).NatGateways; len(found) != 1 {
		t.Errorf("%d gateways are left, want the one that works", len(found))
	}
	a.refused(&ec2.CreateNatGatewayInput{SubnetId: aws.String("subnet-00000000000000fff"), AllocationId: aws.String(taken)}, "InvalidSubnet")
	a.refused(&ec2.CreateNatGatewayInput{SubnetId: aws.String(public), AllocationId: aws.String("eipalloc-00000000000000fff")}, "InvalidAllocationID.NotFound")
	a.refused(&ec2.CreateNatGatewayInput{SubnetId: aws.String(public)}, "MissingParameter")
	a.refused(&ec2.DeleteNatGatewayInput{NatGatewayId: aws.String("nat-00000000000000fff")}, "NatGatewayNotFound")
}

func vpcOf(a *account, subnet string) string {
	return *must[ec2.DescribeSubnetsOutput](a, &ec2.DescribeSubnetsInput{SubnetIds: []string{subnet}}).Subnets[0].VpcId
}

func TestNATGatewayTokenIsIdempotent(t *testing.T) {
	a := newAccount(t, ec2sim.Options{})
	in := &ec2.CreateNatGatewayInput{
		SubnetId: aws.String(publicSubnet(a)), AllocationId: aws.String(a.address()), ClientToken: aws.String("token"),
	}
	first, second := must[ec2.CreateNatGatewayOutput](a, in), must[ec2.CreateNatGatewayOutput](a, in)
	if *first.NatGateway.NatGatewayId != *second.NatGateway.NatGatewayId {
		t.Error("the same token made two gateways")
	}
	in.AllocationId = aws.String(a.address())
	a.refused(in, "IdempotentParameterMismatch")
}

func TestNATGatewayQuotaIsPerZone(t *testing.T) {
	a := newAccount(t, ec2sim.Options{Quotas: ec2sim.Quotas{Addresses: 10}})
	subnet := publicSubnet(a)
	var first string
	for range 5 {
		first = a.nat(subnet, a.address())
	}
	sixth := &ec2.CreateNatGatewayInput{SubnetId: aws.String(subnet), AllocationId: aws.String(a.address())}
	a.refused(sixth, "NatGatewayLimitExceeded")
	a.nat(a.subnet(vpcOf(a, subnet), home+"b", "10.0.16.0/20"), a.address())
	a.ok(&ec2.DeleteNatGatewayInput{NatGatewayId: aws.String(first)})
	a.refused(sixth, "NatGatewayLimitExceeded")
	a.pass(time.Second)
	a.ok(sixth)
}
