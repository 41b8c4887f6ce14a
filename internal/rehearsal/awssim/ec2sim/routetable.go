package ec2sim

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

type routeTable struct {
	header
	VPC          string
	Main         string // association that makes it the VPC's main table, else empty
	Associations []tableAssociation
	Routes       []*route // without the local one
	Token        string   // of the request that created it
}

// tableAssociation makes a subnet use a table in place of the main one.
type tableAssociation struct {
	ID, Subnet string
}

var routeTableKind = kind{
	typ: "route-table", prefix: "rtb-", param: "routeTableId", absent: "The routeTable ID '%s' does not exist",
	notFound: "InvalidRouteTableID.NotFound", malformed: "InvalidRouteTableId.Malformed",
}

var routeTables = family[*routeTable]{kind: routeTableKind, maxPage: smallPage, fields: fields[*routeTable]{
	tags: tagged[*routeTable],
	by: map[string]func(*place, *routeTable) []string{
		"association.main": func(_ *place, t *routeTable) []string {
			var mains []string
			if t.isMain() {
				mains = append(mains, "true")
			}
			if len(t.Associations) > 0 {
				mains = append(mains, "false")
			}
			return mains
		},
		"association.route-table-association-id": func(_ *place, t *routeTable) []string {
			ids := []string{t.Main}
			for _, a := range t.Associations {
				ids = append(ids, a.ID)
			}
			return ids
		},
		"association.route-table-id": func(_ *place, t *routeTable) []string {
			if !t.isMain() && len(t.Associations) == 0 {
				return nil
			}
			return []string{t.ID}
		},
		"association.subnet-id": func(_ *place, t *routeTable) []string {
			var ids []string
			for _, a := range t.Associations {
				ids = append(ids, a.Subnet)
			}
			return ids
		},
		"owner-id":       owner[*routeTable],
		"route-table-id": one(func(t *routeTable) string { return t.ID }),
		"route.destination-cidr-block": func(p *place, t *routeTable) []string {
			return p.routeValues(t, func(r types.Route) string { return aws.ToString(r.DestinationCidrBlock) })
		},
		"route.gateway-id": func(p *place, t *routeTable) []string {
			return p.routeValues(t, func(r types.Route) string { return aws.ToString(r.GatewayId) })
		},
		"route.nat-gateway-id": func(p *place, t *routeTable) []string {
			return p.routeValues(t, func(r types.Route) string { return aws.ToString(r.NatGatewayId) })
		},
		"route.origin": func(p *place, t *routeTable) []string {
			return p.routeValues(t, func(r types.Route) string { return string(r.Origin) })
		},
		"route.state": func(p *place, t *routeTable) []string {
			return p.routeValues(t, func(r types.Route) string { return string(r.State) })
		},
		"tag-key": tagKeys[*routeTable],
		"vpc-id":  one(func(t *routeTable) string { return t.VPC }),
	},
}}

func (s *Service) routeTableOperations() []service.Operation {
	return []service.Operation{
		write(s, "CreateRouteTable", (*place).createRouteTable, "VpcId", "ClientToken", "TagSpecifications"),
		read(s, "DescribeRouteTables", (*place).describeRouteTables, "RouteTableIds", "Filters", "MaxResults", "NextToken"),
		write(s, "AssociateRouteTable", (*place).associateRouteTable, "RouteTableId", "SubnetId"),
		write(s, "DisassociateRouteTable", (*place).disassociateRouteTable, "AssociationId"),
		write(s, "ReplaceRouteTableAssociation", (*place).replaceRouteTableAssociation, "AssociationId", "RouteTableId"),
		write(s, "DeleteRouteTable", (*place).deleteRouteTable, "RouteTableId"),
	}
}

func (t *routeTable) isMain() bool { return t.Main != "" }

// disassociateSubnet ends the table's association with the subnet, if any.
func (t *routeTable) disassociateSubnet(subnet string) {
	t.Associations = slices.DeleteFunc(t.Associations, func(a tableAssociation) bool { return a.Subnet == subnet })
}

func (p *place) addRouteTable(v *vpc, main, token string, tags tags) *routeTable {
	t := &routeTable{header: header{ID: p.newID("rtb-"), Tags: tags}, VPC: v.ID, Main: main, Token: token}
	p.RouteTables[t.ID] = t
	return t
}

func (p *place) createRouteTable(in *ec2.CreateRouteTableInput) (*ec2.CreateRouteTableOutput, error) {
	v, err := get(vpcKind, p.VPCs, in.VpcId)
	if err != nil {
		return nil, err
	}
	tags, err := routeTableKind.tagsFor(in.TagSpecifications)
	if err != nil {
		return nil, err
	}
	token := aws.ToString(in.ClientToken)
	for _, t := range p.RouteTables {
		if token == "" || t.Token != token {
			continue
		}
		if t.VPC != v.ID {
			return nil, tokenReused(token)
		}
		return &ec2.CreateRouteTableOutput{ClientToken: in.ClientToken, RouteTable: new(p.showRouteTable(t))}, nil
	}
	t := p.addRouteTable(v, "", token, tags)
	return &ec2.CreateRouteTableOutput{ClientToken: in.ClientToken, RouteTable: new(p.showRouteTable(t))}, nil
}

func (p *place) showRouteTable(t *routeTable) types.RouteTable {
	shown := types.RouteTable{
		RouteTableId: aws.String(t.ID), VpcId: aws.String(t.VPC), OwnerId: aws.String(p.account()),
		Routes: p.routesOf(t), Tags: t.Tags.list(),
	}
	associated := &types.RouteTableAssociationState{State: types.RouteTableAssociationStateCodeAssociated}
	if t.isMain() {
		shown.Associations = append(shown.Associations, types.RouteTableAssociation{
			RouteTableAssociationId: aws.String(t.Main), RouteTableId: aws.String(t.ID), Main: aws.Bool(true),
			AssociationState: associated,
		})
	}
	for _, a := range t.Associations {
		shown.Associations = append(shown.Associations, types.RouteTableAssociation{
			RouteTableAssociationId: aws.String(a.ID), RouteTableId: aws.String(t.ID), SubnetId: aws.String(a.Subnet),
			Main: aws.Bool(false), AssociationState: associated,
		})
	}
	return shown
}

func (p *place) describeRouteTables(in *ec2.DescribeRouteTablesInput) (*ec2.DescribeRouteTablesOutput, error) {
	found, next, err := routeTables.list(p, p.RouteTables, selection{in.RouteTableIds, in.Filters, in.MaxResults, in.NextToken})
	if err != nil {
		return nil, err
	}
	out := &ec2.DescribeRouteTablesOutput{NextToken: next}
	for _, t := range found {
		out.RouteTables = append(out.RouteTables, p.showRouteTable(t))
	}
	return out, nil
}

// associateRouteTable answers a repetition with the association that exists; a
// subnet of another table has to be disassociated first.
func (p *place) associateRouteTable(in *ec2.AssociateRouteTableInput) (*ec2.AssociateRouteTableOutput, error) {
	t, err := get(routeTableKind, p.RouteTables, in.RouteTableId)
	if err != nil {
		return nil, err
	}
	s, err := get(subnetKind, p.Subnets, in.SubnetId)
	if err != nil {
		return nil, err
	}
	if s.VPC != t.VPC {
		return nil, invalid("Route table %s and subnet %s belong to different networks", t.ID, s.ID)
	}
	out := &ec2.AssociateRouteTableOutput{
		AssociationState: &types.RouteTableAssociationState{State: types.RouteTableAssociationStateCodeAssociated},
	}
	for _, other := range p.RouteTables {
		for _, a := range other.Associations {
			switch {
			case a.Subnet != s.ID:
			case other == t:
				out.AssociationId = aws.String(a.ID)
				return out, nil
			default:
				return nil, service.Refuse("Resource.AlreadyAssociated",
					"the specified association for route table %s conflicts with an existing association", t.ID)
			}
		}
	}
	a := tableAssociation{ID: p.newID("rtbassoc-"), Subnet: s.ID}
	t.Associations = append(t.Associations, a)
	out.AssociationId = aws.String(a.ID)
	return out, nil
}

func (p *place) disassociateRouteTable(in *ec2.DisassociateRouteTableInput) (*ec2.DisassociateRouteTableOutput, error) {
	if in.AssociationId == nil {
		return nil, missing("associationId")
	}
	for _, t := range p.RouteTables {
		if t.isMain() && t.Main == *in.AssociationId {
			return nil, invalid("cannot disassociate the main route table association %s", t.Main)
		}
		for _, a := range t.Associations {
			if a.ID == *in.AssociationId {
				t.disassociateSubnet(a.Subnet)
				return &ec2.DisassociateRouteTableOutput{}, nil
			}
		}
	}
	return nil, service.Refuse("InvalidAssociationID.NotFound", "The association ID '%s' does not exist", *in.AssociationId)
}

// replaceRouteTableAssociation makes a subnet use another table, or another
// table the main one; the association gets a new id (EC2 API,
// ReplaceRouteTableAssociation).
func (p *place) replaceRouteTableAssociation(in *ec2.ReplaceRouteTableAssociationInput) (*ec2.ReplaceRouteTableAssociationOutput, error) {
	if in.AssociationId == nil {
		return nil, missing("associationId")
	}
	t, err := get(routeTableKind, p.RouteTables, in.RouteTableId)
	if err != nil {
		return nil, err
	}
	for _, old := range sorted(p.RouteTables) {
		at := slices.IndexFunc(old.Associations, func(a tableAssociation) bool { return a.ID == *in.AssociationId })
		isMain := old.isMain() && old.Main == *in.AssociationId
		if at < 0 && !isMain {
			continue
		}
		if old.VPC != t.VPC {
			return nil, invalid("Route table %s and association %s belong to different networks", t.ID, *in.AssociationId)
		}
		id := p.newID("rtbassoc-")
		if isMain {
			old.Main = ""
			t.Main = id
		} else {
			subnet := old.Associations[at].Subnet
			old.disassociateSubnet(subnet)
			t.Associations = append(t.Associations, tableAssociation{ID: id, Subnet: subnet})
		}
		return &ec2.ReplaceRouteTableAssociationOutput{
			NewAssociationId: aws.String(id),
			AssociationState: &types.RouteTableAssociationState{State: types.RouteTableAssociationStateCodeAssociated},
		}, nil
	}
	return nil, service.Refuse("InvalidAssociationID.NotFound", "The association ID '%s' does not exist", *in.AssociationId)
}

func (p *place) deleteRouteTable(in *ec2.DeleteRouteTableInput) (*ec2.DeleteRouteTableOutput, error) {
	t, err := get(routeTableKind, p.RouteTables, in.RouteTableId)
	if err != nil {
		return nil, err
	}
	if t.isMain() || len(t.Associations) > 0 {
		return nil, routeTableKind.inUse(t.ID)
	}
	delete(p.RouteTables, t.ID)
	return &ec2.DeleteRouteTableOutput{}, nil
}
