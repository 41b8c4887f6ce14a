package iamsim

import (
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

const (
	maxThumbprints = 5
	maxClientIDs   = 100
)

var thumbprintPattern = regexp.MustCompile(`^[0-9A-Fa-f]{40}$`)

type oidcProvider struct {
	ARN         string
	URL         string // without the scheme, as IAM shows it
	ClientIDs   []string
	Thumbprints []string
	CreatedAt   time.Time
	Tags        map[string]string
}

func (s *Service) oidcOperations() []service.Operation {
	return []service.Operation{
		service.Write("CreateOpenIDConnectProvider", s.createProvider, "Url", "ClientIDList", "ThumbprintList", "Tags"),
		service.Read("GetOpenIDConnectProvider", s.getProvider, "OpenIDConnectProviderArn"),
		service.Read("ListOpenIDConnectProviders", s.listProviders),
		service.Write("DeleteOpenIDConnectProvider", s.deleteProvider, "OpenIDConnectProviderArn"),
		service.Write("TagOpenIDConnectProvider", s.tagProvider, "OpenIDConnectProviderArn", "Tags"),
		service.Write("UntagOpenIDConnectProvider", s.untagProvider, "OpenIDConnectProviderArn", "TagKeys"),
		service.Read("ListOpenIDConnectProviderTags", s.listProviderTags, "OpenIDConnectProviderArn", "Marker", "MaxItems"),
	}
}

func (s *Service) lookupProvider(arn *string) (*oidcProvider, error) {
	if p := s.state.Providers[aws.ToString(arn)]; p != nil {
		return p, nil
	}
	return nil, noSuchEntity("OpenIDConnect Provider not found for arn %s", aws.ToString(arn))
}

// createProvider differs from AWS in one thing: it takes a URL with a port,
// since a rehearsed cluster's issuer is on loopback.
func (s *Service) createProvider(c *service.Call, in *iam.CreateOpenIDConnectProviderInput) (*iam.CreateOpenIDConnectProviderOutput, error) {
	issuer, err := url.Parse(aws.ToString(in.Url))
	if err != nil || issuer.Scheme != "https" || issuer.Host == "" || issuer.RawQuery != "" {
		return nil, service.Refuse("ValidationError", "Invalid Open ID Connect Provider URL %q: it must begin with https:// and have no query", aws.ToString(in.Url))
	}
	if len(in.ClientIDList) > maxClientIDs {
		return nil, limitExceeded("Cannot exceed quota for ClientIdsPerOpenIdConnectProvider: %d", maxClientIDs)
	}
	if len(in.ThumbprintList) > maxThumbprints {
		return nil, service.Refuse("InvalidInput", "Thumbprint list must contain fewer than %d entries.", maxThumbprints+1)
	}
	for _, t := range in.ThumbprintList {
		if !thumbprintPattern.MatchString(t) {
			return nil, service.Refuse("InvalidInput", "Thumbprint %q is not the 40 hexadecimal digits of a SHA-1 sum.", t)
		}
	}
	tags, err := tagged(nil, in.Tags)
	if err != nil {
		return nil, err
	}
	shown := strings.TrimSuffix(issuer.Host+issuer.Path, "/")
	arn := "arn:aws:iam::" + c.Account + ":oidc-provider/" + shown
	if s.state.Providers[arn] != nil {
		return nil, alreadyExists("Provider with url %s already exists.", *in.Url)
	}
	s.state.Providers[arn] = &oidcProvider{
		ARN: arn, URL: shown, ClientIDs: slices.Clone(in.ClientIDList), Thumbprints: slices.Clone(in.ThumbprintList),
		CreatedAt: c.World.Now().UTC(), Tags: tags,
	}
	return &iam.CreateOpenIDConnectProviderOutput{OpenIDConnectProviderArn: aws.String(arn), Tags: tagList(tags)}, nil
}

func (s *Service) getProvider(_ *service.Call, in *iam.GetOpenIDConnectProviderInput) (*iam.GetOpenIDConnectProviderOutput, error) {
	p, err := s.lookupProvider(in.OpenIDConnectProviderArn)
	if err != nil {
		return nil, err
	}
	return &iam.GetOpenIDConnectProviderOutput{
		Url: aws.String(p.URL), ClientIDList: slices.Clone(p.ClientIDs), ThumbprintList: slices.Clone(p.Thumbprints),
		CreateDate: aws.Time(p.CreatedAt), Tags: tagList(p.Tags),
	}, nil
}

func (s *Service) listProviders(*service.Call, *iam.ListOpenIDConnectProvidersInput) (*iam.ListOpenIDConnectProvidersOutput, error) {
	out := &iam.ListOpenIDConnectProvidersOutput{OpenIDConnectProviderList: []types.OpenIDConnectProviderListEntry{}}
	for _, arn := range slices.Sorted(maps.Keys(s.state.Providers)) {
		out.OpenIDConnectProviderList = append(out.OpenIDConnectProviderList, types.OpenIDConnectProviderListEntry{Arn: aws.String(arn)})
	}
	return out, nil
}

// deleteProvider accepts an unknown ARN: the action is idempotent ("IAM API,
// DeleteOpenIDConnectProvider").
func (s *Service) deleteProvider(_ *service.Call, in *iam.DeleteOpenIDConnectProviderInput) (*iam.DeleteOpenIDConnectProviderOutput, error) {
	delete(s.state.Providers, aws.ToString(in.OpenIDConnectProviderArn))
	return &iam.DeleteOpenIDConnectProviderOutput{}, nil
}

func (s *Service) tagProvider(_ *service.Call, in *iam.TagOpenIDConnectProviderInput) (*iam.TagOpenIDConnectProviderOutput, error) {
	p, err := s.lookupProvider(in.OpenIDConnectProviderArn)
	if err != nil {
		return nil, err
	}
	tags, err := tagged(p.Tags, in.Tags)
	if err != nil {
		return nil, err
	}
	p.Tags = tags
	return &iam.TagOpenIDConnectProviderOutput{}, nil
}

func (s *Service) untagProvider(_ *service.Call, in *iam.UntagOpenIDConnectProviderInput) (*iam.UntagOpenIDConnectProviderOutput, error) {
	p, err := s.lookupProvider(in.OpenIDConnectProviderArn)
	if err != nil {
		return nil, err
	}
	p.Tags = untagged(p.Tags, in.TagKeys)
	return &iam.UntagOpenIDConnectProviderOutput{}, nil
}

func (s *Service) listProviderTags(_ *service.Call, in *iam.ListOpenIDConnectProviderTagsInput) (*iam.ListOpenIDConnectProviderTagsOutput, error) {
	p, err := s.lookupProvider(in.OpenIDConnectProviderArn)
	if err != nil {
		return nil, err
	}
	part, truncated, next, err := tagPage(p.Tags, in.Marker, in.MaxItems)
	if err != nil {
		return nil, err
	}
	return &iam.ListOpenIDConnectProviderTagsOutput{Tags: part, IsTruncated: truncated, Marker: next}, nil
}
