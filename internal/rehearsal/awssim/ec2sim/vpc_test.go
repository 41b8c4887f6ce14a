package ec2sim_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/ec2sim"
)

func TestVPCIsPendingThenAvailable(t *testing.T) {
	a := newAccount(t, ec2sim.Options{})
	created := must[ec2.CreateVpcOutput](a, &ec2.CreateVpcInput{
		CidrBlock: aws.String("10.0.3.4/16"), TagSpecifications: named(types.ResourceTypeVpc, "c-vpc"),
	}).Vpc
	if created.State != types.VpcStatePending || *created.CidrBlock != "10.0.0.0/16" || *created.IsDefault || *created.OwnerId != accountID {
		t.Errorf("created %+v, want pending 10.0.0.0/16 of the account, not a default one", created)
	}
	if len(created.Tags) != 1 || *created.Tags[0].Value != "c-vpc" {
		t.Errorf("the answer has tags %v, want the name", created.Tags)
	}
	available := &ec2.DescribeVpcsInput{Filters: []types.Filter{filter("state", "available")}}
	if found := must[ec2.DescribeVpcsOutput](a, available).Vpcs; len(found) != 0 {
		t.Errorf("available at once: %v", found)
	}
	a.waiter = true
	byID := &ec2.DescribeVpcsInput{VpcIds: []string{*created.VpcId}}
	if found := must[ec2.DescribeVpcsOutput](a, byID).Vpcs; found[0].State != types.VpcStateAvailable || a.held != 1 {
		t.Errorf("a waiter saw %s after %d holds, want available after one", found[0].State, a.held)
	}
}

func TestVPCAttributes(t *testing.T) {
	a := newAccount(t, ec2sim.Options{})
	vpc := aws.String(a.vpc("10.0.0.0/16"))
	hostnames := func() bool {
		return *must[ec2.DescribeVpcAttributeOutput](a, &ec2.DescribeVpcAttributeInput{
			VpcId: vpc, Attribute: types.VpcAttributeNameEnableDnsHostnames,
		}).EnableDnsHostnames.Value
	}
	support := must[ec2.DescribeVpcAttributeOutput](a, &ec2.DescribeVpcAttributeInput{
		VpcId: vpc, Attribute: types.VpcAttributeNameEnableDnsSupport,
	}).EnableDnsSupport.Value
	if hostnames() || !*support {
		t.Error("a new VPC has DNS support and no DNS hostnames")
	}
	yes := &types.AttributeBooleanValue{Value: aws.Bool(true)}
	a.ok(&ec2.ModifyVpcAttributeInput{VpcId: vpc, EnableDnsHostnames: yes})
	if !hostnames() {
		t.Error("DNS hostnames are still off")
	}
	a.refused(&ec2.ModifyVpcAttributeInput{VpcId: vpc, EnableDnsHostnames: yes, EnableDnsSupport: yes}, "InvalidParameterCombination")
	a.refused(&ec2.ModifyVpcAttributeInput{VpcId: aws.String("vpc-00000000000000fff"), EnableDnsHostnames: yes}, "InvalidVpcID.NotFound")
	a.refused(&ec2.DescribeVpcAttributeInput{VpcId: vpc}, "MissingParameter")
}

func TestVPCRefusals(t *testing.T) {
	a := newAccount(t, ec2sim.Options{})
	a.refused(&ec2.CreateVpcInput{}, "MissingParameter")
	a.refused(&ec2.CreateVpcInput{CidrBlock: aws.String("10.0.0.0/8")}, "InvalidVpc.Range")
	a.refused(&ec2.CreateVpcInput{CidrBlock: aws.String("fd00::/20")}, "InvalidParameterValue")
	a.refused(&ec2.CreateVpcInput{CidrBlock: aws.String("10.0.0.0/16"), TagSpecifications: named(types.ResourceTypeSubnet, "x")}, "InvalidParameterValue")
	a.refused(&ec2.CreateVpcInput{CidrBlock: aws.String("10.0.0.0/16"), DryRun: aws.Bool(true)}, "DryRunOperation")
	a.refused(&ec2.DescribeVpcsInput{VpcIds: []string{"vpc-00000000000000fff"}}, "InvalidVpcID.NotFound")
	a.refused(&ec2.DescribeVpcsInput{VpcIds: []string{"subnet-1"}}, "InvalidVpcID.Malformed")
	a.refused(&ec2.DeleteVpcInput{}, "MissingParameter")
	a.region = "mars-1"
	a.refused(&ec2.DescribeVpcsInput{}, "AuthFailure")
	if left := a.objects(); len(left) > 0 {
		t.Errorf("refused calls made %v", left)
	}
}

func TestVPCQuotaIsPerRegion(t *testing.T) {
	a := newAccount(t, ec2sim.Options{})
	for range 5 {
		a.vpc("10.0.0.0/16")
	}
	a.refused(&ec2.CreateVpcInput{CidrBlock: aws.String("10.0.0.0/16")}, "VpcLimitExceeded")
	a.region = "eu-west-1"
	a.vpc("10.0.0.0/16")
	if found := must[ec2.DescribeVpcsOutput](a, &ec2.DescribeVpcsInput{}).Vpcs; len(found) != 1 {
		t.Errorf("the other region has %d VPCs, want its own one", len(found))
	}
	raised := newAccount(t, ec2sim.Options{Quotas: ec2sim.Quotas{VPCs: 6}})
	for range 6 {
		raised.vpc("10.0.0.0/16")
	}
	raised.refused(&ec2.CreateVpcInput{CidrBlock: aws.String("10.0.0.0/16")}, "VpcLimitExceeded")
}

func TestSubnets(t *testing.T) {
	a := newAccount(t, ec2sim.Options{})
	vpc := a.vpc("10.0.0.0/16")
	create := func(zone, cidr string) *ec2.CreateSubnetInput {
		return &ec2.CreateSubnetInput{VpcId: aws.String(vpc), AvailabilityZone: aws.String(zone), CidrBlock: aws.String(cidr)}
	}
	made := must[ec2.CreateSubnetOutput](a, create(home+"b", "10.0.16.0/20")).Subnet
	if *made.AvailabilityZone != home+"b" || *made.AvailabilityZoneId != "eun1-az2" || *made.AvailableIpAddressCount != 4096-5 || *made.MapPublicIpOnLaunch {
		t.Errorf("made %+v", made)
	}
	a.refused(create(home+"a", "10.1.0.0/20"), "InvalidSubnet.Range")
	a.refused(create(home+"a", "10.0.0.0/30"), "InvalidSubnet.Range")
	a.refused(create(home+"a", "10.0.24.0/24"), "InvalidSubnet.Conflict")
	a.refused(create(home+"z", "10.0.0.0/20"), "InvalidParameterValue")
	a.refused(&ec2.CreateSubnetInput{VpcId: aws.String("vpc-00000000000000fff"), CidrBlock: aws.String("10.0.0.0/20")}, "InvalidVpcID.NotFound")

	a.ok(&ec2.ModifySubnetAttributeInput{SubnetId: made.SubnetId, MapPublicIpOnLaunch: &types.AttributeBooleanValue{Value: aws.Bool(true)}})
	public := &ec2.DescribeSubnetsInput{Filters: []types.Filter{filter("map-public-ip-on-launch", "true"), filter("state", "pending")}}
	if found := must[ec2.DescribeSubnetsOutput](a, public).Subnets; len(found) != 1 {
		t.Errorf("found %d public pending subnets, want 1", len(found))
	}
	a.pass(time.Second)
	if found := must[ec2.DescribeSubnetsOutput](a, public).Subnets; len(found) != 0 {
		t.Errorf("still pending: %v", found)
	}
	a.waiter = true
	late := must[ec2.CreateSubnetOutput](a, create(home+"c", "10.0.32.0/20")).Subnet.SubnetId
	if found := must[ec2.DescribeSubnetsOutput](a, &ec2.DescribeSubnetsInput{SubnetIds: []string{*late}}).Subnets; found[0].State != types.SubnetStateAvailable {
		t.Errorf("a waiter saw %s", found[0].State)
	}
}

func TestInternetGatewayAttachment(t *testing.T) {
	a := newAccount(t, ec2sim.Options{})
	first, second := a.vpc("10.0.0.0/16"), a.vpc("10.1.0.0/16")
	gateway := a.gateway(first)
	other := must[ec2.CreateInternetGatewayOutput](a, &ec2.CreateInternetGatewayInput{}).InternetGateway.InternetGatewayId
	a.refused(&ec2.AttachInternetGatewayInput{InternetGatewayId: aws.String(gateway), VpcId: aws.String(second)}, "Resource.AlreadyAssociated")
	a.refused(&ec2.AttachInternetGatewayInput{InternetGatewayId: other, VpcId: aws.String(first)}, "InvalidParameterValue")
	a.refused(&ec2.DetachInternetGatewayInput{InternetGatewayId: other, VpcId: aws.String(first)}, "Gateway.NotAttached")
	a.refused(&ec2.AttachInternetGatewayInput{InternetGatewayId: aws.String("igw-00000000000000fff"), VpcId: aws.String(first)}, "InvalidInternetGatewayID.NotFound")
	attached := &ec2.DescribeInternetGatewaysInput{Filters: []types.Filter{filter("attachment.vpc-id", first)}}
	found := must[ec2.DescribeInternetGatewaysOutput](a, attached).InternetGateways
	if len(found) != 1 || *found[0].InternetGatewayId != gateway || found[0].Attachments[0].State != "available" {
		t.Errorf("attached to the first VPC: %v", found)
	}
	// A detached gateway has no VPC, which is not the same as an empty one.
	for _, value := range []string{"", "*"} {
		in := &ec2.DescribeInternetGatewaysInput{Filters: []types.Filter{filter("attachment.vpc-id", value), filter("internet-gateway-id", *other)}}
		if found := must[ec2.DescribeInternetGatewaysOutput](a, in).InternetGateways; len(found) > 0 {
			t.Errorf("attached to %q: %v", value, found)
		}
	}
}
