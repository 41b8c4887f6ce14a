package ec2sim

import (
	"net/netip"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// route leads to an internet gateway or to a NAT gateway.
type route struct {
	Destination  netip.Prefix
	Gateway, NAT string
}

// localGateway is the target of the route within the VPC that every table has.
const localGateway = "local"

func (s *Service) routeOperations() []service.Operation {
	return []service.Operation{
		write(s, "CreateRoute", (*place).createRoute, "RouteTableId", "DestinationCidrBlock", "GatewayId", "NatGatewayId"),
		write(s, "ReplaceRoute", (*place).replaceRoute, "RouteTableId", "DestinationCidrBlock", "GatewayId", "NatGatewayId"),
		write(s, "DeleteRoute", (*place).deleteRoute, "RouteTableId", "DestinationCidrBlock"),
	}
}

// routesOf lists a table's routes, the local ones first. A route whose target
// is gone stays and is a black hole.
func (p *place) routesOf(t *routeTable) []types.Route {
	var shown []types.Route
	for _, a := range p.VPCs[t.VPC].associations() {
		shown = append(shown, types.Route{
			DestinationCidrBlock: aws.String(a.CIDR.String()), GatewayId: aws.String(localGateway),
			Origin: types.RouteOriginCreateRouteTable, State: types.RouteStateActive,
		})
	}
	for _, r := range t.Routes {
		route := types.Route{
			DestinationCidrBlock: aws.String(r.Destination.String()), Origin: types.RouteOriginCreateRoute,
			State: types.RouteStateBlackhole,
		}
		if r.Gateway != "" {
			route.GatewayId = aws.String(r.Gateway)
			if g := p.InternetGateways[r.Gateway]; g != nil && g.VPC == t.VPC {
				route.State = types.RouteStateActive
			}
		} else {
			route.NatGatewayId = aws.String(r.NAT)
			if n := p.NATGateways[r.NAT]; n != nil && n.serves() {
				route.State = types.RouteStateActive
			}
		}
		shown = append(shown, route)
	}
	return shown
}

func (p *place) routeValues(t *routeTable, value func(types.Route) string) []string {
	var values []string
	for _, r := range p.routesOf(t) {
		values = append(values, value(r))
	}
	return values
}

// tableAndRoute looks up the table of a route call, and the index of its route
// with the destination or -1.
func (p *place) tableAndRoute(table, destination *string) (*routeTable, netip.Prefix, int, error) {
	t, err := get(routeTableKind, p.RouteTables, table)
	if err != nil {
		return nil, netip.Prefix{}, 0, err
	}
	if destination == nil {
		return nil, netip.Prefix{}, 0, missing("destinationCidrBlock")
	}
	cidr, err := netip.ParsePrefix(*destination)
	if err != nil || !cidr.Addr().Is4() {
		return nil, netip.Prefix{}, 0, invalid("Value (%s) for parameter destinationCidrBlock is invalid. This is not a valid CIDR block.", *destination)
	}
	cidr = cidr.Masked()
	return t, cidr, slices.IndexFunc(t.Routes, func(r *route) bool { return r.Destination == cidr }), nil
}

// target checks where a route of the table is to lead.
func (p *place) target(t *routeTable, gateway, nat *string) (*route, error) {
	switch {
	case gateway == nil && nat == nil:
		return nil, missing("gatewayId")
	case gateway != nil && nat != nil:
		return nil, service.Refuse("InvalidParameterCombination", "Only one target can be specified for a route")
	case nat != nil:
		n := p.NATGateways[*nat]
		if n == nil || !n.serves() {
			return nil, service.Refuse("InvalidNatGatewayID.NotFound", "The natGateway ID '%s' does not exist", *nat)
		}
		if n.VPC != t.VPC {
			return nil, invalid("route table %s and NAT gateway %s belong to different networks", t.ID, n.ID)
		}
		return &route{NAT: n.ID}, nil
	}
	g := p.InternetGateways[*gateway]
	if g == nil {
		return nil, service.Refuse("InvalidGatewayID.NotFound", "The gateway ID '%s' does not exist", *gateway)
	}
	if g.VPC != t.VPC {
		return nil, invalid("route table %s and network gateway %s belong to different networks", t.ID, g.ID)
	}
	return &route{Gateway: g.ID}, nil
}

func (p *place) createRoute(in *ec2.CreateRouteInput) (*ec2.CreateRouteOutput, error) {
	t, destination, at, err := p.tableAndRoute(in.RouteTableId, in.DestinationCidrBlock)
	if err != nil {
		return nil, err
	}
	if p.VPCs[t.VPC].holds(destination) {
		return nil, invalid("The destination CIDR block %s is equal to or more specific than one of this VPC's CIDR blocks. "+
			"This route can target only an interface or an instance.", destination)
	}
	if at >= 0 {
		return nil, service.Refuse("RouteAlreadyExists", "The route identified by %s already exists.", destination)
	}
	r, err := p.target(t, in.GatewayId, in.NatGatewayId)
	if err != nil {
		return nil, err
	}
	r.Destination = destination
	t.Routes = append(t.Routes, r)
	return &ec2.CreateRouteOutput{Return: aws.Bool(true)}, nil
}

func (p *place) replaceRoute(in *ec2.ReplaceRouteInput) (*ec2.ReplaceRouteOutput, error) {
	t, destination, at, err := p.tableAndRoute(in.RouteTableId, in.DestinationCidrBlock)
	if err != nil {
		return nil, err
	}
	if at < 0 {
		return nil, invalid("There is no route defined for '%s' in the route table. Use CreateRoute instead.", destination)
	}
	r, err := p.target(t, in.GatewayId, in.NatGatewayId)
	if err != nil {
		return nil, err
	}
	r.Destination = destination
	t.Routes[at] = r
	return &ec2.ReplaceRouteOutput{}, nil
}

func (p *place) deleteRoute(in *ec2.DeleteRouteInput) (*ec2.DeleteRouteOutput, error) {
	t, destination, at, err := p.tableAndRoute(in.RouteTableId, in.DestinationCidrBlock)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(p.VPCs[t.VPC].associations(), func(a cidrAssociation) bool { return a.CIDR == destination }) {
		return nil, invalid("cannot remove local route %s in route table %s", destination, t.ID)
	}
	if at < 0 {
		return nil, service.Refuse("InvalidRoute.NotFound", "no route with destination-cidr-block %s in route table %s", destination, t.ID)
	}
	t.Routes = slices.Delete(t.Routes, at, at+1)
	return &ec2.DeleteRouteOutput{}, nil
}
