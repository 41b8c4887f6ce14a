package ec2sim_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"

	"github.com/krops-go/krops/internal/rehearsal/awssim/ec2sim"
)

// TestTeardown takes a cluster's network apart. Before each right step the
// wrong one is tried, and the process restarts after every one.
func TestTeardown(t *testing.T) {
	a := newAccount(t, ec2sim.Options{})
	vpc := a.vpc("10.0.0.0/16")
	public, private := a.subnet(vpc, home+"a", "10.0.0.0/20"), a.subnet(vpc, home+"a", "10.0.64.0/18")
	gateway := a.gateway(vpc)
	address := a.address()
	nat := a.nat(public, address)
	a.pass(time.Second)
	table := a.table(vpc)
	a.ok(&ec2.CreateRouteInput{RouteTableId: aws.String(table), DestinationCidrBlock: aws.String("0.0.0.0/0"), NatGatewayId: aws.String(nat)})
	association := must[ec2.AssociateRouteTableOutput](a, &ec2.AssociateRouteTableInput{
		RouteTableId: aws.String(table), SubnetId: aws.String(private),
	}).AssociationId
	group := a.group(vpc, "node")
	own := must[ec2.CreateNetworkInterfaceOutput](a, &ec2.CreateNetworkInterfaceInput{
		SubnetId: aws.String(private), Groups: []string{group},
	}).NetworkInterface.NetworkInterfaceId
	natInterface := must[ec2.DescribeNetworkInterfacesOutput](a, &ec2.DescribeNetworkInterfacesInput{
		Filters: []types.Filter{filter("interface-type", "nat_gateway")},
	}).NetworkInterfaces[0].NetworkInterfaceId

	deleteVPC := &ec2.DeleteVpcInput{VpcId: aws.String(vpc)}
	deletePublic, deletePrivate := &ec2.DeleteSubnetInput{SubnetId: aws.String(public)}, &ec2.DeleteSubnetInput{SubnetId: aws.String(private)}
	deleteGroup := &ec2.DeleteSecurityGroupInput{GroupId: aws.String(group)}
	deleteTable := &ec2.DeleteRouteTableInput{RouteTableId: aws.String(table)}
	detach := &ec2.DetachInternetGatewayInput{InternetGatewayId: aws.String(gateway), VpcId: aws.String(vpc)}
	deleteGateway := &ec2.DeleteInternetGatewayInput{InternetGatewayId: aws.String(gateway)}
	release := &ec2.ReleaseAddressInput{AllocationId: aws.String(address)}
	steps := []struct {
		name    string
		wrong   map[any]string // call to the code it is refused with
		right   any
		settles time.Duration
	}{
		{
			name: "the interface before its group and subnet",
			wrong: map[any]string{
				deleteGroup:   "DependencyViolation",
				deletePrivate: "DependencyViolation",
				&ec2.DeleteNetworkInterfaceInput{NetworkInterfaceId: natInterface}: "InvalidParameterValue",
			},
			right: &ec2.DeleteNetworkInterfaceInput{NetworkInterfaceId: own},
		},
		{name: "the group before the VPC", wrong: map[any]string{deleteVPC: "DependencyViolation"}, right: deleteGroup},
		{
			name:  "the association before the table",
			wrong: map[any]string{deleteTable: "DependencyViolation"},
			right: &ec2.DisassociateRouteTableInput{AssociationId: association},
		},
		{name: "the table before the VPC", wrong: map[any]string{deleteVPC: "DependencyViolation"}, right: deleteTable},
		{
			name: "the NAT gateway before its address, subnet and the gateway",
			wrong: map[any]string{
				release: "InvalidIPAddress.InUse", deletePublic: "DependencyViolation", detach: "DependencyViolation",
				deleteGateway: "DependencyViolation",
			},
			right: &ec2.DeleteNatGatewayInput{NatGatewayId: aws.String(nat)},
		},
		{
			name:    "until the NAT gateway is gone nothing has changed",
			wrong:   map[any]string{release: "AuthFailure", deletePublic: "DependencyViolation", detach: "DependencyViolation"},
			right:   &ec2.DescribeNatGatewaysInput{},
			settles: time.Second,
		},
		{name: "the address", right: release},
		{name: "detaching before deleting", wrong: map[any]string{deleteGateway: "DependencyViolation"}, right: detach},
		{name: "the gateway", right: deleteGateway},
		{name: "the public subnet", wrong: map[any]string{deleteVPC: "DependencyViolation"}, right: deletePublic},
		{name: "the private subnet", wrong: map[any]string{deleteVPC: "DependencyViolation"}, right: deletePrivate},
		{name: "the VPC", right: deleteVPC},
	}
	for _, step := range steps {
		for call, code := range step.wrong {
			_, err := a.do(call)
			if err == nil {
				t.Fatalf("%s: %T was not refused", step.name, call)
			}
			wantCode(t, err, code)
		}
		if _, err := a.do(step.right); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		a.pass(step.settles)
		a.restart()
	}
	if left := a.objects(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	a.refused(deleteVPC, "InvalidVpcID.NotFound")
	a.refused(deletePublic, "InvalidSubnetID.NotFound")
	a.refused(deleteGroup, "InvalidGroup.NotFound")
	a.refused(deleteTable, "InvalidRouteTableID.NotFound")
	a.refused(deleteGateway, "InvalidInternetGatewayID.NotFound")
	a.refused(release, "InvalidAllocationID.NotFound")
	a.refused(&ec2.DeleteNetworkInterfaceInput{NetworkInterfaceId: own}, "InvalidNetworkInterfaceID.NotFound")
}

// What a VPC is created with is there, is no object of its own, cannot be
// deleted, and goes with it.
func TestVPCImplies(t *testing.T) {
	a := newAccount(t, ec2sim.Options{})
	vpc := a.vpc("10.0.0.0/16")
	of := []types.Filter{filter("vpc-id", vpc)}
	implied := func() (tables []types.RouteTable, groups []types.SecurityGroup, acls []types.NetworkAcl) {
		return must[ec2.DescribeRouteTablesOutput](a, &ec2.DescribeRouteTablesInput{Filters: of}).RouteTables,
			must[ec2.DescribeSecurityGroupsOutput](a, &ec2.DescribeSecurityGroupsInput{Filters: of}).SecurityGroups,
			must[ec2.DescribeNetworkAclsOutput](a, &ec2.DescribeNetworkAclsInput{Filters: of}).NetworkAcls
	}
	tables, groups, acls := implied()
	if len(tables) != 1 || len(groups) != 1 || len(acls) != 1 {
		t.Fatalf("got %d tables, %d groups, %d ACLs, want one of each", len(tables), len(groups), len(acls))
	}
	if tags := len(tables[0].Tags) + len(groups[0].Tags) + len(acls[0].Tags); tags != 0 {
		t.Errorf("they have %d tags, want none", tags)
	}
	main := tables[0].Associations[0]
	if !*main.Main || *groups[0].GroupName != "default" || !*acls[0].IsDefault {
		t.Errorf("got %v %v %v, want the main table and the defaults", main, groups[0], acls[0])
	}
	a.refused(&ec2.DeleteRouteTableInput{RouteTableId: main.RouteTableId}, "DependencyViolation")
	a.refused(&ec2.DisassociateRouteTableInput{AssociationId: main.RouteTableAssociationId}, "InvalidParameterValue")
	a.refused(&ec2.DeleteSecurityGroupInput{GroupId: groups[0].GroupId}, "CannotDelete")
	if diff := cmp.Diff([]string{"vpc " + vpc}, a.objects()); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
	a.ok(&ec2.DeleteVpcInput{VpcId: aws.String(vpc)})
	tables, groups, acls = implied()
	if len(tables)+len(groups)+len(acls) != 0 {
		t.Errorf("left after the VPC: %v %v %v", tables, groups, acls)
	}
}

// Each thing in a VPC keeps it, alone.
func TestDeleteVPCIsBlocked(t *testing.T) {
	for name, block := range map[string]func(a *account, vpc string) (unblock any){
		"by a subnet": func(a *account, vpc string) any {
			return &ec2.DeleteSubnetInput{SubnetId: aws.String(a.subnet(vpc, home+"a", "10.0.0.0/20"))}
		},
		"by an internet gateway": func(a *account, vpc string) any {
			return &ec2.DetachInternetGatewayInput{InternetGatewayId: aws.String(a.gateway(vpc)), VpcId: aws.String(vpc)}
		},
		"by a route table": func(a *account, vpc string) any {
			return &ec2.DeleteRouteTableInput{RouteTableId: aws.String(a.table(vpc))}
		},
		"by a security group": func(a *account, vpc string) any {
			return &ec2.DeleteSecurityGroupInput{GroupId: aws.String(a.group(vpc, "node"))}
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAccount(t, ec2sim.Options{})
			vpc := a.vpc("10.0.0.0/16")
			unblock := block(a, vpc)
			a.refused(&ec2.DeleteVpcInput{VpcId: aws.String(vpc)}, "DependencyViolation")
			a.ok(unblock)
			a.ok(&ec2.DeleteVpcInput{VpcId: aws.String(vpc)})
		})
	}
}
