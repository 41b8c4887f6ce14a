package ec2sim

import (
	"maps"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// Subnet is what another service needs to know of a subnet it is given.
type Subnet struct {
	ID, VPC, Zone, CIDR string
}

// Instance is a running instance as the service that launched it sees it.
type Instance struct {
	ID, PrivateIP, PrivateDNSName, Zone, Type string
}

// LookupSubnet returns the subnet, or false when the region has none of that id.
func (s *Service) LookupSubnet(region, id string) (Subnet, bool) {
	p, err := s.at(region, nil)
	if err != nil || p.Subnets[id] == nil {
		return Subnet{}, false
	}
	found := p.Subnets[id]
	return Subnet{ID: found.ID, VPC: found.VPC, Zone: found.Zone, CIDR: found.CIDR.String()}, true
}

// LookupInstanceType returns the type's shape, or false when it is not offered.
func (s *Service) LookupInstanceType(region, name string) (InstanceType, bool) {
	r, known := regionNamed(region)
	if !known {
		return InstanceType{}, false
	}
	for _, t := range r.offered() {
		if t.Name == name {
			return t, true
		}
	}
	return InstanceType{}, false
}

// CreateOwnedSecurityGroup makes a security group on behalf of another service
// and returns its id. The error is a *service.Error.
func (s *Service) CreateOwnedSecurityGroup(region, vpc, name, description string, tags map[string]string) (string, error) {
	p, err := s.at(region, nil)
	if err != nil {
		return "", err
	}
	v, err := get(vpcKind, p.VPCs, &vpc)
	if err != nil {
		return "", err
	}
	if err := p.checkGroup(v, name, description); err != nil {
		return "", err
	}
	return p.addGroup(v, name, description, maps.Clone(tags)).ID, nil
}

// DeleteOwnedSecurityGroup removes the group; an absent one is success. It is
// refused with DependencyViolation while interfaces or rules refer to it.
func (s *Service) DeleteOwnedSecurityGroup(region, id string) error {
	p, err := s.at(region, nil)
	if err != nil {
		return err
	}
	g := p.SecurityGroups[id]
	if g == nil {
		return nil
	}
	return p.removeGroup(g)
}

// CreateOwnedInterface makes an in-use network interface of another service,
// which the account's owner cannot delete, and returns its id.
func (s *Service) CreateOwnedInterface(region, subnet string, groups []string, description string) (string, error) {
	p, err := s.at(region, nil)
	if err != nil {
		return "", err
	}
	in, err := get(subnetKind, p.Subnets, &subnet)
	if err != nil {
		return "", err
	}
	groups, err = p.groupsIn(in.VPC, groups)
	if err != nil {
		return "", err
	}
	i, err := p.addInterface(in, networkInterface{
		Groups: groups, Description: description, Type: plainInterface, Requester: eksRequester,
		Attachment: p.newID("ela-attach-"),
	})
	if err != nil {
		return "", err
	}
	return i.ID, nil
}

// DeleteOwnedInterface removes the interface; an absent one is success.
func (s *Service) DeleteOwnedInterface(region, id string) error {
	p, err := s.at(region, nil)
	if err != nil {
		return err
	}
	if i := p.Interfaces[id]; i != nil {
		p.removeInterface(i)
	}
	return nil
}

// LaunchOwned runs an instance with its interface in subnet.
func (s *Service) LaunchOwned(region, subnet, instanceType string, groups []string, tags map[string]string) (Instance, error) {
	p, err := s.at(region, nil)
	if err != nil {
		return Instance{}, err
	}
	in, err := get(subnetKind, p.Subnets, &subnet)
	if err != nil {
		return Instance{}, err
	}
	t, offered := s.LookupInstanceType(region, instanceType)
	if !offered {
		return Instance{}, service.Refuse("Unsupported",
			"Your requested instance type (%s) is not supported in your requested Availability Zone (%s).", instanceType, in.Zone)
	}
	i, err := p.launch(in, t, groups, maps.Clone(tags))
	if err != nil {
		return Instance{}, err
	}
	return Instance{
		ID: i.ID, PrivateIP: i.PrivateIP.String(), PrivateDNSName: p.region.privateName(i.PrivateIP.String()),
		Zone: i.Zone, Type: i.Type,
	}, nil
}

// TerminateOwned ends the instance and removes its interface; absent is success.
func (s *Service) TerminateOwned(region, id string) error {
	p, err := s.at(region, nil)
	if err != nil {
		return err
	}
	if i := p.Instances[id]; i != nil {
		p.terminate(i)
	}
	return nil
}
