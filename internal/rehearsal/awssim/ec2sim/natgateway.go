package ec2sim

import (
	"net/netip"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

type natGateway struct {
	header
	VPC, Subnet, Zone, ZoneID string
	Allocation, Association   string
	PublicIP                  netip.Addr
	Interface                 string // empty if the gateway is about to fail
	PrivateIP                 netip.Addr
	State                     types.NatGatewayState
	FailureCode               string // set from the start, shown once it has failed
	FailureMessage            string
	Token                     string // of the request that created it
	CreatedAt, DeletedAt      time.Time
	ChangeAt                  time.Time // of the next change of state; zero if there is none
}

var natGatewayKind = kind{
	typ: "natgateway", prefix: "nat-", param: "natGatewayId", absent: "NAT gateway %s was not found",
	notFound: "NatGatewayNotFound", malformed: "NatGatewayMalformed",
}

var natGateways = family[*natGateway]{kind: natGatewayKind, maxPage: largePage, fields: fields[*natGateway]{
	tags: tagged[*natGateway],
	by: map[string]func(*place, *natGateway) []string{
		"nat-gateway-id": one(func(n *natGateway) string { return n.ID }),
		"state":          one(func(n *natGateway) string { return string(n.State) }),
		"subnet-id":      one(func(n *natGateway) string { return n.Subnet }),
		"tag-key":        tagKeys[*natGateway],
		"vpc-id":         one(func(n *natGateway) string { return n.VPC }),
	},
}}

func (s *Service) natGatewayOperations() []service.Operation {
	return []service.Operation{
		write(s, "CreateNatGateway", (*place).createNATGateway,
			"SubnetId", "AllocationId", "ClientToken", "ConnectivityType", "TagSpecifications"),
		read(s, "DescribeNatGateways", (*place).describeNATGateways, "NatGatewayIds", "Filter", "MaxResults", "NextToken"),
		write(s, "DeleteNatGateway", (*place).deleteNATGateway, "NatGatewayId"),
	}
}

// serves reports whether the gateway forwards traffic or soon will.
func (n *natGateway) serves() bool {
	return n.State == types.NatGatewayStatePending || n.State == types.NatGatewayStateAvailable
}

func (r *RegionState) natGatewayOf(e *elasticIP) *natGateway {
	for _, n := range r.NATGateways {
		if n.Association != "" && n.Association == e.Association {
			return n
		}
	}
	return nil
}

// settleNAT applies the gateway's next change of state if it is due.
func (r *RegionState) settleNAT(n *natGateway, next *earliest, timing Timing) {
	if n.ChangeAt.IsZero() || !next.due(n.ChangeAt) {
		return
	}
	switch n.State {
	case types.NatGatewayStatePending:
		if n.FailureCode == "" {
			n.State, n.ChangeAt = types.NatGatewayStateAvailable, time.Time{}
			return
		}
		n.State = types.NatGatewayStateFailed
	case types.NatGatewayStateDeleting:
		if i := r.Interfaces[n.Interface]; i != nil {
			r.removeInterface(i)
		}
		n.State = types.NatGatewayStateDeleted
	default:
		delete(r.NATGateways, n.ID)
		return
	}
	// What ended stays visible for about an hour (VPC User Guide, "Work with
	// NAT gateways").
	n.ChangeAt = next.now.Add(timing.Remembered)
	next.due(n.ChangeAt)
}

// createNATGateway takes the address and makes the interface at once. A NAT
// gateway that cannot work is created all the same and fails a little later
// (VPC User Guide, "NAT gateway creation fails").
func (p *place) createNATGateway(in *ec2.CreateNatGatewayInput) (*ec2.CreateNatGatewayOutput, error) {
	if in.ConnectivityType == types.ConnectivityTypePrivate {
		return nil, service.Refuse("UnsupportedOperation", "Private NAT gateways are not simulated")
	}
	if in.SubnetId == nil {
		return nil, missing(subnetKind.param)
	}
	if in.AllocationId == nil {
		return nil, missing(elasticIPKind.param)
	}
	tags, err := natGatewayKind.tagsFor(in.TagSpecifications)
	if err != nil {
		return nil, err
	}
	token := aws.ToString(in.ClientToken)
	for _, n := range p.NATGateways {
		if token == "" || n.Token != token {
			continue
		}
		if n.Subnet != *in.SubnetId || n.Allocation != *in.AllocationId {
			return nil, tokenReused(token)
		}
		return &ec2.CreateNatGatewayOutput{ClientToken: in.ClientToken, NatGateway: new(p.showNATGateway(n))}, nil
	}
	s := p.Subnets[*in.SubnetId]
	if s == nil {
		return nil, service.Refuse("InvalidSubnet", "Subnet %s was not found", *in.SubnetId)
	}
	e, err := get(elasticIPKind, p.ElasticIPs, in.AllocationId)
	if err != nil {
		return nil, err
	}
	if p.natGatewaysIn(s.Zone) >= p.quota(NATQuota) {
		return nil, service.Refuse("NatGatewayLimitExceeded", "The maximum number of NAT Gateways has been reached.")
	}
	n := &natGateway{
		header: header{ID: p.newID("nat-"), Tags: tags}, VPC: s.VPC, Subnet: s.ID, Zone: s.Zone, ZoneID: s.ZoneID,
		Allocation: e.ID, State: types.NatGatewayStatePending, Token: token, CreatedAt: p.now(),
		ChangeAt: p.now().Add(p.sim.timing.NATCreate),
	}
	p.NATGateways[n.ID] = n
	p.connectNAT(n, s, e)
	return &ec2.CreateNatGatewayOutput{ClientToken: in.ClientToken, NatGateway: new(p.showNATGateway(n))}, nil
}

// connectNAT gives a new gateway its interface and address, or the reason why
// it will fail.
func (p *place) connectNAT(n *natGateway, s *subnet, e *elasticIP) {
	switch {
	case p.gatewayOf(s.VPC) == nil:
		n.FailureCode, n.FailureMessage = "Gateway.NotAttached", "Network "+s.VPC+" has no Internet gateway attached"
		return
	case e.Association != "":
		n.FailureCode, n.FailureMessage = "Resource.AlreadyAssociated", "Elastic IP address ["+e.ID+"] is already associated"
		return
	}
	i, err := p.addInterface(s, networkInterface{
		Description: "Interface for NAT Gateway " + n.ID, Type: natInterface, Requester: natRequester,
		Attachment: p.newID("ela-attach-"),
	})
	if err != nil {
		n.FailureCode = "InsufficientFreeAddressesInSubnet"
		n.FailureMessage = "Subnet has insufficient free addresses to create this NAT gateway"
		return
	}
	e.Association, e.Interface = p.newID("eipassoc-"), i.ID
	n.Interface, n.PrivateIP = i.ID, i.PrivateIP
	n.Association, n.PublicIP = e.Association, e.PublicIP
}

func tokenReused(token string) error {
	return service.Refuse("IdempotentParameterMismatch", "The client token '%s' was used before with other parameters", token)
}

// natGatewaysIn counts the gateways that the zone's quota covers (VPC User
// Guide, "Amazon VPC quotas": pending, active and deleting ones).
func (p *place) natGatewaysIn(zone string) int {
	count := 0
	for _, n := range p.NATGateways {
		if n.Zone == zone && (n.serves() || n.State == types.NatGatewayStateDeleting) {
			count++
		}
	}
	return count
}

func (p *place) showNATGateway(n *natGateway) types.NatGateway {
	address := types.NatGatewayAddress{
		AllocationId: aws.String(n.Allocation), IsPrimary: aws.Bool(true),
		AvailabilityZone: aws.String(n.Zone), AvailabilityZoneId: aws.String(n.ZoneID),
	}
	if n.Interface != "" {
		address.AssociationId = aws.String(n.Association)
		address.NetworkInterfaceId = aws.String(n.Interface)
		address.PrivateIp = aws.String(n.PrivateIP.String())
		address.PublicIp = aws.String(n.PublicIP.String())
		address.Status = types.NatGatewayAddressStatusSucceeded
	}
	shown := types.NatGateway{
		NatGatewayId: aws.String(n.ID), VpcId: aws.String(n.VPC), SubnetId: aws.String(n.Subnet), State: n.State,
		NatGatewayAddresses: []types.NatGatewayAddress{address}, ConnectivityType: types.ConnectivityTypePublic,
		AvailabilityMode: types.AvailabilityModeZonal,
		CreateTime:       aws.Time(n.CreatedAt), Tags: n.Tags.list(),
	}
	if n.State == types.NatGatewayStateFailed {
		shown.FailureCode, shown.FailureMessage = aws.String(n.FailureCode), aws.String(n.FailureMessage)
	}
	if !n.DeletedAt.IsZero() {
		shown.DeleteTime = aws.Time(n.DeletedAt)
	}
	return shown
}

// describeNATGateways holds a question about certain gateways back while one
// of them is being deleted, and any question of a waiter while one changes.
func (p *place) describeNATGateways(in *ec2.DescribeNatGatewaysInput) (*ec2.DescribeNatGatewaysOutput, error) {
	underWay := func(n *natGateway) bool {
		switch n.State {
		case types.NatGatewayStatePending:
			return p.call.Waiter
		case types.NatGatewayStateDeleting:
			return p.call.Waiter || len(in.NatGatewayIds) > 0
		}
		return false
	}
	found, next, err := settled(p, underWay, func() ([]*natGateway, *string, error) {
		return natGateways.list(p, p.NATGateways, selection{in.NatGatewayIds, in.Filter, in.MaxResults, in.NextToken})
	})
	if err != nil {
		return nil, err
	}
	out := &ec2.DescribeNatGatewaysOutput{NextToken: next}
	for _, n := range found {
		out.NatGateways = append(out.NatGateways, p.showNATGateway(n))
	}
	return out, nil
}

// deleteNATGateway succeeds again for a gateway that is on its way or gone.
func (p *place) deleteNATGateway(in *ec2.DeleteNatGatewayInput) (*ec2.DeleteNatGatewayOutput, error) {
	n, err := get(natGatewayKind, p.NATGateways, in.NatGatewayId)
	if err != nil {
		return nil, err
	}
	if n.State != types.NatGatewayStateDeleting && n.State != types.NatGatewayStateDeleted {
		n.State = types.NatGatewayStateDeleting
		n.DeletedAt = p.now()
		n.ChangeAt = p.now().Add(p.sim.timing.NATDelete)
	}
	return &ec2.DeleteNatGatewayOutput{NatGatewayId: aws.String(n.ID)}, nil
}
