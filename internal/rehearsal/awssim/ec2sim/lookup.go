package ec2sim

import (
	"slices"
	"strings"
)

// HasRegion reports whether the account can use the region.
func (s *Service) HasRegion(name string) bool {
	_, known := regionNamed(name)
	return known
}

// CreateInterfaceFor makes an in-use network interface of another service, by
// whose requester name, such as "amazon-rds", it is known. The account's owner
// cannot delete it.
func (s *Service) CreateInterfaceFor(region, requester, subnet string, groups []string, description string) (string, error) {
	id, err := s.CreateOwnedInterface(region, subnet, groups, description)
	if err != nil {
		return "", err
	}
	s.state.region(region).Interfaces[id].Requester = requester
	return id, nil
}

// InterfaceGroups returns the security groups of an interface.
func (s *Service) InterfaceGroups(region, id string) []string {
	if i := s.state.region(region).Interfaces[id]; i != nil {
		return slices.Clone(i.Groups)
	}
	return nil
}

// PrivateAddress returns the address of an interface.
func (s *Service) PrivateAddress(region, id string) string {
	if i := s.state.region(region).Interfaces[id]; i != nil {
		return i.PrivateIP.String()
	}
	return ""
}

// SetInterfaceGroups gives an interface of another service other security
// groups. The error is a *service.Error.
func (s *Service) SetInterfaceGroups(region, id string, groups []string) error {
	p, err := s.at(region, nil)
	if err != nil {
		return err
	}
	i, err := get(networkInterfaceKind, p.Interfaces, &id)
	if err != nil {
		return err
	}
	groups, err = p.groupsIn(i.VPC, groups)
	if err != nil {
		return err
	}
	i.Groups = groups
	return nil
}

// NodeImage returns the image that EKS nodes of a Kubernetes minor, such as
// "1.35", start from in the region, or false when there is none.
func (s *Service) NodeImage(region, minor, architecture string) (id, name string, ok bool) {
	r, known := regionNamed(region)
	if !known {
		return "", "", false
	}
	for _, i := range sorted(r.imagesOf()) {
		if i.Architecture == architecture && strings.Contains(i.Name, "-standard-"+minor+"-") {
			return i.ID, i.Name, true
		}
	}
	return "", "", false
}
