// Package cfnsim is AWS CloudFormation: stacks of IAM resources, such as the
// one in which clusterawsadm puts the roles and policies of the provider. What
// a stack holds is made and removed through the simulated IAM, one resource
// after another; a stack that fails is rolled back. Templates may use
// parameters, Ref, Fn::GetAtt, Fn::Sub and Fn::Join; whatever else they can
// have is refused.
package cfnsim

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
	"github.com/krops-go/krops/internal/rehearsal/awssim/taggingsim"
)

// Timing is how long operations take on the account's clock.
type Timing struct {
	Resource time.Duration // to make, change or remove one resource
}

// Service is CloudFormation for one account. The account's lock guards it.
type Service struct {
	account    string
	world      service.World
	operations map[string]service.Operation // of IAM, by name
	timing     Timing
	state      state
}

var (
	_ service.Service     = (*Service)(nil)
	_ service.Contained   = (*Service)(nil)
	_ taggingsim.Taggable = (*Service)(nil)
)

type state struct {
	Stacks map[string]*stack // by ARN
}

// New returns a CloudFormation without stacks, over the account's IAM.
func New(account string, world service.World, iam service.Service, timing Timing) *Service {
	operations := map[string]service.Operation{}
	for _, op := range iam.Operations() {
		operations[op.Name] = op
	}
	return &Service{
		account: account, world: world, operations: operations,
		timing: Timing{Resource: cmp.Or(timing.Resource, 20*time.Millisecond)},
		state:  state{Stacks: map[string]*stack{}},
	}
}

// Name is "cloudformation".
func (s *Service) Name() string { return "cloudformation" }

// Reaches implements service.Contained.
func (s *Service) Reaches() []string { return []string{"iam"} }

// State is all stacks with their events.
func (s *Service) State() any { return &s.state }

// Settle makes each stack go on with what is due.
func (s *Service) Settle(now time.Time) time.Time {
	var next time.Time
	for _, st := range s.sorted() {
		if at := s.proceed(st, now); !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	return next
}

// sorted lists all stacks, those of one name by their creation.
func (s *Service) sorted() []*stack {
	return slices.SortedFunc(maps.Values(s.state.Stacks), func(a, b *stack) int {
		return cmp.Or(cmp.Compare(a.Region, b.Region), cmp.Compare(a.Name, b.Name), a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
}

// Objects lists the stacks that are not deleted. Their resources are listed by
// the services that have them.
func (s *Service) Objects() []service.Object {
	var all []service.Object
	for _, st := range s.sorted() {
		if !st.gone() {
			all = append(all, service.Object{Kind: "stack", Region: st.Region, ID: st.ID, Name: st.Name})
		}
	}
	return all
}

// TaggedResources implements taggingsim.Taggable.
func (s *Service) TaggedResources(region string) []taggingsim.TaggedResource {
	var all []taggingsim.TaggedResource
	for _, st := range s.sorted() {
		if st.Region == region && !st.gone() && len(st.Tags) > 0 {
			all = append(all, taggingsim.TaggedResource{ARN: st.ID, Tags: maps.Clone(st.Tags)})
		}
	}
	return all
}

// Operations lists what is modelled.
func (s *Service) Operations() []service.Operation {
	return slices.Concat(s.stackOperations(), s.describeOperations(), s.templateOperations())
}

// actor acts for the stack's owner.
func (s *Service) actor(st *stack) actor {
	return actor{operations: s.operations, call: &service.Call{
		Context: context.Background(), Region: st.Region, Account: s.account, Caller: st.Owner, World: s.world,
	}}
}
