package ec2sim

// Quota is a limit of a region that can be raised.
type Quota string

// The quotas that are enforced.
const (
	VPCQuota     Quota = "vpcs"         // per region
	AddressQuota Quota = "addresses"    // elastic IPs per region
	NATQuota     Quota = "nat-gateways" // per availability zone
)

func (s *Service) defaultQuota(q Quota) int {
	switch q {
	case VPCQuota:
		return s.quotas.VPCs
	case AddressQuota:
		return s.quotas.Addresses
	case NATQuota:
		return s.quotas.NATsInZone
	}
	return 0
}

// QuotaIn returns the limit that is in force in the region.
func (s *Service) QuotaIn(region string, q Quota) int {
	if raised := s.state.region(region).Quotas[q]; raised > 0 {
		return raised
	}
	return s.defaultQuota(q)
}

// SetQuota changes a limit of the region, for good.
func (s *Service) SetQuota(region string, q Quota, limit int) {
	r := s.state.region(region)
	if r.Quotas == nil {
		r.Quotas = map[Quota]int{}
	}
	r.Quotas[q] = limit
}

func (p *place) quota(q Quota) int { return p.sim.QuotaIn(p.region.name, q) }
