// Package iamsim is AWS Identity and Access Management, as far as making and
// removing Kubernetes clusters uses it: roles, users and groups with their
// policies, access keys, instance profiles and OpenID Connect providers. IAM is
// global, so nothing here has a region. The front enforces policies, which it
// reads through service.Directory.
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
	Users     map[string]*user            // by name
	Groups    map[string]*group           // by name
	Policies  map[string]*customerPolicy  // by ARN
}

// New returns an IAM in which nothing has been created.
func New() *Service {
	return &Service{state: state{
		Roles:     map[string]*role{},
		Profiles:  map[string]*instanceProfile{},
		Providers: map[string]*oidcProvider{},
		Users:     map[string]*user{},
		Groups:    map[string]*group{},
		Policies:  map[string]*customerPolicy{},
	}}
}

// Name is "iam".
func (s *Service) Name() string { return "iam" }

// State is everything that was created.
func (s *Service) State() any { return &s.state }

// Reaches implements service.Contained: IAM changes nothing but itself.
func (s *Service) Reaches() []string { return nil }

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

// Objects lists roles, instance profiles, OpenID Connect providers, users with
// their access keys, groups, and policies of the account's own.
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
	for _, name := range slices.Sorted(maps.Keys(s.state.Users)) {
		out = append(out, service.Object{Kind: "user", ID: name, Name: name})
		for _, id := range slices.Sorted(maps.Keys(s.state.Users[name].Keys)) {
			out = append(out, service.Object{Kind: "access-key", ID: id, Name: name})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.state.Groups)) {
		out = append(out, service.Object{Kind: "group", ID: name, Name: name})
	}
	for _, arn := range slices.Sorted(maps.Keys(s.state.Policies)) {
		out = append(out, service.Object{Kind: "policy", ID: arn, Name: s.state.Policies[arn].Name})
	}
	return out
}
