package ec2sim

import (
	"net/netip"
	"slices"
)

// ManagedInterface is a network interface that another service asks for.
type ManagedInterface struct {
	Subnet      string
	Groups      []string // may be empty: then it has none
	Description string
	Requester   string // service that manages it, such as "amazon-elb"
	Type        string // as describe calls spell it; empty for a plain one
	Public      bool   // whether it gets a public address
}

// CreateManagedInterface makes an in-use interface that the account's owner
// cannot delete, and returns its id. DeleteOwnedInterface removes it. The error
// is a *service.Error.
func (s *Service) CreateManagedInterface(region string, wanted ManagedInterface) (string, error) {
	p, err := s.at(region, nil)
	if err != nil {
		return "", err
	}
	in, err := get(subnetKind, p.Subnets, &wanted.Subnet)
	if err != nil {
		return "", err
	}
	if len(wanted.Groups) > 0 {
		if _, err := p.groupsIn(in.VPC, wanted.Groups); err != nil {
			return "", err
		}
	}
	var public netip.Addr
	if wanted.Public {
		if public, err = p.nextPublicIP(); err != nil {
			return "", err
		}
	}
	typ := wanted.Type
	if typ == "" {
		typ = plainInterface
	}
	i, err := p.addInterface(in, networkInterface{
		Groups: slices.Clone(wanted.Groups), Description: wanted.Description, Type: typ, Requester: wanted.Requester,
		Attachment: p.newID("ela-attach-"), PublicIP: public,
	})
	if err != nil {
		return "", err
	}
	return i.ID, nil
}

// LetIn adds a rule to the group that lets everything from the members of the
// other group in, as a cloud controller does for its load balancers. The error
// is a *service.Error.
func (s *Service) LetIn(region, group, from string) error {
	p, err := s.at(region, nil)
	if err != nil {
		return err
	}
	g, err := get(securityGroupKind, p.SecurityGroups, &group)
	if err != nil {
		return err
	}
	peer, err := get(securityGroupKind, p.SecurityGroups, &from)
	if err != nil {
		return err
	}
	g.Rules = append(g.Rules, &rule{
		header: header{ID: p.newID("sgr-")}, Group: g.ID, Protocol: anyProtocol, From: anyPort, To: anyPort, Peer: peer.ID,
	})
	return nil
}
