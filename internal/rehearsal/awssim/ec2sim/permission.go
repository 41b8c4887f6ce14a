package ec2sim

import (
	"net/netip"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// permissions shows the group's rules in one direction the way
// DescribeSecurityGroups does, with the peers of the same traffic together.
func (p *place) permissions(g *securityGroup, egress bool) []types.IpPermission {
	type traffic struct {
		protocol string
		from, to int32
	}
	var shown []types.IpPermission
	position := map[traffic]int{}
	for _, r := range g.Rules {
		if r.Egress != egress {
			continue
		}
		t := traffic{r.Protocol, r.From, r.To}
		at, known := position[t]
		if !known {
			at = len(shown)
			position[t] = at
			permission := types.IpPermission{IpProtocol: aws.String(r.Protocol)}
			if hasPorts(r.Protocol) {
				permission.FromPort, permission.ToPort = aws.Int32(r.From), aws.Int32(r.To)
			}
			shown = append(shown, permission)
		}
		switch {
		case r.CIDR != "":
			shown[at].IpRanges = append(shown[at].IpRanges, types.IpRange{CidrIp: aws.String(r.CIDR), Description: set(r.Description)})
		case r.CIDR6 != "":
			shown[at].Ipv6Ranges = append(shown[at].Ipv6Ranges, types.Ipv6Range{CidrIpv6: aws.String(r.CIDR6), Description: set(r.Description)})
		default:
			shown[at].UserIdGroupPairs = append(shown[at].UserIdGroupPairs, types.UserIdGroupPair{
				GroupId: aws.String(r.Peer), UserId: aws.String(p.account()), Description: set(r.Description),
			})
		}
	}
	return shown
}

// rules takes permissions of a request apart, one rule for each peer.
func (p *place) rules(g *securityGroup, egress bool, permissions []types.IpPermission) ([]*rule, error) {
	if len(permissions) == 0 {
		return nil, missing("ipPermissions")
	}
	var rules []*rule
	for _, permission := range permissions {
		if len(permission.PrefixListIds) > 0 {
			return nil, service.Refuse("UnsupportedOperation", "Prefix lists are not simulated")
		}
		protocol, err := protocolName(aws.ToString(permission.IpProtocol))
		if err != nil {
			return nil, err
		}
		from, to, err := ports(protocol, permission.FromPort, permission.ToPort)
		if err != nil {
			return nil, err
		}
		base := rule{Group: g.ID, Egress: egress, Protocol: protocol, From: from, To: to}
		peers, err := p.peers(g, base, permission)
		if err != nil {
			return nil, err
		}
		rules = append(rules, peers...)
	}
	return rules, nil
}

func (p *place) peers(g *securityGroup, base rule, permission types.IpPermission) ([]*rule, error) {
	var rules []*rule
	for _, block := range permission.IpRanges {
		cidr, err := peerCIDR(aws.ToString(block.CidrIp), netip.Addr.Is4)
		if err != nil {
			return nil, err
		}
		r := base
		r.CIDR, r.Description = cidr, aws.ToString(block.Description)
		rules = append(rules, &r)
	}
	for _, block := range permission.Ipv6Ranges {
		cidr, err := peerCIDR(aws.ToString(block.CidrIpv6), netip.Addr.Is6)
		if err != nil {
			return nil, err
		}
		r := base
		r.CIDR6, r.Description = cidr, aws.ToString(block.Description)
		rules = append(rules, &r)
	}
	for _, pair := range permission.UserIdGroupPairs {
		peer, err := get(securityGroupKind, p.SecurityGroups, pair.GroupId)
		if err != nil {
			return nil, err
		}
		if peer.VPC != g.VPC || pair.UserId != nil && *pair.UserId != p.account() {
			return nil, securityGroupKind.unknown(peer.ID)
		}
		r := base
		r.Peer, r.Description = peer.ID, aws.ToString(pair.Description)
		rules = append(rules, &r)
	}
	if len(rules) == 0 {
		return nil, missing("cidrIp")
	}
	return rules, nil
}

func peerCIDR(text string, family func(netip.Addr) bool) (string, error) {
	cidr, err := netip.ParsePrefix(text)
	if err != nil || !family(cidr.Addr()) {
		return "", invalid("CIDR block %s is malformed", text)
	}
	return cidr.Masked().String(), nil
}

// protocolName returns the name EC2 shows for a protocol given by name or
// number.
func protocolName(text string) (string, error) {
	switch text {
	case "":
		return "", missing("ipProtocol")
	case "tcp", "udp", "icmp", "icmpv6", anyProtocol:
		return text, nil
	case "all":
		return anyProtocol, nil
	case "6":
		return "tcp", nil
	case "17":
		return "udp", nil
	case "1":
		return "icmp", nil
	case "58":
		return "icmpv6", nil
	}
	if number, err := strconv.Atoi(text); err != nil || number < 0 || number > 255 {
		return "", invalid("Invalid value '%s' for IP protocol. Unknown protocol.", text)
	}
	return text, nil
}

// hasPorts reports whether rules of the protocol have ports, or an ICMP type
// and code in their place.
func hasPorts(protocol string) bool {
	switch protocol {
	case "tcp", "udp", "icmp", "icmpv6":
		return true
	}
	return false
}

// ports returns the range of a permission. Protocols without ports ignore it.
func ports(protocol string, from, to *int32) (int32, int32, error) {
	const last = 65535
	switch {
	case !hasPorts(protocol):
		return anyPort, anyPort, nil
	case protocol == "icmp" || protocol == "icmpv6":
		if from == nil {
			from = aws.Int32(anyPort)
		}
		if to == nil {
			to = aws.Int32(anyPort)
		}
		if *from < anyPort || *from > 255 || *to < anyPort || *to > 255 {
			return 0, 0, invalid("Invalid value for ICMP type or code: %d, %d.", *from, *to)
		}
		return *from, *to, nil
	case from == nil || to == nil:
		return 0, 0, invalid("Invalid value 'Must specify both from and to ports with TCP/UDP.' for portRange.")
	case *from < 0 || *to > last || *from > *to:
		return 0, 0, invalid("Invalid value '%d-%d' for portRange.", *from, *to)
	}
	return *from, *to, nil
}
