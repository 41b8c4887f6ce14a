package ec2sim

import (
	"net/netip"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

type networkInterface struct {
	header
	VPC, Subnet, Zone, ZoneID string
	PrivateIP                 netip.Addr
	PublicIP                  netip.Addr // given at launch; the zero address if none was
	MAC                       string
	Groups                    []string
	Description               string
	Type                      string
	Attachment                string // empty while the interface is available
	AttachedAt                time.Time
	Instance                  string // that it is attached to, if it is one
	Requester                 string // service that manages it, empty if the account does
	Token                     string // of the request that created it
}

// Types of interfaces as describe calls spell them, which differs from the
// SDK's constant for NAT gateways.
const (
	plainInterface = "interface"
	natInterface   = "nat_gateway"
)

// Services that manage interfaces in an account's subnets.
const (
	natRequester = "amazon-nat"
	eksRequester = "amazon-eks"
	awsOwner     = "amazon-aws" // of what such interfaces are attached to
)

var networkInterfaceKind = kind{
	typ: "network-interface", prefix: "eni-", param: "networkInterfaceId", absent: "The networkInterface ID '%s' does not exist",
	notFound: "InvalidNetworkInterfaceID.NotFound", malformed: "InvalidNetworkInterfaceId.Malformed",
}

var networkInterfaces = family[*networkInterface]{kind: networkInterfaceKind, maxPage: largePage, fields: fields[*networkInterface]{
	tags: tagged[*networkInterface],
	by: map[string]func(*place, *networkInterface) []string{
		"addresses.private-ip-address": one(func(i *networkInterface) string { return i.PrivateIP.String() }),
		"association.allocation-id": func(p *place, i *networkInterface) []string {
			if e := p.elasticIPOf(i); e != nil {
				return []string{e.ID}
			}
			return nil
		},
		"association.association-id": func(p *place, i *networkInterface) []string {
			if e := p.elasticIPOf(i); e != nil {
				return []string{e.Association}
			}
			return nil
		},
		"association.public-ip": func(p *place, i *networkInterface) []string {
			if ip := p.publicIPOf(i); ip.IsValid() {
				return []string{ip.String()}
			}
			return nil
		},
		"attachment.attachment-id": one(func(i *networkInterface) string { return i.Attachment }),
		"attachment.instance-id":   one(func(i *networkInterface) string { return i.Instance }),
		"attachment.status": one(func(i *networkInterface) string {
			if i.Attachment == "" {
				return ""
			}
			return string(types.AttachmentStatusAttached)
		}),
		"availability-zone":    one(func(i *networkInterface) string { return i.Zone }),
		"availability-zone-id": one(func(i *networkInterface) string { return i.ZoneID }),
		"description":          one(func(i *networkInterface) string { return i.Description }),
		"group-id":             func(_ *place, i *networkInterface) []string { return slices.Clone(i.Groups) },
		"interface-type":       one(func(i *networkInterface) string { return i.Type }),
		"mac-address":          one(func(i *networkInterface) string { return i.MAC }),
		"network-interface-id": one(func(i *networkInterface) string { return i.ID }),
		"owner-id":             owner[*networkInterface],
		"private-dns-name": func(p *place, i *networkInterface) []string {
			return []string{p.region.privateName(i.PrivateIP.String())}
		},
		"private-ip-address": one(func(i *networkInterface) string { return i.PrivateIP.String() }),
		"requester-id":       one(func(i *networkInterface) string { return i.Requester }),
		"requester-managed":  boolean(func(i *networkInterface) bool { return i.Requester != "" }),
		"status":             one(func(i *networkInterface) string { return string(i.status()) }),
		"subnet-id":          one(func(i *networkInterface) string { return i.Subnet }),
		"tag-key":            tagKeys[*networkInterface],
		"vpc-id":             one(func(i *networkInterface) string { return i.VPC }),
	},
}}

func (s *Service) networkInterfaceOperations() []service.Operation {
	return []service.Operation{
		write(s, "CreateNetworkInterface", (*place).createNetworkInterface,
			"SubnetId", "Groups", "Description", "ClientToken", "TagSpecifications"),
		read(s, "DescribeNetworkInterfaces", (*place).describeNetworkInterfaces, "NetworkInterfaceIds", "Filters", "MaxResults", "NextToken"),
		write(s, "DeleteNetworkInterface", (*place).deleteNetworkInterface, "NetworkInterfaceId"),
	}
}

func (i *networkInterface) in(group string) bool { return slices.Contains(i.Groups, group) }

func (i *networkInterface) status() types.NetworkInterfaceStatus {
	if i.Attachment == "" {
		return types.NetworkInterfaceStatusAvailable
	}
	return types.NetworkInterfaceStatusInUse
}

// addInterface gives a new interface its place in the subnet.
func (p *place) addInterface(s *subnet, wanted networkInterface) (*networkInterface, error) {
	ip, err := p.nextPrivateIP(s)
	if err != nil {
		return nil, err
	}
	i := &wanted
	i.ID = p.newID("eni-")
	i.VPC, i.Subnet, i.Zone, i.ZoneID = s.VPC, s.ID, s.Zone, s.ZoneID
	i.PrivateIP = ip
	i.MAC = macAddress(p.sim.world.NewID("", 10))
	if i.Attachment != "" {
		i.AttachedAt = p.now()
	}
	p.Interfaces[i.ID] = i
	return i, nil
}

// macAddress makes a locally administered address of ten hexadecimal digits.
func macAddress(digits string) string {
	mac := "06"
	for n := 0; n+2 <= len(digits); n += 2 {
		mac += ":" + digits[n:n+2]
	}
	return mac
}

// groupsIn checks the groups that an interface in the VPC is to have; none
// means the default one.
func (p *place) groupsIn(vpc string, ids []string) ([]string, error) {
	if len(ids) == 0 {
		for _, g := range sorted(p.SecurityGroups) {
			if g.VPC == vpc && g.isDefault() {
				return []string{g.ID}, nil
			}
		}
	}
	for _, id := range ids {
		g, err := get(securityGroupKind, p.SecurityGroups, &id)
		if err != nil {
			return nil, err
		}
		if g.VPC != vpc {
			return nil, invalid("Security group %s and subnet belong to different networks.", g.ID)
		}
	}
	return slices.Clone(ids), nil
}

func (p *place) createNetworkInterface(in *ec2.CreateNetworkInterfaceInput) (*ec2.CreateNetworkInterfaceOutput, error) {
	s, err := get(subnetKind, p.Subnets, in.SubnetId)
	if err != nil {
		return nil, err
	}
	groups, err := p.groupsIn(s.VPC, in.Groups)
	if err != nil {
		return nil, err
	}
	tags, err := networkInterfaceKind.tagsFor(in.TagSpecifications)
	if err != nil {
		return nil, err
	}
	token := aws.ToString(in.ClientToken)
	for _, i := range p.Interfaces {
		if token == "" || i.Token != token {
			continue
		}
		if i.Subnet != s.ID || !slices.Equal(i.Groups, groups) || i.Description != aws.ToString(in.Description) {
			return nil, tokenReused(token)
		}
		return &ec2.CreateNetworkInterfaceOutput{ClientToken: in.ClientToken, NetworkInterface: new(p.showInterface(i))}, nil
	}
	i, err := p.addInterface(s, networkInterface{
		header: header{Tags: tags}, Groups: groups, Description: aws.ToString(in.Description), Type: plainInterface, Token: token,
	})
	if err != nil {
		return nil, err
	}
	return &ec2.CreateNetworkInterfaceOutput{ClientToken: in.ClientToken, NetworkInterface: new(p.showInterface(i))}, nil
}

func (p *place) describeNetworkInterfaces(in *ec2.DescribeNetworkInterfacesInput) (*ec2.DescribeNetworkInterfacesOutput, error) {
	found, next, err := networkInterfaces.list(p, p.Interfaces,
		selection{in.NetworkInterfaceIds, in.Filters, in.MaxResults, in.NextToken})
	if err != nil {
		return nil, err
	}
	out := &ec2.DescribeNetworkInterfacesOutput{NextToken: next}
	for _, i := range found {
		out.NetworkInterfaces = append(out.NetworkInterfaces, p.showInterface(i))
	}
	return out, nil
}

func (p *place) showInterface(i *networkInterface) types.NetworkInterface {
	ip, name := aws.String(i.PrivateIP.String()), aws.String(p.region.privateName(i.PrivateIP.String()))
	shown := types.NetworkInterface{
		NetworkInterfaceId: aws.String(i.ID), VpcId: aws.String(i.VPC), SubnetId: aws.String(i.Subnet),
		AvailabilityZone: aws.String(i.Zone), AvailabilityZoneId: aws.String(i.ZoneID), Status: i.status(),
		PrivateIpAddress: ip, PrivateDnsName: name, MacAddress: aws.String(i.MAC), Description: aws.String(i.Description),
		InterfaceType: types.NetworkInterfaceType(i.Type), Groups: p.groupNames(i.Groups), SourceDestCheck: aws.Bool(i.Type != natInterface),
		RequesterId: set(i.Requester), RequesterManaged: aws.Bool(i.Requester != ""),
		OwnerId: aws.String(p.account()), TagSet: i.Tags.list(), Association: p.interfaceAssociation(i),
	}
	shown.PrivateIpAddresses = []types.NetworkInterfacePrivateIpAddress{{
		Primary: aws.Bool(true), PrivateIpAddress: ip, PrivateDnsName: name, Association: shown.Association,
	}}
	if i.Attachment != "" {
		shown.Attachment = &types.NetworkInterfaceAttachment{
			AttachmentId: aws.String(i.Attachment), AttachTime: aws.Time(i.AttachedAt), Status: types.AttachmentStatusAttached,
			DeviceIndex: aws.Int32(0), InstanceId: set(i.Instance), InstanceOwnerId: aws.String(awsOwner),
			DeleteOnTermination: aws.Bool(i.Instance != ""),
		}
		if i.Instance != "" {
			shown.Attachment.InstanceOwnerId = aws.String(p.account())
		}
	}
	return shown
}

func (p *place) interfaceAssociation(i *networkInterface) *types.NetworkInterfaceAssociation {
	ip := p.publicIPOf(i)
	if !ip.IsValid() {
		return nil
	}
	association := &types.NetworkInterfaceAssociation{
		PublicIp: aws.String(ip.String()), PublicDnsName: aws.String(p.region.publicName(ip.String())), IpOwnerId: aws.String("amazon"),
	}
	if e := p.elasticIPOf(i); e != nil {
		association.AllocationId, association.AssociationId = aws.String(e.ID), aws.String(e.Association)
		association.IpOwnerId = aws.String(p.account())
	}
	return association
}

// removeInterface also frees the interface's elastic IP.
func (r *RegionState) removeInterface(i *networkInterface) {
	if e := r.elasticIPOf(i); e != nil {
		e.free()
	}
	delete(r.Interfaces, i.ID)
}

func (p *place) deleteNetworkInterface(in *ec2.DeleteNetworkInterfaceInput) (*ec2.DeleteNetworkInterfaceOutput, error) {
	i, err := get(networkInterfaceKind, p.Interfaces, in.NetworkInterfaceId)
	if err != nil {
		return nil, err
	}
	if i.Attachment != "" {
		return nil, invalid("Network interface '%s' is currently in use.", i.ID)
	}
	p.removeInterface(i)
	return &ec2.DeleteNetworkInterfaceOutput{}, nil
}
