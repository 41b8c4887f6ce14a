package ec2sim

import (
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
	"github.com/krops-go/krops/internal/rehearsal/awssim/taggingsim"
)

func (s *Service) tagOperations() []service.Operation {
	return []service.Operation{
		write(s, "CreateTags", (*place).createTags, "Resources", "Tags"),
		write(s, "DeleteTags", (*place).deleteTags, "Resources", "Tags"),
		read(s, "DescribeTags", (*place).describeTags, "Filters", "MaxResults", "NextToken"),
	}
}

// taggable returns what the ids of a tagging call name. If one of them names
// nothing, the call fails as a whole.
func (p *place) taggable(ids []string) ([]*header, error) {
	if len(ids) == 0 {
		return nil, missing("resourceIdSet")
	}
	known := map[string]*header{}
	for _, e := range p.entries() {
		known[e.ID] = e.header
	}
	var found []*header
	for _, id := range ids {
		h, ok := known[id]
		if !ok {
			return nil, unknownResource(id)
		}
		found = append(found, h)
	}
	return found, nil
}

// unknownResource refuses an id by the kind that its prefix names.
func unknownResource(id string) error {
	kinds := []kind{
		vpcKind, subnetKind, internetGatewayKind, natGatewayKind, elasticIPKind, routeTableKind, securityGroupKind,
		networkACLKind, networkInterfaceKind, instanceKind, securityGroupRuleKind, volumeKind, vpcEndpointKind,
		launchTemplateKind,
	}
	for _, k := range kinds {
		if strings.HasPrefix(id, k.prefix) {
			return k.unknown(id)
		}
	}
	return service.Refuse("InvalidID", "The ID '%s' is not valid", id)
}

func (p *place) createTags(in *ec2.CreateTagsInput) (*ec2.CreateTagsOutput, error) {
	resources, err := p.taggable(in.Resources)
	if err != nil {
		return nil, err
	}
	if len(in.Tags) == 0 {
		return nil, missing("tagSet")
	}
	added, err := checkTags(in.Tags)
	if err != nil {
		return nil, err
	}
	merged := make([]tags, len(resources))
	for i, r := range resources {
		merged[i] = tags{}
		maps.Copy(merged[i], r.Tags)
		maps.Copy(merged[i], added)
		if err := merged[i].limit(); err != nil {
			return nil, err
		}
	}
	for i, r := range resources {
		r.Tags = merged[i]
	}
	return &ec2.CreateTagsOutput{}, nil
}

// deleteTags removes a tag given with a value only if it has that value, and
// every tag if none is given (EC2 API, DeleteTags).
func (p *place) deleteTags(in *ec2.DeleteTagsInput) (*ec2.DeleteTagsOutput, error) {
	resources, err := p.taggable(in.Resources)
	if err != nil {
		return nil, err
	}
	for _, tag := range in.Tags {
		if strings.HasPrefix(strings.ToLower(aws.ToString(tag.Key)), reservedTags) {
			return nil, invalid("Tag keys starting with 'aws:' are reserved for internal use")
		}
	}
	for _, r := range resources {
		if len(in.Tags) == 0 {
			maps.DeleteFunc(r.Tags, func(key, _ string) bool { return !strings.HasPrefix(key, reservedTags) })
		}
		for _, tag := range in.Tags {
			if tag.Value == nil || *tag.Value == r.Tags[aws.ToString(tag.Key)] {
				delete(r.Tags, aws.ToString(tag.Key))
			}
		}
	}
	return &ec2.DeleteTagsOutput{}, nil
}

// tagEntry is one tag of one resource, as DescribeTags lists them.
type tagEntry struct {
	id, typ, key, value string
}

var tagFields = fields[tagEntry]{
	by: map[string]func(*place, tagEntry) []string{
		"key":           one(func(t tagEntry) string { return t.key }),
		"resource-id":   one(func(t tagEntry) string { return t.id }),
		"resource-type": one(func(t tagEntry) string { return t.typ }),
		"value":         one(func(t tagEntry) string { return t.value }),
	},
	tags: func(t tagEntry) tags { return tags{t.key: t.value} },
}

func (p *place) describeTags(in *ec2.DescribeTagsInput) (*ec2.DescribeTagsOutput, error) {
	if err := tagFields.check(in.Filters); err != nil {
		return nil, err
	}
	var found []tagEntry
	for _, e := range p.entries() {
		for _, key := range e.Tags.keys() {
			t := tagEntry{id: e.ID, typ: e.kind.typ, key: key, value: e.Tags[key]}
			if tagFields.match(p, t, in.Filters) {
				found = append(found, t)
			}
		}
	}
	position := func(t tagEntry) string { return t.id + "\x00" + t.key }
	slices.SortFunc(found, func(a, b tagEntry) int { return strings.Compare(position(a), position(b)) })
	found, next, err := page(found, position, largePage, selection{max: in.MaxResults, token: in.NextToken})
	if err != nil {
		return nil, err
	}
	out := &ec2.DescribeTagsOutput{NextToken: next}
	for _, t := range found {
		out.Tags = append(out.Tags, types.TagDescription{
			ResourceId: aws.String(t.id), ResourceType: types.ResourceType(t.typ),
			Key: aws.String(t.key), Value: aws.String(t.value),
		})
	}
	return out, nil
}

// TaggedResources implements taggingsim.Taggable.
func (s *Service) TaggedResources(region string) []taggingsim.TaggedResource {
	p, err := s.at(region, nil)
	if err != nil {
		return nil
	}
	var resources []taggingsim.TaggedResource
	for _, e := range p.entries() {
		if len(e.Tags) > 0 {
			resources = append(resources, taggingsim.TaggedResource{ARN: p.arn(e.kind, e.ID), Tags: maps.Clone(e.Tags)})
		}
	}
	return resources
}
