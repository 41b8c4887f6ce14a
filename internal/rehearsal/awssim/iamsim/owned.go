package iamsim

import (
	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// What other services do with IAM on the account's behalf. The account's lock
// is held, as in a handler.

// TrustsService reports whether the role exists and whether its trust policy
// lets the AWS service, such as "ec2.amazonaws.com", assume it.
func (s *Service) TrustsService(roleARN, servicePrincipal string) (exists, trusted bool) {
	r := s.roleByARN(roleARN)
	if r == nil {
		return false, false
	}
	return true, trusts(r.Trust, servicePrincipal)
}

// CreateOwnedInstanceProfile makes an instance profile that holds the role.
// The error is a *service.Error.
func (s *Service) CreateOwnedInstanceProfile(w service.World, account, name, roleARN string) error {
	r := s.roleByARN(roleARN)
	if r == nil {
		return noSuchEntity("The role with ARN %s cannot be found.", roleARN)
	}
	p, err := s.newProfile(w, account, "/", name, nil)
	if err != nil {
		return err
	}
	p.Role = r.Name
	return nil
}

// DeleteOwnedInstanceProfile removes the profile, its role's membership
// included; an absent one is success.
func (s *Service) DeleteOwnedInstanceProfile(name string) { delete(s.state.Profiles, name) }

func (s *Service) roleByARN(arn string) *role {
	for _, r := range s.state.Roles {
		if r.ARN == arn {
			return r
		}
	}
	return nil
}
