package ssmsim

import (
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

func (s *Service) tagged(c *service.Call, kind types.ResourceTypeForTagging, id *string) (*parameter, error) {
	if kind != types.ResourceTypeForTaggingParameter {
		return nil, service.Refuse("InvalidResourceType", "The simulated AWS has no resources of type %s", kind)
	}
	p := s.in(c.Region)[aws.ToString(id)]
	if p == nil {
		return nil, service.Refuse("InvalidResourceId", "The resource ID is not valid. Verify that you entered the correct ID and try again.")
	}
	return p, nil
}

func (s *Service) addTags(c *service.Call, in *ssm.AddTagsToResourceInput) (*ssm.AddTagsToResourceOutput, error) {
	p, err := s.tagged(c, in.ResourceType, in.ResourceId)
	if err != nil {
		return nil, err
	}
	for _, t := range in.Tags {
		p.Tags[aws.ToString(t.Key)] = aws.ToString(t.Value)
	}
	return &ssm.AddTagsToResourceOutput{}, nil
}

func (s *Service) removeTags(c *service.Call, in *ssm.RemoveTagsFromResourceInput) (*ssm.RemoveTagsFromResourceOutput, error) {
	p, err := s.tagged(c, in.ResourceType, in.ResourceId)
	if err != nil {
		return nil, err
	}
	for _, key := range in.TagKeys {
		delete(p.Tags, key)
	}
	return &ssm.RemoveTagsFromResourceOutput{}, nil
}

func (s *Service) listTags(c *service.Call, in *ssm.ListTagsForResourceInput) (*ssm.ListTagsForResourceOutput, error) {
	p, err := s.tagged(c, in.ResourceType, in.ResourceId)
	if err != nil {
		return nil, err
	}
	out := &ssm.ListTagsForResourceOutput{TagList: []types.Tag{}}
	for _, key := range slices.Sorted(maps.Keys(p.Tags)) {
		out.TagList = append(out.TagList, types.Tag{Key: aws.String(key), Value: aws.String(p.Tags[key])})
	}
	return out, nil
}
