package kmssim

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/kms/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

const mostTags = 50

type grant struct {
	ID, Token, Name, Grantee string
	Retiring                 string `json:",omitempty"`
	Operations               []types.GrantOperation
	CreatedAt                time.Time
}

func (s *Service) grantOperations() []service.Operation {
	return []service.Operation{
		service.Write("CreateGrant", s.createGrant, "KeyId", "GranteePrincipal", "RetiringPrincipal", "Operations", "Name"),
		service.Read("ListGrants", s.listGrants, "KeyId", "GrantId", "GranteePrincipal", "Marker", "Limit"),
		service.Write("RetireGrant", s.retireGrant, "KeyId", "GrantId", "GrantToken"),
		service.Write("RevokeGrant", s.revokeGrant, "KeyId", "GrantId"),
	}
}

func (s *Service) createGrant(c *service.Call, in *kms.CreateGrantInput) (*kms.CreateGrantOutput, error) {
	k, err := s.lookup(c, in.KeyId)
	if err != nil {
		return nil, err
	}
	if aws.ToString(in.GranteePrincipal) == "" || len(in.Operations) == 0 {
		return nil, invalid("A grant needs a grantee principal and operations")
	}
	g := &grant{
		ID: c.World.NewID("", 64), Token: c.World.NewID("", 64), Name: aws.ToString(in.Name), Grantee: *in.GranteePrincipal,
		Retiring: aws.ToString(in.RetiringPrincipal), Operations: in.Operations, CreatedAt: c.World.Now().UTC(),
	}
	if k.Grants == nil {
		k.Grants = map[string]*grant{}
	}
	k.Grants[g.ID] = g
	return &kms.CreateGrantOutput{GrantId: aws.String(g.ID), GrantToken: aws.String(g.Token)}, nil
}

func (s *Service) listGrants(c *service.Call, in *kms.ListGrantsInput) (*kms.ListGrantsOutput, error) {
	k, err := s.lookup(c, in.KeyId)
	if err != nil {
		return nil, err
	}
	ids := slices.DeleteFunc(slices.Sorted(maps.Keys(k.Grants)), func(id string) bool {
		return in.GrantId != nil && *in.GrantId != id || in.GranteePrincipal != nil && *in.GranteePrincipal != k.Grants[id].Grantee
	})
	ids, truncated, next, err := page(ids, in.Marker, in.Limit, 50)
	if err != nil {
		return nil, err
	}
	out := &kms.ListGrantsOutput{Grants: []types.GrantListEntry{}, Truncated: truncated, NextMarker: next}
	for _, id := range ids {
		g := k.Grants[id]
		entry := types.GrantListEntry{
			GrantId: aws.String(id), KeyId: aws.String(s.arn(c.Region, k.ID)), Name: aws.String(g.Name), GranteePrincipal: aws.String(g.Grantee),
			Operations: g.Operations, CreationDate: aws.Time(g.CreatedAt), IssuingAccount: aws.String("arn:aws:iam::" + s.account + ":root"),
		}
		if g.Retiring != "" {
			entry.RetiringPrincipal = aws.String(g.Retiring)
		}
		out.Grants = append(out.Grants, entry)
	}
	return out, nil
}

func (s *Service) retireGrant(c *service.Call, in *kms.RetireGrantInput) (*kms.RetireGrantOutput, error) {
	for _, k := range s.in(c.Region).Keys {
		for id, g := range k.Grants {
			if in.GrantToken != nil && *in.GrantToken == g.Token || in.GrantId != nil && *in.GrantId == id {
				delete(k.Grants, id)
				return &kms.RetireGrantOutput{}, nil
			}
		}
	}
	return nil, notFound("The grant does not exist")
}

func (s *Service) revokeGrant(c *service.Call, in *kms.RevokeGrantInput) (*kms.RevokeGrantOutput, error) {
	k, err := s.lookup(c, in.KeyId)
	if err != nil {
		return nil, err
	}
	if k.Grants[aws.ToString(in.GrantId)] == nil {
		return nil, notFound("Grant ID %s not found", aws.ToString(in.GrantId))
	}
	delete(k.Grants, *in.GrantId)
	return &kms.RevokeGrantOutput{}, nil
}

func (s *Service) tagOperations() []service.Operation {
	return []service.Operation{
		service.Write("TagResource", s.tagResource, "KeyId", "Tags"),
		service.Write("UntagResource", s.untagResource, "KeyId", "TagKeys"),
		service.Read("ListResourceTags", s.listResourceTags, "KeyId", "Marker", "Limit"),
	}
}

// tagged returns existing with the asked tags set, as a new map.
func tagged(existing map[string]string, asked []types.Tag) (map[string]string, error) {
	out := maps.Clone(existing)
	if out == nil {
		out = map[string]string{}
	}
	for _, t := range asked {
		name := aws.ToString(t.TagKey)
		if name == "" || len(name) > 128 || strings.HasPrefix(strings.ToLower(name), "aws:") || len(aws.ToString(t.TagValue)) > 256 {
			return nil, service.Refuse("TagException", "The tag with key %q is not valid", name)
		}
		out[name] = aws.ToString(t.TagValue)
	}
	if len(out) > mostTags {
		return nil, service.Refuse("TagException", "Too many tags")
	}
	return out, nil
}

func (s *Service) tagResource(c *service.Call, in *kms.TagResourceInput) (*kms.TagResourceOutput, error) {
	k, err := s.changeable(c, in.KeyId)
	if err != nil {
		return nil, err
	}
	tags, err := tagged(k.Tags, in.Tags)
	if err != nil {
		return nil, err
	}
	k.Tags = tags
	return &kms.TagResourceOutput{}, nil
}

func (s *Service) untagResource(c *service.Call, in *kms.UntagResourceInput) (*kms.UntagResourceOutput, error) {
	k, err := s.changeable(c, in.KeyId)
	if err != nil {
		return nil, err
	}
	for _, name := range in.TagKeys {
		delete(k.Tags, name)
	}
	return &kms.UntagResourceOutput{}, nil
}

func (s *Service) listResourceTags(c *service.Call, in *kms.ListResourceTagsInput) (*kms.ListResourceTagsOutput, error) {
	k, err := s.lookup(c, in.KeyId)
	if err != nil {
		return nil, err
	}
	names, truncated, next, err := page(slices.Sorted(maps.Keys(k.Tags)), in.Marker, in.Limit, 50)
	if err != nil {
		return nil, err
	}
	out := &kms.ListResourceTagsOutput{Tags: []types.Tag{}, Truncated: truncated, NextMarker: next}
	for _, name := range names {
		out.Tags = append(out.Tags, types.Tag{TagKey: aws.String(name), TagValue: aws.String(k.Tags[name])})
	}
	return out, nil
}
