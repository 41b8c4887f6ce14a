package ec2sim

import (
	"net/netip"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// Sizes that VPCs and subnets can have (VPC User Guide, "VPC CIDR blocks").
const (
	widestPrefix    = 16
	narrowestPrefix = 28
)

// firstHost is how many addresses at the start of a subnet EC2 keeps for the
// network, router, resolver and later use; it also keeps the last one
// (VPC User Guide, "Subnet sizing for IPv4").
const firstHost = 4

// parseCIDR reads an IPv4 block and clears its host bits as EC2 does. The code
// is for a block of a size that is not allowed.
func parseCIDR(text, code string) (netip.Prefix, error) {
	cidr, err := netip.ParsePrefix(text)
	if err != nil || !cidr.Addr().Is4() {
		return netip.Prefix{}, invalid("Value (%s) for parameter cidrBlock is invalid. This is not a valid CIDR block.", text)
	}
	if cidr.Bits() < widestPrefix || cidr.Bits() > narrowestPrefix {
		return netip.Prefix{}, service.Refuse(code, "The CIDR '%s' is invalid.", text)
	}
	return cidr.Masked(), nil
}

// size is the number of addresses in a block.
func size(cidr netip.Prefix) int { return 1 << (32 - cidr.Bits()) }

// free returns how many more interfaces fit into the subnet.
func (p *place) free(s *subnet) int {
	return size(s.CIDR) - firstHost - 1 - len(p.taken(s.ID))
}

// taken is the set of addresses that interfaces of the subnet have.
func (p *place) taken(subnet string) map[netip.Addr]bool {
	taken := map[netip.Addr]bool{}
	for _, i := range p.Interfaces {
		if i.Subnet == subnet {
			taken[i.PrivateIP] = true
		}
	}
	return taken
}

// nextPrivateIP returns the lowest address of the subnet that is not taken.
func (p *place) nextPrivateIP(s *subnet) (netip.Addr, error) {
	taken := p.taken(s.ID)
	ip := s.CIDR.Addr()
	for n := range size(s.CIDR) - 1 {
		if n >= firstHost && !taken[ip] {
			return ip, nil
		}
		ip = ip.Next()
	}
	return netip.Addr{}, service.Refuse("InsufficientFreeAddressesInSubnet",
		"There are not enough free addresses in subnet '%s' to satisfy the requested number of interfaces.", s.ID)
}

// publicRange is set aside for benchmarks (RFC 2544), so no real host can be
// meant by an address of the simulation.
var publicRange = netip.MustParsePrefix("198.18.0.0/15")

// nextPublicIP returns an address that nobody in the account has had before.
func (p *place) nextPublicIP() (netip.Addr, error) {
	n := p.sim.state.PublicIPs + 1
	base := publicRange.Addr().As4()
	ip := netip.AddrFrom4([4]byte{base[0], base[1] + byte(n>>16), byte(n >> 8), byte(n)})
	if !publicRange.Contains(ip) || n>>17 > 0 {
		return netip.Addr{}, service.Refuse("InsufficientAddressCapacity", "There are no addresses left in the pool.")
	}
	p.sim.state.PublicIPs = n
	return ip, nil
}
