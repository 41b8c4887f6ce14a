// Package iamsim is AWS Identity and Access Management, as far as making and
// removing Kubernetes clusters uses it: roles with their policies, instance
// profiles and OpenID Connect providers. IAM is global, so nothing here has a
// region. Policies are kept and given back, not enforced; the managed policies
// are those of AWS itself, and there are no users.
package iamsim

import (
	"maps"
	"slices"
	"time"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// Service is IAM for one account.
type Service struct{ state state }

var _ service.Service = (*Service)(nil)

type state struct {
	Roles     map[string]*role            // by name
	Profiles  map[string]*instanceProfile // by name
	Providers map[string]*oidcProvider    // by ARN
}

// New returns an IAM in which nothing has been created.
func New() *Service {
	return &Service{state: state{
		Roles:     map[string]*role{},
		Profiles:  map[string]*instanceProfile{},
		Providers: map[string]*oidcProvider{},
	}}
}

// Name is "iam".
func (s *Service) Name() string { return "iam" }

// State is everything that was created.
func (s *Service) State() any { return &s.state }

// Settle does nothing: IAM changes at once.
func (s *Service) Settle(time.Time) time.Time { return time.Time{} }

// Operations lists what is modelled.
func (s *Service) Operations() []service.Operation {
	return slices.Concat(
		s.roleOperations(),
		s.rolePolicyOperations(),
		s.instanceProfileOperations(),
		s.oidcOperations(),
		s.userOperations(),
	)
}

// Objects lists roles, instance profiles and OpenID Connect providers.
func (s *Service) Objects() []service.Object {
	var out []service.Object
	for _, name := range slices.Sorted(maps.Keys(s.state.Roles)) {
		out = append(out, service.Object{Kind: "role", ID: name, Name: name})
	}
	for _, name := range slices.Sorted(maps.Keys(s.state.Profiles)) {
		out = append(out, service.Object{Kind: "instance-profile", ID: name, Name: name})
	}
	for _, arn := range slices.Sorted(maps.Keys(s.state.Providers)) {
		out = append(out, service.Object{Kind: "oidc-provider", ID: arn, Name: s.state.Providers[arn].URL})
	}
	return out
}
