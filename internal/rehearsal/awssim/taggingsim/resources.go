package taggingsim

import (
	"encoding/base64"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	tagging "github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi"
	"github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// Resource Groups Tagging API, GetResources.
const (
	mostTypes      = 100
	mostKeys       = 50
	mostValues     = 20
	mostARNs       = 100
	mostPerPage    = 100
	defaultPerPage = 50
)

func invalid(format string, args ...any) error {
	return service.Refuse("InvalidParameterException", format, args...)
}

// getResources lists in the order of ARNs. The token names the last ARN given
// out, so what comes and goes between pages hides nothing else.
func (s *Service) getResources(c *service.Call, in *tagging.GetResourcesInput) (*tagging.GetResourcesOutput, error) {
	size, after, err := check(in)
	if err != nil {
		return nil, err
	}
	var found []TaggedResource
	for _, source := range s.sources {
		for _, r := range source.TaggedResources(c.Region) {
			if r.ARN > after && wanted(r, in) {
				found = append(found, r)
			}
		}
	}
	slices.SortFunc(found, func(a, b TaggedResource) int { return strings.Compare(a.ARN, b.ARN) })
	out := &tagging.GetResourcesOutput{}
	if size > 0 && len(found) > size {
		found = found[:size]
		out.PaginationToken = aws.String(base64.RawURLEncoding.EncodeToString([]byte(found[size-1].ARN)))
	}
	for _, r := range found {
		mapping := types.ResourceTagMapping{ResourceARN: aws.String(r.ARN)}
		for _, key := range slices.Sorted(maps.Keys(r.Tags)) {
			mapping.Tags = append(mapping.Tags, types.Tag{Key: aws.String(key), Value: aws.String(r.Tags[key])})
		}
		out.ResourceTagMappingList = append(out.ResourceTagMappingList, mapping)
	}
	return out, nil
}

// check refuses what the API does, and returns the size of a page (zero for
// all) and the ARN that the page comes after.
func check(in *tagging.GetResourcesInput) (size int, after string, err error) {
	switch {
	case len(in.ResourceTypeFilters) > mostTypes:
		return 0, "", invalid("At most %d resource types can be given", mostTypes)
	case len(in.TagFilters) > mostKeys:
		return 0, "", invalid("At most %d tag filters can be given", mostKeys)
	case len(in.ResourceARNList) > mostARNs:
		return 0, "", invalid("At most %d ARNs can be given", mostARNs)
	}
	for _, f := range in.TagFilters {
		if aws.ToString(f.Key) == "" {
			return 0, "", invalid("A tag filter needs a key")
		}
		if len(f.Values) > mostValues {
			return 0, "", invalid("A tag filter can have at most %d values", mostValues)
		}
	}
	if len(in.ResourceARNList) > 0 {
		if in.ResourcesPerPage != nil || aws.ToString(in.PaginationToken) != "" {
			return 0, "", invalid("ResourceARNList cannot be combined with pagination")
		}
		return 0, "", nil
	}
	size = defaultPerPage
	if in.ResourcesPerPage != nil {
		size = int(*in.ResourcesPerPage)
	}
	if size < 1 || size > mostPerPage {
		return 0, "", invalid("ResourcesPerPage has to be between 1 and %d", mostPerPage)
	}
	last, err := base64.RawURLEncoding.DecodeString(aws.ToString(in.PaginationToken))
	if err != nil {
		return 0, "", invalid("PaginationToken is not one that was given out")
	}
	return size, string(last), nil
}

func wanted(r TaggedResource, in *tagging.GetResourcesInput) bool {
	if len(in.ResourceARNList) > 0 && !slices.Contains(in.ResourceARNList, r.ARN) {
		return false
	}
	if len(in.ResourceTypeFilters) > 0 && !slices.ContainsFunc(in.ResourceTypeFilters, func(t string) bool { return ofType(r.ARN, t) }) {
		return false
	}
	for _, f := range in.TagFilters {
		value, has := r.Tags[*f.Key]
		if !has || len(f.Values) > 0 && !slices.Contains(f.Values, value) {
			return false
		}
	}
	return true
}

// ofType reports whether an ARN is of a type given as service or
// service:resource-type.
func ofType(arn, wanted string) bool {
	parts := strings.SplitN(arn, ":", 6)
	if len(parts) < 6 {
		return false
	}
	kind, _, _ := strings.Cut(strings.ReplaceAll(parts[5], ":", "/"), "/")
	return wanted == parts[2] || wanted == parts[2]+":"+kind
}
