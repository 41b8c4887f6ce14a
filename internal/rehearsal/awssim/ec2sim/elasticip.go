package ec2sim

import (
	"net/netip"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// elasticIP is a public address of the account. Its id is the allocation's.
type elasticIP struct {
	header
	PublicIP    netip.Addr
	Association string // empty while the address is free
	Interface   string // that has the address
}

var elasticIPKind = kind{
	typ: "elastic-ip", prefix: "eipalloc-", param: "allocationId", absent: "The allocation ID '%s' does not exist",
	notFound: "InvalidAllocationID.NotFound",
}

var elasticIPs = family[*elasticIP]{kind: elasticIPKind, fields: fields[*elasticIP]{
	tags: tagged[*elasticIP],
	by: map[string]func(*place, *elasticIP) []string{
		"allocation-id":        one(func(e *elasticIP) string { return e.ID }),
		"association-id":       one(func(e *elasticIP) string { return e.Association }),
		"domain":               always[*elasticIP](string(types.DomainTypeVpc)),
		"instance-id":          func(p *place, e *elasticIP) []string { return []string{p.holder(e).Instance} },
		"network-border-group": func(p *place, _ *elasticIP) []string { return []string{p.region.name} },
		"network-interface-id": one(func(e *elasticIP) string { return e.Interface }),
		"network-interface-owner-id": func(p *place, e *elasticIP) []string {
			if e.Interface == "" {
				return nil
			}
			return []string{p.account()}
		},
		"private-ip-address": func(p *place, e *elasticIP) []string {
			if e.Interface == "" {
				return nil
			}
			return []string{p.holder(e).PrivateIP.String()}
		},
		"public-ip": one(func(e *elasticIP) string { return e.PublicIP.String() }),
		"tag-key":   tagKeys[*elasticIP],
	},
}}

func (s *Service) elasticIPOperations() []service.Operation {
	return []service.Operation{
		write(s, "AllocateAddress", (*place).allocateAddress, "Domain", "NetworkBorderGroup", "TagSpecifications"),
		read(s, "DescribeAddresses", (*place).describeAddresses, "AllocationIds", "PublicIps", "Filters"),
		write(s, "AssociateAddress", (*place).associateAddress, "AllocationId", "NetworkInterfaceId", "InstanceId", "AllowReassociation"),
		write(s, "DisassociateAddress", (*place).disassociateAddress, "AssociationId"),
		write(s, "ReleaseAddress", (*place).releaseAddress, "AllocationId", "NetworkBorderGroup"),
	}
}

// holder returns the interface that has the address, or an empty one.
func (p *place) holder(e *elasticIP) *networkInterface {
	if i := p.Interfaces[e.Interface]; i != nil {
		return i
	}
	return &networkInterface{}
}

// publicIPOf returns the public address that leads to the interface, or the
// zero address.
func (p *place) publicIPOf(i *networkInterface) netip.Addr {
	if e := p.elasticIPOf(i); e != nil {
		return e.PublicIP
	}
	return i.PublicIP
}

func (r *RegionState) elasticIPOf(i *networkInterface) *elasticIP {
	for _, e := range r.ElasticIPs {
		if e.Interface == i.ID {
			return e
		}
	}
	return nil
}

func (e *elasticIP) free() { e.Association, e.Interface = "", "" }

// borderGroup refuses any network border group but the region's own.
func (p *place) borderGroup(name *string) error {
	if name != nil && *name != p.region.name {
		return invalid("Value (%s) for parameter networkBorderGroup is invalid.", *name)
	}
	return nil
}

func (p *place) allocateAddress(in *ec2.AllocateAddressInput) (*ec2.AllocateAddressOutput, error) {
	if in.Domain != "" && in.Domain != types.DomainTypeVpc {
		return nil, invalid("Value (%s) for parameter domain is invalid.", in.Domain)
	}
	if err := p.borderGroup(in.NetworkBorderGroup); err != nil {
		return nil, err
	}
	tags, err := elasticIPKind.tagsFor(in.TagSpecifications)
	if err != nil {
		return nil, err
	}
	if len(p.ElasticIPs) >= p.quota(AddressQuota) {
		return nil, service.Refuse("AddressLimitExceeded", "The maximum number of addresses has been reached.")
	}
	ip, err := p.nextPublicIP()
	if err != nil {
		return nil, err
	}
	e := &elasticIP{header: header{ID: p.newID("eipalloc-"), Tags: tags}, PublicIP: ip}
	p.ElasticIPs[e.ID] = e
	return &ec2.AllocateAddressOutput{
		AllocationId: aws.String(e.ID), PublicIp: aws.String(ip.String()), Domain: types.DomainTypeVpc,
		NetworkBorderGroup: aws.String(p.region.name), PublicIpv4Pool: aws.String("amazon"),
	}, nil
}

func (p *place) describeAddresses(in *ec2.DescribeAddressesInput) (*ec2.DescribeAddressesOutput, error) {
	found, _, err := elasticIPs.list(p, p.ElasticIPs, selection{ids: in.AllocationIds, filters: in.Filters})
	if err != nil {
		return nil, err
	}
	for _, ip := range in.PublicIps {
		if !slices.ContainsFunc(sorted(p.ElasticIPs), func(e *elasticIP) bool { return e.PublicIP.String() == ip }) {
			return nil, service.Refuse("InvalidAddress.NotFound", "Address '%s' not found.", ip)
		}
	}
	out := &ec2.DescribeAddressesOutput{}
	for _, e := range found {
		if len(in.PublicIps) == 0 || slices.Contains(in.PublicIps, e.PublicIP.String()) {
			out.Addresses = append(out.Addresses, p.showElasticIP(e))
		}
	}
	return out, nil
}

func (p *place) showElasticIP(e *elasticIP) types.Address {
	shown := types.Address{
		AllocationId: aws.String(e.ID), PublicIp: aws.String(e.PublicIP.String()), Domain: types.DomainTypeVpc,
		NetworkBorderGroup: aws.String(p.region.name), PublicIpv4Pool: aws.String("amazon"), Tags: e.Tags.list(),
	}
	if i := p.Interfaces[e.Interface]; i != nil {
		shown.AssociationId = aws.String(e.Association)
		shown.NetworkInterfaceId = aws.String(i.ID)
		shown.NetworkInterfaceOwnerId = aws.String(p.account())
		shown.PrivateIpAddress = aws.String(i.PrivateIP.String())
		if i.Instance != "" {
			shown.InstanceId = aws.String(i.Instance)
		}
	}
	return shown
}
