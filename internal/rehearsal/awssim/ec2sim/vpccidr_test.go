package ec2sim_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"

	"github.com/krops-go/krops/internal/rehearsal/awssim/ec2sim"
)

func TestAVPCCanHaveMoreBlocks(t *testing.T) {
	a := newAccount(t, ec2sim.Options{})
	vpc := a.vpc("10.0.0.0/16")
	add := &ec2.AssociateVpcCidrBlockInput{VpcId: &vpc, CidrBlock: aws.String("100.64.0.0/16")}
	added := must[ec2.AssociateVpcCidrBlockOutput](a, add).CidrBlockAssociation
	blocks := func() []string {
		var list []string
		for _, b := range must[ec2.DescribeVpcsOutput](a, &ec2.DescribeVpcsInput{
			Filters: []types.Filter{filter("cidr-block-association.cidr-block", "10.0.0.0/16")},
		}).Vpcs[0].CidrBlockAssociationSet {
			list = append(list, *b.CidrBlock)
		}
		return list
	}
	if diff := cmp.Diff([]string{"10.0.0.0/16", "100.64.0.0/16"}, blocks()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	a.restart()
	routes := must[ec2.DescribeRouteTablesOutput](a, &ec2.DescribeRouteTablesInput{}).RouteTables[0].Routes
	if len(routes) != 2 || *routes[1].DestinationCidrBlock != "100.64.0.0/16" || *routes[1].GatewayId != "local" {
		t.Errorf("routes are %+v", routes)
	}

	a.refused(add, "CidrConflict")
	a.refused(&ec2.AssociateVpcCidrBlockInput{VpcId: &vpc, CidrBlock: aws.String("10.1.0.0/8")}, "InvalidVpc.Range")
	subnet := a.subnet(vpc, "eu-north-1a", "100.64.1.0/24")
	drop := &ec2.DisassociateVpcCidrBlockInput{AssociationId: added.AssociationId}
	a.refused(drop, "InvalidCidr.InUse")
	a.ok(&ec2.DeleteSubnetInput{SubnetId: &subnet})
	a.ok(drop)
	a.refused(drop, "InvalidVpcCidrBlockAssociationID.NotFound")
	primary := must[ec2.DescribeVpcsOutput](a, &ec2.DescribeVpcsInput{}).Vpcs[0].CidrBlockAssociationSet[0].AssociationId
	a.refused(&ec2.DisassociateVpcCidrBlockInput{AssociationId: primary}, "OperationNotPermitted")
	for _, block := range []string{"100.64.0.0/16", "100.65.0.0/16", "100.66.0.0/16", "100.67.0.0/16"} {
		a.ok(&ec2.AssociateVpcCidrBlockInput{VpcId: &vpc, CidrBlock: aws.String(block)})
	}
	a.refused(&ec2.AssociateVpcCidrBlockInput{VpcId: &vpc, CidrBlock: aws.String("100.68.0.0/16")}, "CidrLimitExceeded")
}

func TestATableCanReplaceAnother(t *testing.T) {
	a := newAccount(t, ec2sim.Options{})
	vpc := a.vpc("10.0.0.0/16")
	subnet := a.subnet(vpc, "eu-north-1a", "10.0.0.0/24")
	first, second := a.table(vpc), a.table(vpc)
	association := *must[ec2.AssociateRouteTableOutput](a, &ec2.AssociateRouteTableInput{RouteTableId: &first, SubnetId: &subnet}).AssociationId
	replaced := *must[ec2.ReplaceRouteTableAssociationOutput](a, &ec2.ReplaceRouteTableAssociationInput{
		AssociationId: &association, RouteTableId: &second,
	}).NewAssociationId
	a.ok(&ec2.DeleteRouteTableInput{RouteTableId: &first})
	a.refused(&ec2.DeleteRouteTableInput{RouteTableId: &second}, "DependencyViolation")
	a.refused(&ec2.DisassociateRouteTableInput{AssociationId: &association}, "InvalidAssociationID.NotFound")
	a.ok(&ec2.DisassociateRouteTableInput{AssociationId: &replaced})

	main := must[ec2.DescribeRouteTablesOutput](a, &ec2.DescribeRouteTablesInput{Filters: []types.Filter{filter("association.main", "true")}}).RouteTables[0]
	a.ok(&ec2.ReplaceRouteTableAssociationInput{AssociationId: main.Associations[0].RouteTableAssociationId, RouteTableId: &second})
	a.refused(&ec2.DeleteRouteTableInput{RouteTableId: &second}, "DependencyViolation")
	a.ok(&ec2.DeleteRouteTableInput{RouteTableId: main.RouteTableId})
}
