package ekssim

import (
	"cmp"
	"maps"
	"slices"

	"github.com/krops-go/krops/internal/rehearsal/awssim/taggingsim"
)

// TaggedResources lists what has tags in the region, sorted by ARN.
func (s *Service) TaggedResources(region string) []taggingsim.TaggedResource {
	var out []taggingsim.TaggedResource
	for _, t := range s.taggables() {
		if t.region == region && len(*t.tags) > 0 {
			out = append(out, taggingsim.TaggedResource{ARN: t.arn, Tags: maps.Clone(*t.tags)})
		}
	}
	slices.SortFunc(out, func(a, b taggingsim.TaggedResource) int { return cmp.Compare(a.ARN, b.ARN) })
	return out
}
