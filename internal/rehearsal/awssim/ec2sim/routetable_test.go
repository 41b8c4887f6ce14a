package ec2sim_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/ec2sim"
)

func routesOf(a *account, table string) map[string]types.Route {
	a.t.Helper()
	routes := map[string]types.Route{}
	out := must[ec2.DescribeRouteTablesOutput](a, &ec2.DescribeRouteTablesInput{RouteTableIds: []string{table}})
	for _, r := range out.RouteTables[0].Routes {
		routes[*r.DestinationCidrBlock] = r
	}
	return routes
}

func TestRoutes(t *testing.T) {
	a := newAccount(t, ec2sim.Options{})
	vpc, elsewhere := a.vpc("10.0.0.0/16"), a.vpc("10.1.0.0/16")
	gateway, foreign := a.gateway(vpc), a.gateway(elsewhere)
	nat := a.nat(a.subnet(vpc, home+"a", "10.0.0.0/20"), a.address())
	table := aws.String(a.table(vpc))
	anywhere := aws.String("0.0.0.0/0")
	if local := routesOf(a, *table)["10.0.0.0/16"]; aws.ToString(local.GatewayId) != "local" {
		t.Errorf("a new table has %v for its VPC, want the local route", local)
	}
	a.refused(&ec2.CreateRouteInput{RouteTableId: table, DestinationCidrBlock: anywhere, GatewayId: aws.String("igw-00000000000000fff")}, "InvalidGatewayID.NotFound")
	a.refused(&ec2.CreateRouteInput{RouteTableId: table, DestinationCidrBlock: anywhere, NatGatewayId: aws.String("nat-00000000000000fff")}, "InvalidNatGatewayID.NotFound")
	a.refused(&ec2.CreateRouteInput{RouteTableId: table, DestinationCidrBlock: anywhere, GatewayId: aws.String(foreign)}, "InvalidParameterValue")
	a.refused(&ec2.CreateRouteInput{RouteTableId: table, DestinationCidrBlock: anywhere}, "MissingParameter")
	a.refused(&ec2.CreateRouteInput{RouteTableId: table, DestinationCidrBlock: aws.String("10.0.1.0/24"), GatewayId: aws.String(gateway)}, "InvalidParameterValue")
	a.refused(&ec2.ReplaceRouteInput{RouteTableId: table, DestinationCidrBlock: anywhere, GatewayId: aws.String(gateway)}, "InvalidParameterValue")
	a.refused(&ec2.CreateRouteInput{RouteTableId: aws.String("rtb-00000000000000fff"), DestinationCidrBlock: anywhere, GatewayId: aws.String(gateway)}, "InvalidRouteTableID.NotFound")

	create := &ec2.CreateRouteInput{RouteTableId: table, DestinationCidrBlock: anywhere, GatewayId: aws.String(gateway)}
	a.ok(create)
	a.refused(create, "RouteAlreadyExists")
	a.ok(&ec2.DetachInternetGatewayInput{InternetGatewayId: aws.String(foreign), VpcId: aws.String(elsewhere)})
	if got := routesOf(a, *table)["0.0.0.0/0"]; got.State != types.RouteStateActive {
		t.Errorf("route is %v, want active to %s", got, gateway)
	}
	a.ok(&ec2.ReplaceRouteInput{RouteTableId: table, DestinationCidrBlock: anywhere, NatGatewayId: aws.String(nat)})
	if got := routesOf(a, *table)["0.0.0.0/0"]; aws.ToString(got.NatGatewayId) != nat || got.GatewayId != nil || got.State != types.RouteStateActive {
		t.Errorf("route is %v, want active to %s", got, nat)
	}
	a.ok(&ec2.DeleteNatGatewayInput{NatGatewayId: aws.String(nat)})
	a.pass(2 * time.Hour)
	black := []types.Filter{filter("route.state", "blackhole"), filter("vpc-id", vpc)}
	if found := must[ec2.DescribeRouteTablesOutput](a, &ec2.DescribeRouteTablesInput{Filters: black}).RouteTables; len(found) != 1 {
		t.Errorf("%d tables have a black hole, want the one whose NAT gateway is gone", len(found))
	}
	a.ok(&ec2.DeleteRouteInput{RouteTableId: table, DestinationCidrBlock: anywhere})
	a.ok(create)
	a.ok(&ec2.DetachInternetGatewayInput{InternetGatewayId: aws.String(gateway), VpcId: aws.String(vpc)})
	if got := routesOf(a, *table)["0.0.0.0/0"]; got.State != types.RouteStateBlackhole {
		t.Errorf("route to a detached gateway is %s, want a black hole", got.State)
	}
	a.ok(&ec2.DeleteRouteInput{RouteTableId: table, DestinationCidrBlock: anywhere})
	a.refused(&ec2.DeleteRouteInput{RouteTableId: table, DestinationCidrBlock: anywhere}, "InvalidRoute.NotFound")
	a.refused(&ec2.DeleteRouteInput{RouteTableId: table, DestinationCidrBlock: aws.String("10.0.0.0/16")}, "InvalidParameterValue")
}

func TestRouteTableAssociations(t *testing.T) {
	a := newAccount(t, ec2sim.Options{})
	vpc := a.vpc("10.0.0.0/16")
	subnet := aws.String(a.subnet(vpc, home+"a", "10.0.0.0/20"))
	first, second := aws.String(a.table(vpc)), aws.String(a.table(vpc))
	associate := &ec2.AssociateRouteTableInput{RouteTableId: first, SubnetId: subnet}
	id := must[ec2.AssociateRouteTableOutput](a, associate).AssociationId
	if again := must[ec2.AssociateRouteTableOutput](a, associate).AssociationId; *again != *id {
		t.Errorf("repeated, the association is %s, not %s", *again, *id)
	}
	a.refused(&ec2.AssociateRouteTableInput{RouteTableId: second, SubnetId: subnet}, "Resource.AlreadyAssociated")
	foreign := a.subnet(a.vpc("10.1.0.0/16"), home+"a", "10.1.0.0/20")
	a.refused(&ec2.AssociateRouteTableInput{RouteTableId: first, SubnetId: aws.String(foreign)}, "InvalidParameterValue")
	a.refused(&ec2.DisassociateRouteTableInput{AssociationId: aws.String("rtbassoc-00000000000000fff")}, "InvalidAssociationID.NotFound")
	bySubnet := &ec2.DescribeRouteTablesInput{Filters: []types.Filter{filter("association.subnet-id", *subnet)}}
	if found := must[ec2.DescribeRouteTablesOutput](a, bySubnet).RouteTables; len(found) != 1 || *found[0].RouteTableId != *first {
		t.Errorf("by subnet: %v", found)
	}
	main := &ec2.DescribeRouteTablesInput{Filters: []types.Filter{filter("association.main", "true"), filter("vpc-id", vpc)}}
	if found := must[ec2.DescribeRouteTablesOutput](a, main).RouteTables; len(found) != 1 || *found[0].RouteTableId == *first {
		t.Errorf("main: %v", found)
	}
	a.ok(&ec2.DeleteSubnetInput{SubnetId: subnet})
	a.ok(&ec2.DeleteRouteTableInput{RouteTableId: first})
	token := &ec2.CreateRouteTableInput{VpcId: aws.String(vpc), ClientToken: aws.String("token")}
	made, again := must[ec2.CreateRouteTableOutput](a, token).RouteTable, must[ec2.CreateRouteTableOutput](a, token).RouteTable
	if *made.RouteTableId != *again.RouteTableId {
		t.Error("the same token made two tables")
	}
}
