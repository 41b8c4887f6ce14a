// Package taggingsim is the Resource Groups Tagging API: one search over the
// tags of all services that offer theirs to it. IAM offers none, as in AWS
// outside us-east-1, so a search by tag alone misses roles.
package taggingsim

import (
	"time"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// TaggedResource is a resource with its tags.
type TaggedResource struct {
	ARN  string
	Tags map[string]string
}

// Taggable is a service whose resources can be found by tag.
type Taggable interface {
	// TaggedResources lists what exists in the region and has tags. Deleted
	// things are not among it, even while they can still be described.
	TaggedResources(region string) []TaggedResource
}

// Service is the tagging API. It keeps no state of its own.
type Service struct {
	sources []Taggable
}

// New returns the tagging API over the sources.
func New(sources ...Taggable) *Service { return &Service{sources: sources} }

// Name implements service.Service.
func (s *Service) Name() string { return "tagging" }

// Operations implements service.Service.
func (s *Service) Operations() []service.Operation {
	return []service.Operation{
		service.Read("GetResources", s.getResources,
			"TagFilters", "ResourceTypeFilters", "ResourceARNList", "ResourcesPerPage", "PaginationToken"),
	}
}

// Settle implements service.Service: nothing is ever under way.
func (s *Service) Settle(time.Time) time.Time { return time.Time{} }

// State implements service.Service.
func (s *Service) State() any { return &struct{}{} }

// Objects implements service.Service.
func (s *Service) Objects() []service.Object { return nil }
