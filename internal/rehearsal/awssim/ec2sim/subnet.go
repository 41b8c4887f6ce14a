package ec2sim

import (
	"net/netip"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

type subnet struct {
	header
	VPC         string
	Zone        string
	ZoneID      string
	CIDR        netip.Prefix
	MapPublicIP bool
	ACLAssoc    string // association with the VPC's network ACL
	ReadyAt     time.Time
}

var subnetKind = kind{
	typ: "subnet", prefix: "subnet-", param: "subnetId", absent: "The subnet ID '%s' does not exist",
	notFound: "InvalidSubnetID.NotFound", malformed: "InvalidSubnetID.Malformed",
}

var subnets = family[*subnet]{kind: subnetKind, maxPage: largePage, fields: fields[*subnet]{
	tags: tagged[*subnet],
	by: map[string]func(*place, *subnet) []string{
		"availability-zone":          one(func(s *subnet) string { return s.Zone }),
		"availabilityZone":           one(func(s *subnet) string { return s.Zone }),
		"availability-zone-id":       one(func(s *subnet) string { return s.ZoneID }),
		"availabilityZoneId":         one(func(s *subnet) string { return s.ZoneID }),
		"available-ip-address-count": func(p *place, s *subnet) []string { return []string{strconv.Itoa(p.free(s))} },
		"cidr":                       one(func(s *subnet) string { return s.CIDR.String() }),
		"cidr-block":                 one(func(s *subnet) string { return s.CIDR.String() }),
		"cidrBlock":                  one(func(s *subnet) string { return s.CIDR.String() }),
		"default-for-az":             always[*subnet]("false"),
		"defaultForAz":               always[*subnet]("false"),
		"map-public-ip-on-launch":    boolean(func(s *subnet) bool { return s.MapPublicIP }),
		"owner-id":                   owner[*subnet],
		"state":                      func(p *place, s *subnet) []string { return []string{string(p.subnetState(s))} },
		"subnet-arn":                 func(p *place, s *subnet) []string { return []string{p.arn(subnetKind, s.ID)} },
		"subnet-id":                  one(func(s *subnet) string { return s.ID }),
		"tag-key":                    tagKeys[*subnet],
		"vpc-id":                     one(func(s *subnet) string { return s.VPC }),
	},
}}

func (s *Service) subnetOperations() []service.Operation {
	return []service.Operation{
		write(s, "CreateSubnet", (*place).createSubnet, "VpcId", "AvailabilityZone", "AvailabilityZoneId", "CidrBlock", "TagSpecifications"),
		read(s, "DescribeSubnets", (*place).describeSubnets, "SubnetIds", "Filters", "MaxResults", "NextToken"),
		write(s, "ModifySubnetAttribute", (*place).modifySubnetAttribute, "SubnetId", "MapPublicIpOnLaunch"),
		write(s, "DeleteSubnet", (*place).deleteSubnet, "SubnetId"),
	}
}

func (p *place) createSubnet(in *ec2.CreateSubnetInput) (*ec2.CreateSubnetOutput, error) {
	v, err := get(vpcKind, p.VPCs, in.VpcId)
	if err != nil {
		return nil, err
	}
	if in.CidrBlock == nil {
		return nil, missing("cidrBlock")
	}
	cidr, err := parseCIDR(*in.CidrBlock, "InvalidSubnet.Range")
	if err != nil {
		return nil, err
	}
	if !v.holds(cidr) {
		return nil, service.Refuse("InvalidSubnet.Range", "The CIDR '%s' is invalid.", cidr)
	}
	for _, other := range p.Subnets {
		if other.VPC == v.ID && other.CIDR.Overlaps(cidr) {
			return nil, service.Refuse("InvalidSubnet.Conflict", "The CIDR '%s' conflicts with another subnet", cidr)
		}
	}
	z, err := p.zoneOf(in.AvailabilityZone, in.AvailabilityZoneId)
	if err != nil {
		return nil, err
	}
	tags, err := subnetKind.tagsFor(in.TagSpecifications)
	if err != nil {
		return nil, err
	}
	s := &subnet{
		header: header{ID: p.newID("subnet-"), Tags: tags}, VPC: v.ID, Zone: z.name, ZoneID: z.id, CIDR: cidr,
		ACLAssoc: p.newID("aclassoc-"), ReadyAt: p.now().Add(p.sim.timing.Subnet),
	}
	p.Subnets[s.ID] = s
	return &ec2.CreateSubnetOutput{Subnet: new(p.showSubnet(s))}, nil
}

func (p *place) subnetState(s *subnet) types.SubnetState {
	if p.now().Before(s.ReadyAt) {
		return types.SubnetStatePending
	}
	return types.SubnetStateAvailable
}

func (p *place) showSubnet(s *subnet) types.Subnet {
	return types.Subnet{
		SubnetId: aws.String(s.ID), SubnetArn: aws.String(p.arn(subnetKind, s.ID)), VpcId: aws.String(s.VPC),
		AvailabilityZone: aws.String(s.Zone), AvailabilityZoneId: aws.String(s.ZoneID), CidrBlock: aws.String(s.CIDR.String()),
		AvailableIpAddressCount: aws.Int32(int32(p.free(s))), State: p.subnetState(s),
		MapPublicIpOnLaunch: aws.Bool(s.MapPublicIP), DefaultForAz: aws.Bool(false), AssignIpv6AddressOnCreation: aws.Bool(false),
		MapCustomerOwnedIpOnLaunch: aws.Bool(false), EnableDns64: aws.Bool(false), Ipv6Native: aws.Bool(false),
		PrivateDnsNameOptionsOnLaunch: &types.PrivateDnsNameOptionsOnLaunch{
			HostnameType: types.HostnameTypeIpName, EnableResourceNameDnsARecord: aws.Bool(false),
			EnableResourceNameDnsAAAARecord: aws.Bool(false),
		},
		OwnerId: aws.String(p.account()), Tags: s.Tags.list(),
	}
}

func (p *place) describeSubnets(in *ec2.DescribeSubnetsInput) (*ec2.DescribeSubnetsOutput, error) {
	underWay := func(s *subnet) bool { return p.call.Waiter && p.subnetState(s) == types.SubnetStatePending }
	found, next, err := settled(p, underWay, func() ([]*subnet, *string, error) {
		return subnets.list(p, p.Subnets, selection{in.SubnetIds, in.Filters, in.MaxResults, in.NextToken})
	})
	if err != nil {
		return nil, err
	}
	out := &ec2.DescribeSubnetsOutput{NextToken: next}
	for _, s := range found {
		out.Subnets = append(out.Subnets, p.showSubnet(s))
	}
	return out, nil
}

func (p *place) modifySubnetAttribute(in *ec2.ModifySubnetAttributeInput) (*ec2.ModifySubnetAttributeOutput, error) {
	s, err := get(subnetKind, p.Subnets, in.SubnetId)
	if err != nil {
		return nil, err
	}
	if err := setOne(map[*bool]*types.AttributeBooleanValue{&s.MapPublicIP: in.MapPublicIpOnLaunch}); err != nil {
		return nil, err
	}
	return &ec2.ModifySubnetAttributeOutput{}, nil
}

// deleteSubnet refuses while an interface is in the subnet, whoever owns it,
// and ends the subnet's association with a route table.
func (p *place) deleteSubnet(in *ec2.DeleteSubnetInput) (*ec2.DeleteSubnetOutput, error) {
	s, err := get(subnetKind, p.Subnets, in.SubnetId)
	if err != nil {
		return nil, err
	}
	for _, i := range p.Interfaces {
		if i.Subnet == s.ID {
			return nil, subnetKind.inUse(s.ID)
		}
	}
	for _, t := range p.RouteTables {
		t.disassociateSubnet(s.ID)
	}
	delete(p.Subnets, s.ID)
	return &ec2.DeleteSubnetOutput{}, nil
}
