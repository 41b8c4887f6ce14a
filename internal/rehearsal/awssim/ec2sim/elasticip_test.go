package ec2sim_test

import (
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/ec2sim"
)

func TestAddressQuota(t *testing.T) {
	a := newAccount(t, ec2sim.Options{})
	var ips []string
	for range 5 {
		ips = append(ips, *must[ec2.AllocateAddressOutput](a, &ec2.AllocateAddressInput{Domain: types.DomainTypeVpc}).PublicIp)
	}
	a.refused(&ec2.AllocateAddressInput{}, "AddressLimitExceeded")
	if slices.Sort(ips); len(slices.Compact(ips)) != 5 {
		t.Errorf("addresses repeat: %v", ips)
	}
	byIP := must[ec2.DescribeAddressesOutput](a, &ec2.DescribeAddressesInput{PublicIps: ips[:1]}).Addresses
	if len(byIP) != 1 {
		t.Fatalf("by public IP: %v", byIP)
	}
	a.refused(&ec2.DescribeAddressesInput{PublicIps: []string{"192.0.2.1"}}, "InvalidAddress.NotFound")
	a.refused(&ec2.DisassociateAddressInput{AssociationId: aws.String("eipassoc-00000000000000fff")}, "InvalidAssociationID.NotFound")
	a.ok(&ec2.ReleaseAddressInput{AllocationId: byIP[0].AllocationId})
	again := *must[ec2.AllocateAddressOutput](a, &ec2.AllocateAddressInput{}).PublicIp
	if slices.Contains(ips, again) {
		t.Errorf("%s was given out twice", again)
	}
}

func TestAddressAssociation(t *testing.T) {
	a := newAccount(t, ec2sim.Options{})
	vpc := a.vpc("10.0.0.0/16")
	subnet := a.subnet(vpc, home+"a", "10.0.0.0/20")
	create := &ec2.CreateNetworkInterfaceInput{SubnetId: aws.String(subnet)}
	one := must[ec2.CreateNetworkInterfaceOutput](a, create).NetworkInterface.NetworkInterfaceId
	two := must[ec2.CreateNetworkInterfaceOutput](a, create).NetworkInterface.NetworkInterfaceId
	address := aws.String(a.address())
	toOne := &ec2.AssociateAddressInput{AllocationId: address, NetworkInterfaceId: one}
	a.refused(toOne, "Gateway.NotAttached")
	gateway := a.gateway(vpc)
	first := must[ec2.AssociateAddressOutput](a, toOne).AssociationId
	if again := must[ec2.AssociateAddressOutput](a, toOne).AssociationId; *again != *first {
		t.Errorf("repeated, the association is %s, not %s", *again, *first)
	}
	a.refused(&ec2.AssociateAddressInput{AllocationId: address, NetworkInterfaceId: two, AllowReassociation: aws.Bool(false)}, "Resource.AlreadyAssociated")
	second := must[ec2.AssociateAddressOutput](a, &ec2.AssociateAddressInput{AllocationId: address, NetworkInterfaceId: two}).AssociationId
	a.refused(&ec2.DisassociateAddressInput{AssociationId: first}, "InvalidAssociationID.NotFound")
	a.refused(&ec2.ReleaseAddressInput{AllocationId: address}, "InvalidIPAddress.InUse")
	a.refused(&ec2.DetachInternetGatewayInput{InternetGatewayId: aws.String(gateway), VpcId: aws.String(vpc)}, "DependencyViolation")
	byAddress := &ec2.DescribeNetworkInterfacesInput{Filters: []types.Filter{filter("association.allocation-id", *address)}}
	if found := must[ec2.DescribeNetworkInterfacesOutput](a, byAddress).NetworkInterfaces; len(found) != 1 || *found[0].NetworkInterfaceId != *two || found[0].Association == nil {
		t.Errorf("interfaces with the address: %v", found)
	}
	a.ok(&ec2.DisassociateAddressInput{AssociationId: second})
	a.ok(&ec2.AssociateAddressInput{AllocationId: address, NetworkInterfaceId: one})
	a.ok(&ec2.DeleteNetworkInterfaceInput{NetworkInterfaceId: one})
	a.ok(&ec2.ReleaseAddressInput{AllocationId: address})

	taken := aws.String(a.address())
	nat := must[ec2.CreateNatGatewayOutput](a, &ec2.CreateNatGatewayInput{SubnetId: aws.String(subnet), AllocationId: taken}).NatGateway
	a.refused(&ec2.AssociateAddressInput{AllocationId: taken, NetworkInterfaceId: two}, "AuthFailure")
	a.refused(&ec2.AssociateAddressInput{AllocationId: aws.String(a.address()), NetworkInterfaceId: nat.NatGatewayAddresses[0].NetworkInterfaceId}, "AuthFailure")
}

func TestAddressOfInstance(t *testing.T) {
	a := newAccount(t, ec2sim.Options{})
	vpc := a.vpc("10.0.0.0/16")
	a.gateway(vpc)
	launched, err := a.ec2.LaunchOwned(home, a.subnet(vpc, home+"a", "10.0.0.0/20"), "t3.small", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	address := aws.String(a.address())
	associate := &ec2.AssociateAddressInput{AllocationId: address, InstanceId: aws.String(launched.ID)}
	a.ok(associate)
	byInstance := &ec2.DescribeAddressesInput{Filters: []types.Filter{filter("instance-id", launched.ID)}}
	if found := must[ec2.DescribeAddressesOutput](a, byInstance).Addresses; len(found) != 1 || *found[0].PrivateIpAddress != launched.PrivateIP {
		t.Errorf("addresses of the instance: %v", found)
	}
	a.refused(&ec2.ReleaseAddressInput{AllocationId: address}, "InvalidIPAddress.InUse")
	if err := a.ec2.TerminateOwned(home, launched.ID); err != nil {
		t.Fatal(err)
	}
	a.refused(associate, "IncorrectInstanceState")
	a.ok(&ec2.ReleaseAddressInput{AllocationId: address})
}
