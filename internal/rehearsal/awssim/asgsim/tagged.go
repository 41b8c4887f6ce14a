package asgsim

import (
	"maps"
	"slices"

	"github.com/krops-go/krops/internal/rehearsal/awssim/taggingsim"
)

// TaggedResources lists the groups that have tags in the region, sorted by name.
func (s *Service) TaggedResources(region string) []taggingsim.TaggedResource {
	var out []taggingsim.TaggedResource
	for _, name := range slices.Sorted(maps.Keys(s.state.Regions[region])) {
		g := s.state.Regions[region][name]
		if len(g.Tags) == 0 {
			continue
		}
		tags := map[string]string{}
		for k, t := range g.Tags {
			tags[k] = t.Value
		}
		out = append(out, taggingsim.TaggedResource{ARN: g.ARN, Tags: tags})
	}
	return out
}
