package ec2sim

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

type internetGateway struct {
	header
	VPC string // empty while detached
}

var internetGatewayKind = kind{
	typ: "internet-gateway", prefix: "igw-", param: "internetGatewayId", absent: "The internetGateway ID '%s' does not exist",
	notFound: "InvalidInternetGatewayID.NotFound", malformed: "InvalidInternetGatewayId.Malformed",
}

// attachedState is what EC2 shows for an internet gateway that is attached.
const attachedState = "available"

var internetGateways = family[*internetGateway]{kind: internetGatewayKind, maxPage: largePage, fields: fields[*internetGateway]{
	tags: tagged[*internetGateway],
	by: map[string]func(*place, *internetGateway) []string{
		"attachment.state": func(_ *place, g *internetGateway) []string {
			if g.VPC == "" {
				return nil
			}
			return []string{attachedState}
		},
		"attachment.vpc-id":   one(func(g *internetGateway) string { return g.VPC }),
		"internet-gateway-id": one(func(g *internetGateway) string { return g.ID }),
		"owner-id":            owner[*internetGateway],
		"tag-key":             tagKeys[*internetGateway],
	},
}}

func (s *Service) internetGatewayOperations() []service.Operation {
	return []service.Operation{
		write(s, "CreateInternetGateway", (*place).createInternetGateway, "TagSpecifications"),
		read(s, "DescribeInternetGateways", (*place).describeInternetGateways, "InternetGatewayIds", "Filters", "MaxResults", "NextToken"),
		write(s, "AttachInternetGateway", (*place).attachInternetGateway, "InternetGatewayId", "VpcId"),
		write(s, "DetachInternetGateway", (*place).detachInternetGateway, "InternetGatewayId", "VpcId"),
		write(s, "DeleteInternetGateway", (*place).deleteInternetGateway, "InternetGatewayId"),
	}
}

func (p *place) createInternetGateway(in *ec2.CreateInternetGatewayInput) (*ec2.CreateInternetGatewayOutput, error) {
	tags, err := internetGatewayKind.tagsFor(in.TagSpecifications)
	if err != nil {
		return nil, err
	}
	g := &internetGateway{header: header{ID: p.newID("igw-"), Tags: tags}}
	p.InternetGateways[g.ID] = g
	return &ec2.CreateInternetGatewayOutput{InternetGateway: new(p.showInternetGateway(g))}, nil
}

func (p *place) showInternetGateway(g *internetGateway) types.InternetGateway {
	shown := types.InternetGateway{
		InternetGatewayId: aws.String(g.ID), OwnerId: aws.String(p.account()), Tags: g.Tags.list(),
	}
	if g.VPC != "" {
		shown.Attachments = []types.InternetGatewayAttachment{{VpcId: aws.String(g.VPC), State: attachedState}}
	}
	return shown
}

func (p *place) describeInternetGateways(in *ec2.DescribeInternetGatewaysInput) (*ec2.DescribeInternetGatewaysOutput, error) {
	found, next, err := internetGateways.list(p, p.InternetGateways,
		selection{in.InternetGatewayIds, in.Filters, in.MaxResults, in.NextToken})
	if err != nil {
		return nil, err
	}
	out := &ec2.DescribeInternetGatewaysOutput{NextToken: next}
	for _, g := range found {
		out.InternetGateways = append(out.InternetGateways, p.showInternetGateway(g))
	}
	return out, nil
}

// gatewayOf returns the internet gateway attached to the VPC, or nil.
func (p *place) gatewayOf(vpc string) *internetGateway {
	for _, g := range p.InternetGateways {
		if g.VPC == vpc {
			return g
		}
	}
	return nil
}

// attachInternetGateway tells a gateway that is taken from a VPC that has
// another: EC2 answers these with different codes.
func (p *place) attachInternetGateway(in *ec2.AttachInternetGatewayInput) (*ec2.AttachInternetGatewayOutput, error) {
	g, v, err := p.gatewayAndVPC(in.InternetGatewayId, in.VpcId)
	if err != nil {
		return nil, err
	}
	if g.VPC != "" {
		return nil, service.Refuse("Resource.AlreadyAssociated", "resource %s is already attached to network %s", g.ID, g.VPC)
	}
	if p.gatewayOf(v.ID) != nil {
		return nil, invalid("Network %s already has an internet gateway attached", v.ID)
	}
	g.VPC = v.ID
	return &ec2.AttachInternetGatewayOutput{}, nil
}

func (p *place) gatewayAndVPC(gatewayID, vpcID *string) (*internetGateway, *vpc, error) {
	g, err := get(internetGatewayKind, p.InternetGateways, gatewayID)
	if err != nil {
		return nil, nil, err
	}
	v, err := get(vpcKind, p.VPCs, vpcID)
	if err != nil {
		return nil, nil, err
	}
	return g, v, nil
}

func (p *place) detachInternetGateway(in *ec2.DetachInternetGatewayInput) (*ec2.DetachInternetGatewayOutput, error) {
	g, v, err := p.gatewayAndVPC(in.InternetGatewayId, in.VpcId)
	if err != nil {
		return nil, err
	}
	if g.VPC != v.ID {
		return nil, service.Refuse("Gateway.NotAttached", "resource %s is not attached to network %s", g.ID, v.ID)
	}
	for _, i := range p.Interfaces {
		if i.VPC == v.ID && p.publicIPOf(i).IsValid() {
			return nil, service.Refuse("DependencyViolation",
				"Network %s has some mapped public address(es). Please unmap those public address(es) before detaching the gateway.", v.ID)
		}
	}
	g.VPC = ""
	return &ec2.DetachInternetGatewayOutput{}, nil
}

func (p *place) deleteInternetGateway(in *ec2.DeleteInternetGatewayInput) (*ec2.DeleteInternetGatewayOutput, error) {
	g, err := get(internetGatewayKind, p.InternetGateways, in.InternetGatewayId)
	if err != nil {
		return nil, err
	}
	if g.VPC != "" {
		return nil, internetGatewayKind.inUse(g.ID)
	}
	delete(p.InternetGateways, g.ID)
	return &ec2.DeleteInternetGatewayOutput{}, nil
}
