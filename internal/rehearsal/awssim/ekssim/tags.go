package ekssim

import (
	"maps"
	"net/http"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

const maxTags = 50

func (s *Service) tagOperations() []service.Operation {
	return []service.Operation{
		service.Write("TagResource", s.tagResource, "ResourceArn", "Tags"),
		service.Write("UntagResource", s.untagResource, "ResourceArn", "TagKeys"),
		service.Read("ListTagsForResource", s.listTagsForResource, "ResourceArn"),
	}
}

// tagged returns existing with the asked tags set, as a new map.
func tagged(existing, asked map[string]string) (map[string]string, error) {
	out := map[string]string{}
	maps.Copy(out, existing)
	for k, v := range asked {
		if k == "" || len(k) > 128 || len(v) > 256 || strings.HasPrefix(strings.ToLower(k), "aws:") {
			return nil, invalidParameter("tag %q must have a key of 1 to 128 characters that does not begin with aws: and a value of at most 256", k)
		}
		out[k] = v
	}
	if len(out) > maxTags {
		return nil, invalidParameter("a resource can have at most %d tags", maxTags)
	}
	return out, nil
}

// taggable is the tags of something in EKS, to be read or replaced.
type taggable struct {
	arn, region string
	tags        *map[string]string
}

// taggables are everything in EKS that has tags.
func (s *Service) taggables() []taggable {
	var out []taggable
	for cl := range s.all() {
		add := func(arn *string, tags *map[string]string) {
			out = append(out, taggable{arn: aws.ToString(arn), region: cl.ID.Region, tags: tags})
		}
		add(cl.View.Arn, &cl.View.Tags)
		for _, ng := range cl.NodeGroups {
			add(ng.View.NodegroupArn, &ng.View.Tags)
		}
		for _, a := range cl.Addons {
			add(a.View.AddonArn, &a.View.Tags)
		}
		for _, e := range cl.AccessEntries {
			add(e.View.AccessEntryArn, &e.View.Tags)
		}
		for _, p := range cl.PodIdentities {
			add(p.View.AssociationArn, &p.View.Tags)
		}
		if p := cl.IdentityProvider; p != nil {
			add(p.View.IdentityProviderConfigArn, &p.View.Tags)
		}
	}
	return out
}

func (s *Service) tagsOf(arn *string) (*map[string]string, error) {
	for _, t := range s.taggables() {
		if t.arn == aws.ToString(arn) {
			return t.tags, nil
		}
	}
	return nil, service.RefuseStatus(http.StatusNotFound, "NotFoundException", "The specified resource could not be found: %s", aws.ToString(arn))
}

func (s *Service) tagResource(_ *service.Call, in *eks.TagResourceInput) (*eks.TagResourceOutput, error) {
	tags, err := s.tagsOf(in.ResourceArn)
	if err != nil {
		return nil, err
	}
	changed, err := tagged(*tags, in.Tags)
	if err != nil { // the one action whose code for this is its own
		return nil, service.Refuse("BadRequestException", "%s", err)
	}
	*tags = changed
	return &eks.TagResourceOutput{}, nil
}

func (s *Service) untagResource(_ *service.Call, in *eks.UntagResourceInput) (*eks.UntagResourceOutput, error) {
	tags, err := s.tagsOf(in.ResourceArn)
	if err != nil {
		return nil, err
	}
	changed := maps.Clone(*tags)
	for _, k := range in.TagKeys {
		delete(changed, k)
	}
	*tags = changed
	return &eks.UntagResourceOutput{}, nil
}

func (s *Service) listTagsForResource(_ *service.Call, in *eks.ListTagsForResourceInput) (*eks.ListTagsForResourceOutput, error) {
	tags, err := s.tagsOf(in.ResourceArn)
	if err != nil {
		return nil, err
	}
	return &eks.ListTagsForResourceOutput{Tags: *tags}, nil
}
