package ec2sim

import (
	"net/netip"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

type vpc struct {
	header
	CIDR         netip.Prefix
	Association  string            // of the CIDR block
	Secondary    []cidrAssociation `json:",omitempty"`
	DNSHostnames bool
	DNSSupport   bool
	UsageMetrics bool
	ReadyAt      time.Time
}

var vpcKind = kind{
	typ: "vpc", prefix: "vpc-", param: "vpcId", absent: "The vpc ID '%s' does not exist",
	notFound: "InvalidVpcID.NotFound", malformed: "InvalidVpcID.Malformed",
}

var vpcs = family[*vpc]{kind: vpcKind, maxPage: largePage, fields: fields[*vpc]{
	tags: tagged[*vpc],
	by: map[string]func(*place, *vpc) []string{
		"cidr": one(func(v *vpc) string { return v.CIDR.String() }),
		"cidr-block-association.association-id": func(_ *place, v *vpc) []string {
			return v.values(func(a cidrAssociation) string { return a.ID })
		},
		"cidr-block-association.cidr-block": func(_ *place, v *vpc) []string {
			return v.values(func(a cidrAssociation) string { return a.CIDR.String() })
		},
		"cidr-block-association.state": always[*vpc](string(types.VpcCidrBlockStateCodeAssociated)),
		"dhcp-options-id":              always[*vpc](dhcpOptions),
		"is-default":                   always[*vpc]("false"),
		"owner-id":                     owner[*vpc],
		"state":                        func(p *place, v *vpc) []string { return []string{string(p.vpcState(v))} },
		"tag-key":                      tagKeys[*vpc],
		"vpc-id":                       one(func(v *vpc) string { return v.ID }),
	},
}}

// dhcpOptions is the set every VPC has; sets are not modelled.
const dhcpOptions = "default"

func (s *Service) vpcOperations() []service.Operation {
	return []service.Operation{
		write(s, "CreateVpc", (*place).createVPC, "CidrBlock", "InstanceTenancy", "AmazonProvidedIpv6CidrBlock", "TagSpecifications"),
		read(s, "DescribeVpcs", (*place).describeVPCs, "VpcIds", "Filters", "MaxResults", "NextToken"),
		read(s, "DescribeVpcAttribute", (*place).describeVPCAttribute, "VpcId", "Attribute"),
		write(s, "ModifyVpcAttribute", (*place).modifyVPCAttribute,
			"VpcId", "EnableDnsHostnames", "EnableDnsSupport", "EnableNetworkAddressUsageMetrics"),
		write(s, "DeleteVpc", (*place).deleteVPC, "VpcId"),
	}
}

// createVPC also makes what every VPC has from the start: the main route
// table, the default security group and the default network ACL, all untagged.
func (p *place) createVPC(in *ec2.CreateVpcInput) (*ec2.CreateVpcOutput, error) {
	if in.CidrBlock == nil {
		return nil, missing("cidrBlock")
	}
	cidr, err := parseCIDR(*in.CidrBlock, "InvalidVpc.Range")
	if err != nil {
		return nil, err
	}
	if in.InstanceTenancy != "" && in.InstanceTenancy != types.TenancyDefault {
		return nil, service.Refuse("UnsupportedOperation", "Instance tenancy '%s' is not simulated", in.InstanceTenancy)
	}
	if aws.ToBool(in.AmazonProvidedIpv6CidrBlock) {
		return nil, service.Refuse("UnsupportedOperation", "IPv6 CIDR blocks are not simulated")
	}
	tags, err := vpcKind.tagsFor(in.TagSpecifications)
	if err != nil {
		return nil, err
	}
	if len(p.VPCs) >= p.quota(VPCQuota) {
		return nil, service.Refuse("VpcLimitExceeded", "The maximum number of VPCs has been reached.")
	}
	v := &vpc{
		header: header{ID: p.newID("vpc-"), Tags: tags}, CIDR: cidr, Association: p.newID("vpc-cidr-assoc-"),
		DNSSupport: true, ReadyAt: p.now().Add(p.sim.timing.VPC),
	}
	p.VPCs[v.ID] = v
	p.addRouteTable(v, p.newID("rtbassoc-"), "", nil)
	p.addDefaultGroup(v)
	p.addDefaultACL(v)
	return &ec2.CreateVpcOutput{Vpc: new(p.showVPC(v))}, nil
}

func (p *place) vpcState(v *vpc) types.VpcState {
	if p.now().Before(v.ReadyAt) {
		return types.VpcStatePending
	}
	return types.VpcStateAvailable
}

func (p *place) showVPC(v *vpc) types.Vpc {
	var blocks []types.VpcCidrBlockAssociation
	for _, a := range v.associations() {
		blocks = append(blocks, a.show(types.VpcCidrBlockStateCodeAssociated))
	}
	return types.Vpc{
		VpcId: aws.String(v.ID), CidrBlock: aws.String(v.CIDR.String()), State: p.vpcState(v),
		CidrBlockAssociationSet: blocks,
		DhcpOptionsId:           aws.String(dhcpOptions), InstanceTenancy: types.TenancyDefault,
		IsDefault: aws.Bool(false), OwnerId: aws.String(p.account()), Tags: v.Tags.list(),
	}
}

func (p *place) describeVPCs(in *ec2.DescribeVpcsInput) (*ec2.DescribeVpcsOutput, error) {
	underWay := func(v *vpc) bool { return p.call.Waiter && p.vpcState(v) == types.VpcStatePending }
	found, next, err := settled(p, underWay, func() ([]*vpc, *string, error) {
		return vpcs.list(p, p.VPCs, selection{in.VpcIds, in.Filters, in.MaxResults, in.NextToken})
	})
	if err != nil {
		return nil, err
	}
	out := &ec2.DescribeVpcsOutput{NextToken: next}
	for _, v := range found {
		out.Vpcs = append(out.Vpcs, p.showVPC(v))
	}
	return out, nil
}

func (p *place) describeVPCAttribute(in *ec2.DescribeVpcAttributeInput) (*ec2.DescribeVpcAttributeOutput, error) {
	v, err := get(vpcKind, p.VPCs, in.VpcId)
	if err != nil {
		return nil, err
	}
	out := &ec2.DescribeVpcAttributeOutput{VpcId: aws.String(v.ID)}
	switch in.Attribute {
	case types.VpcAttributeNameEnableDnsHostnames:
		out.EnableDnsHostnames = &types.AttributeBooleanValue{Value: aws.Bool(v.DNSHostnames)}
	case types.VpcAttributeNameEnableDnsSupport:
		out.EnableDnsSupport = &types.AttributeBooleanValue{Value: aws.Bool(v.DNSSupport)}
	case types.VpcAttributeNameEnableNetworkAddressUsageMetrics:
		out.EnableNetworkAddressUsageMetrics = &types.AttributeBooleanValue{Value: aws.Bool(v.UsageMetrics)}
	case "":
		return nil, missing("attribute")
	default:
		return nil, invalid("Value (%s) for parameter attribute is invalid. Unknown attribute.", in.Attribute)
	}
	return out, nil
}

// modifyVPCAttribute changes one attribute in each call (EC2 API,
// ModifyVpcAttribute).
func (p *place) modifyVPCAttribute(in *ec2.ModifyVpcAttributeInput) (*ec2.ModifyVpcAttributeOutput, error) {
	v, err := get(vpcKind, p.VPCs, in.VpcId)
	if err != nil {
		return nil, err
	}
	err = setOne(map[*bool]*types.AttributeBooleanValue{
		&v.DNSHostnames: in.EnableDnsHostnames,
		&v.DNSSupport:   in.EnableDnsSupport,
		&v.UsageMetrics: in.EnableNetworkAddressUsageMetrics,
	})
	if err != nil {
		return nil, err
	}
	return &ec2.ModifyVpcAttributeOutput{}, nil
}

// setOne gives the one attribute that a modify call names its new value.
func setOne(attributes map[*bool]*types.AttributeBooleanValue) error {
	var target *bool
	for attribute, value := range attributes {
		if value == nil || value.Value == nil {
			continue
		}
		if target != nil {
			return service.Refuse("InvalidParameterCombination", "Fields for multiple attribute types specified")
		}
		target = attribute
	}
	if target == nil {
		return missing("attribute")
	}
	*target = *attributes[target].Value
	return nil
}

// deleteVPC takes along what the VPC was created with and refuses everything
// else in it (EC2 API, DeleteVpc).
func (p *place) deleteVPC(in *ec2.DeleteVpcInput) (*ec2.DeleteVpcOutput, error) {
	v, err := get(vpcKind, p.VPCs, in.VpcId)
	if err != nil {
		return nil, err
	}
	if p.vpcInUse(v.ID) {
		return nil, vpcKind.inUse(v.ID)
	}
	for id, t := range p.RouteTables {
		if t.VPC == v.ID {
			delete(p.RouteTables, id)
		}
	}
	for id, g := range p.SecurityGroups {
		if g.VPC == v.ID {
			delete(p.SecurityGroups, id)
		}
	}
	for id, a := range p.NetworkACLs {
		if a.VPC == v.ID {
			delete(p.NetworkACLs, id)
		}
	}
	delete(p.VPCs, v.ID)
	return &ec2.DeleteVpcOutput{}, nil
}

func (p *place) vpcInUse(id string) bool {
	for _, s := range p.Subnets {
		if s.VPC == id {
			return true
		}
	}
	for _, g := range p.InternetGateways {
		if g.VPC == id {
			return true
		}
	}
	for _, t := range p.RouteTables {
		if t.VPC == id && !t.isMain() {
			return true
		}
	}
	for _, g := range p.SecurityGroups {
		if g.VPC == id && !g.isDefault() {
			return true
		}
	}
	return false
}
