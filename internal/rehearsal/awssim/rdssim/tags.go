package rdssim

import (
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/rds"
	"github.com/aws/aws-sdk-go-v2/service/rds/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

const mostTags = 50

func (s *Service) tagOperations() []service.Operation {
	return []service.Operation{
		service.Read("ListTagsForResource", s.listTags, "ResourceName"),
		service.Write("AddTagsToResource", s.addTags, "ResourceName", "Tags"),
		service.Write("RemoveTagsFromResource", s.removeTags, "ResourceName", "TagKeys"),
	}
}

// tagged returns existing with the asked tags set, as a new map.
func tagged(existing map[string]string, asked []types.Tag) (map[string]string, error) {
	out := maps.Clone(existing)
	if out == nil {
		out = map[string]string{}
	}
	for _, t := range asked {
		key := aws.ToString(t.Key)
		if key == "" || len(key) > 128 || len(aws.ToString(t.Value)) > 256 || strings.HasPrefix(strings.ToLower(key), "aws:") {
			return nil, invalidValue("Invalid tag key or value: %q", key)
		}
		out[key] = aws.ToString(t.Value)
	}
	if len(out) > mostTags {
		return nil, invalidValue("Too many tags")
	}
	return out, nil
}

func tagList(tags map[string]string) []types.Tag {
	all := []types.Tag{}
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		all = append(all, types.Tag{Key: aws.String(key), Value: aws.String(tags[key])})
	}
	return all
}

// tagsOf returns where the tags of a resource are kept.
func (s *Service) tagsOf(c *service.Call, name *string) (*map[string]string, error) {
	asked := aws.ToString(name)
	rest, ok := strings.CutPrefix(asked, s.arn(c.Region, "", "")[:len(s.arn(c.Region, "", ""))-1])
	kind, id, named := strings.Cut(rest, ":")
	if !ok || !named {
		return nil, invalidValue("The specified resource name does not match an RDS resource in this region.")
	}
	r := s.in(c.Region)
	switch kind {
	case "db":
		if i := r.Instances[id]; i != nil {
			return &i.Tags, nil
		}
		return nil, noInstance(id)
	case "subgrp":
		if g := r.Groups[id]; g != nil {
			return &g.Tags, nil
		}
		return nil, noGroup(id)
	case "snapshot":
		if n := r.Snapshots[id]; n != nil {
			return &n.Tags, nil
		}
		return nil, noSnapshot(id)
	}
	return nil, invalidValue("Unknown resource type: %s", kind)
}

func (s *Service) listTags(c *service.Call, in *rds.ListTagsForResourceInput) (*rds.ListTagsForResourceOutput, error) {
	tags, err := s.tagsOf(c, in.ResourceName)
	if err != nil {
		return nil, err
	}
	return &rds.ListTagsForResourceOutput{TagList: tagList(*tags)}, nil
}

func (s *Service) addTags(c *service.Call, in *rds.AddTagsToResourceInput) (*rds.AddTagsToResourceOutput, error) {
	tags, err := s.tagsOf(c, in.ResourceName)
	if err != nil {
		return nil, err
	}
	changed, err := tagged(*tags, in.Tags)
	if err != nil {
		return nil, err
	}
	*tags = changed
	return &rds.AddTagsToResourceOutput{}, nil
}

func (s *Service) removeTags(c *service.Call, in *rds.RemoveTagsFromResourceInput) (*rds.RemoveTagsFromResourceOutput, error) {
	tags, err := s.tagsOf(c, in.ResourceName)
	if err != nil {
		return nil, err
	}
	for _, key := range in.TagKeys {
		delete(*tags, key)
	}
	return &rds.RemoveTagsFromResourceOutput{}, nil
}
