// Package ssmsim is the Parameter Store of AWS Systems Manager: parameters of
// the account, and the public ones in which AWS says which images EKS nodes
// start from.
package ssmsim

import (
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
	"github.com/krops-go/krops/internal/rehearsal/awssim/taggingsim"
)

// Service is the Parameter Store of one account. The account's lock guards it.
type Service struct {
	account string
	images  Images
	state   state
}

var (
	_ service.Service     = (*Service)(nil)
	_ service.Contained   = (*Service)(nil)
	_ taggingsim.Taggable = (*Service)(nil)
)

type state struct {
	Regions map[string]map[string]*parameter // by region and name
}

type parameter struct {
	Name, Description string
	Type              types.ParameterType
	Tier              types.ParameterTier
	DataType, Key     string
	Pattern           string
	Versions          []version // oldest first
	Tags              map[string]string
}

type version struct {
	Value, User string
	At          time.Time
	Labels      []string `json:",omitempty"`
}

// New returns a Parameter Store without parameters of the account's own.
func New(account string, images Images) *Service {
	return &Service{account: account, images: images, state: state{Regions: map[string]map[string]*parameter{}}}
}

// Name is "ssm".
func (s *Service) Name() string { return "ssm" }

// Reaches implements service.Contained: Systems Manager changes nothing but itself.
func (s *Service) Reaches() []string { return nil }

// State is all parameters of the account's own.
func (s *Service) State() any { return &s.state }

// Settle does nothing: parameters change at once.
func (s *Service) Settle(time.Time) time.Time { return time.Time{} }

// Objects lists the account's own parameters.
func (s *Service) Objects() []service.Object {
	var all []service.Object
	for _, region := range slices.Sorted(maps.Keys(s.state.Regions)) {
		for _, name := range slices.Sorted(maps.Keys(s.state.Regions[region])) {
			all = append(all, service.Object{Kind: "parameter", Region: region, ID: name, Name: name})
		}
	}
	return all
}

// TaggedResources implements taggingsim.Taggable.
func (s *Service) TaggedResources(region string) []taggingsim.TaggedResource {
	var all []taggingsim.TaggedResource
	for _, name := range slices.Sorted(maps.Keys(s.state.Regions[region])) {
		if p := s.state.Regions[region][name]; len(p.Tags) > 0 {
			all = append(all, taggingsim.TaggedResource{ARN: s.arn(region, name), Tags: maps.Clone(p.Tags)})
		}
	}
	return all
}

func (s *Service) arn(region, name string) string {
	if name[0] != '/' {
		name = "/" + name
	}
	return "arn:aws:ssm:" + region + ":" + s.account + ":parameter" + name
}

func (s *Service) in(region string) map[string]*parameter {
	if s.state.Regions[region] == nil {
		s.state.Regions[region] = map[string]*parameter{}
	}
	return s.state.Regions[region]
}
