package inventory

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"
	"golang.org/x/sync/errgroup"

	"github.com/krops-go/krops/internal/aws/awserr"
)

// concurrentTagReads bounds the calls that read one role's tags each.
const concurrentTagReads = 8

// serviceLinkedPath holds the roles of AWS services, which no cluster owns and
// nobody can delete this way.
const serviceLinkedPath = "/aws-service-role/"

func iamListings(api IAM) []listing {
	return []listing{
		{
			service: "iam", name: "roles", kinds: []Kind{Role},
			list: func(ctx context.Context) ([]Item, error) { return roles(ctx, api) },
		},
		{
			service: "iam", name: "openid connect providers", kinds: []Kind{OIDCProvider},
			list: func(ctx context.Context) ([]Item, error) { return oidcProviders(ctx, api) },
		},
	}
}

// roles reads every role and its tags. The provider shortens most node role
// names to a hash, and the central tag search may leave roles out, so there is
// no quicker way that finds all of them.
func roles(ctx context.Context, api IAM) ([]Item, error) {
	var names []string
	pages := iam.NewListRolesPaginator(api, &iam.ListRolesInput{})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, role := range page.Roles {
			if !strings.HasPrefix(aws.ToString(role.Path), serviceLinkedPath) {
				names = append(names, aws.ToString(role.RoleName))
			}
		}
	}
	return readEach(ctx, names, func(ctx context.Context, name string) (*Item, error) {
		out, err := api.GetRole(ctx, &iam.GetRoleInput{RoleName: aws.String(name)})
		if awserr.NotFound(err) {
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("tags of role %s: %w", name, err)
		}
		return &Item{Kind: Role, ID: name, Name: name, Tags: iamTags(out.Role.Tags)}, nil
	})
}

func oidcProviders(ctx context.Context, api IAM) ([]Item, error) {
	out, err := api.ListOpenIDConnectProviders(ctx, &iam.ListOpenIDConnectProvidersInput{})
	if err != nil {
		return nil, err
	}
	var arns []string
	for _, provider := range out.OpenIDConnectProviderList {
		arns = append(arns, aws.ToString(provider.Arn))
	}
	return readEach(ctx, arns, func(ctx context.Context, arn string) (*Item, error) {
		out, err := api.GetOpenIDConnectProvider(ctx, &iam.GetOpenIDConnectProviderInput{OpenIDConnectProviderArn: aws.String(arn)})
		if awserr.NotFound(err) {
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("tags of provider %s: %w", arn, err)
		}
		return &Item{Kind: OIDCProvider, ID: arn, Name: aws.ToString(out.Url), Tags: iamTags(out.Tags)}, nil
	})
}

// readEach reads the details of ids side by side. read returns nil for what
// vanished since it was listed. The items whose details could be read are
// returned with the errors of the others.
func readEach(ctx context.Context, ids []string, read func(context.Context, string) (*Item, error)) ([]Item, error) {
	details := make([]*Item, len(ids))
	failed := make([]error, len(ids))
	var group errgroup.Group
	group.SetLimit(concurrentTagReads)
	for n, id := range ids {
		group.Go(func() error {
			details[n], failed[n] = read(ctx, id)
			return nil
		})
	}
	_ = group.Wait()
	var items []Item
	for _, item := range details {
		if item != nil {
			items = append(items, *item)
		}
	}
	return items, errors.Join(failed...)
}

func iamTags(tags []types.Tag) map[string]string {
	m := make(map[string]string, len(tags))
	for _, tag := range tags {
		m[aws.ToString(tag.Key)] = aws.ToString(tag.Value)
	}
	return m
}
