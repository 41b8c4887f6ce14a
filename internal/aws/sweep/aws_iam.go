package sweep

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/krops-go/krops/internal/aws/awserr"
	"github.com/krops-go/krops/internal/aws/inventory"
)

func (a *account) roleState(ctx context.Context, item inventory.Item) (State, error) {
	_, err := a.iam().GetRole(ctx, &iam.GetRoleInput{RoleName: aws.String(item.ID)})
	return State{Phase: Present}, err
}

// deleteRole takes away first what keeps a role from being deleted. All of it
// is part of the role; the policies and profiles themselves stay.
func (a *account) deleteRole(ctx context.Context, item inventory.Item) error {
	api, role := a.iam(), aws.String(item.ID)
	if err := detachPolicies(ctx, api, role); err != nil {
		return err
	}
	if err := deleteInlinePolicies(ctx, api, role); err != nil {
		return err
	}
	if err := leaveInstanceProfiles(ctx, api, role); err != nil {
		return err
	}
	_, err := api.DeleteRole(ctx, &iam.DeleteRoleInput{RoleName: role})
	return err
}

func detachPolicies(ctx context.Context, api *iam.Client, role *string) error {
	pages := iam.NewListAttachedRolePoliciesPaginator(api, &iam.ListAttachedRolePoliciesInput{RoleName: role})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return fmt.Errorf("list attached policies: %w", err)
		}
		for _, policy := range page.AttachedPolicies {
			_, err := api.DetachRolePolicy(ctx, &iam.DetachRolePolicyInput{RoleName: role, PolicyArn: policy.PolicyArn})
			if err != nil && !awserr.NotFound(err) {
				return fmt.Errorf("detach policy %s: %w", aws.ToString(policy.PolicyArn), err)
			}
		}
	}
	return nil
}

func deleteInlinePolicies(ctx context.Context, api *iam.Client, role *string) error {
	pages := iam.NewListRolePoliciesPaginator(api, &iam.ListRolePoliciesInput{RoleName: role})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return fmt.Errorf("list inline policies: %w", err)
		}
		for _, policy := range page.PolicyNames {
			_, err := api.DeleteRolePolicy(ctx, &iam.DeleteRolePolicyInput{RoleName: role, PolicyName: aws.String(policy)})
			if err != nil && !awserr.NotFound(err) {
				return fmt.Errorf("delete inline policy %s: %w", policy, err)
			}
		}
	}
	return nil
}

func leaveInstanceProfiles(ctx context.Context, api *iam.Client, role *string) error {
	pages := iam.NewListInstanceProfilesForRolePaginator(api, &iam.ListInstanceProfilesForRoleInput{RoleName: role})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return fmt.Errorf("list instance profiles: %w", err)
		}
		for _, profile := range page.InstanceProfiles {
			_, err := api.RemoveRoleFromInstanceProfile(ctx, &iam.RemoveRoleFromInstanceProfileInput{
				RoleName: role, InstanceProfileName: profile.InstanceProfileName,
			})
			if err != nil && !awserr.NotFound(err) {
				return fmt.Errorf("leave instance profile %s: %w", aws.ToString(profile.InstanceProfileName), err)
			}
		}
	}
	return nil
}

func (a *account) oidcProviderState(ctx context.Context, item inventory.Item) (State, error) {
	_, err := a.iam().GetOpenIDConnectProvider(ctx, &iam.GetOpenIDConnectProviderInput{OpenIDConnectProviderArn: aws.String(item.ID)})
	return State{Phase: Present}, err
}

func (a *account) deleteOIDCProvider(ctx context.Context, item inventory.Item) error {
	_, err := a.iam().DeleteOpenIDConnectProvider(ctx, &iam.DeleteOpenIDConnectProviderInput{OpenIDConnectProviderArn: aws.String(item.ID)})
	return err
}
