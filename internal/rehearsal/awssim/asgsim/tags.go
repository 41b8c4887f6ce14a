package asgsim

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

const groupType = "auto-scaling-group"

func (g *group) tagViews() []types.TagDescription {
	out := make([]types.TagDescription, 0, len(g.Tags))
	for _, key := range slices.Sorted(maps.Keys(g.Tags)) {
		out = append(out, types.TagDescription{
			ResourceId: aws.String(g.Name), ResourceType: aws.String(groupType),
			Key: aws.String(key), Value: aws.String(g.Tags[key].Value), PropagateAtLaunch: aws.Bool(g.Tags[key].Propagate),
		})
	}
	return out
}

func (s *Service) describeTags(c *service.Call, in *autoscaling.DescribeTagsInput) (*autoscaling.DescribeTagsOutput, error) {
	groups := s.state.Regions[c.Region]
	if _, err := tagMatches(types.TagDescription{}, in.Filters); err != nil {
		return nil, err
	}
	found := map[string]types.TagDescription{}
	var keys []string
	for name, g := range groups {
		for _, view := range g.tagViews() {
			matched, err := tagMatches(view, in.Filters)
			if err != nil {
				return nil, err
			}
			if matched {
				key := name + "|" + *view.Key
				keys = append(keys, key)
				found[key] = view
			}
		}
	}
	slices.Sort(keys)
	part, next, err := page(keys, in.NextToken, in.MaxRecords)
	if err != nil {
		return nil, err
	}
	out := &autoscaling.DescribeTagsOutput{Tags: []types.TagDescription{}, NextToken: next}
	for _, key := range part {
		out.Tags = append(out.Tags, found[key])
	}
	return out, nil
}

func tagMatches(t types.TagDescription, filters []types.Filter) (bool, error) {
	matched := true
	for _, f := range filters {
		var value string
		switch name := aws.ToString(f.Name); name {
		case groupType:
			value = aws.ToString(t.ResourceId)
		case "key":
			value = aws.ToString(t.Key)
		case "value":
			value = aws.ToString(t.Value)
		case "propagate-at-launch":
			value = strconv.FormatBool(aws.ToBool(t.PropagateAtLaunch))
		default:
			return false, service.Refuse("ValidationError", "Filter type %s is not correct. Allowed Filter types are: auto-scaling-group, key, value, propagate-at-launch", name)
		}
		matched = matched && slices.Contains(f.Values, value)
	}
	return matched, nil
}

// tagTarget checks one tag of a request and returns the group it is for.
func (s *Service) tagTarget(region string, t types.Tag) (*group, error) {
	if kind := aws.ToString(t.ResourceType); kind != groupType {
		return nil, service.Refuse("ValidationError", "Tag resource type %q is not %s", kind, groupType)
	}
	key := aws.ToString(t.Key)
	if key == "" || len(key) > 128 || strings.HasPrefix(strings.ToLower(key), "aws:") {
		return nil, service.Refuse("ValidationError", "Tag key %q must have between 1 and 128 characters and must not begin with aws:", key)
	}
	return s.lookup(region, aws.ToString(t.ResourceId))
}

func (s *Service) createOrUpdateTags(c *service.Call, in *autoscaling.CreateOrUpdateTagsInput) (*autoscaling.CreateOrUpdateTagsOutput, error) {
	for _, t := range in.Tags { // all are checked before any is set
		if _, err := s.tagTarget(c.Region, t); err != nil {
			return nil, err
		}
	}
	for _, t := range in.Tags {
		g, err := s.tagTarget(c.Region, t)
		if err != nil {
			return nil, err
		}
		g.Tags[*t.Key] = tag{Value: aws.ToString(t.Value), Propagate: aws.ToBool(t.PropagateAtLaunch)}
	}
	return &autoscaling.CreateOrUpdateTagsOutput{}, nil
}

func (s *Service) deleteTags(c *service.Call, in *autoscaling.DeleteTagsInput) (*autoscaling.DeleteTagsOutput, error) {
	for _, t := range in.Tags {
		if _, err := s.tagTarget(c.Region, t); err != nil {
			return nil, err
		}
	}
	for _, t := range in.Tags {
		g, err := s.tagTarget(c.Region, t)
		if err != nil {
			return nil, err
		}
		delete(g.Tags, *t.Key)
	}
	return &autoscaling.DeleteTagsOutput{}, nil
}
