package ekssim

import (
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

const (
	policyPrefix       = "arn:aws:eks::aws:cluster-access-policy/"
	clusterAdminPolicy = policyPrefix + "AmazonEKSClusterAdminPolicy"
)

// accessPolicies are the general ones that EKS offers, sorted.
func accessPolicies() []string {
	return []string{
		"AmazonEKSAdminPolicy", "AmazonEKSAdminViewPolicy", "AmazonEKSClusterAdminPolicy", "AmazonEKSEditPolicy", "AmazonEKSViewPolicy",
	}
}

func (s *Service) listAccessPolicies(_ *service.Call, in *eks.ListAccessPoliciesInput) (*eks.ListAccessPoliciesOutput, error) {
	part, next, err := page(accessPolicies(), in.NextToken, in.MaxResults)
	if err != nil {
		return nil, err
	}
	out := &eks.ListAccessPoliciesOutput{NextToken: next}
	for _, name := range part {
		out.AccessPolicies = append(out.AccessPolicies, types.AccessPolicy{Name: aws.String(name), Arn: aws.String(policyPrefix + name)})
	}
	return out, nil
}

func checkPolicy(arn *string) (string, error) {
	for _, name := range accessPolicies() {
		if policyPrefix+name == aws.ToString(arn) {
			return *arn, nil
		}
	}
	return "", notFound("The specified policyArn could not be found: %s", aws.ToString(arn))
}

func accessScope(in *types.AccessScope) (*types.AccessScope, error) {
	switch {
	case in == nil:
		return nil, invalidParameter("accessScope must be given")
	case in.Type == types.AccessScopeTypeCluster && len(in.Namespaces) > 0:
		return nil, invalidParameter("accessScope of type cluster cannot have namespaces")
	case in.Type == types.AccessScopeTypeNamespace && len(in.Namespaces) == 0:
		return nil, invalidParameter("accessScope of type namespace needs namespaces")
	case !slices.Contains(in.Type.Values(), in.Type):
		return nil, invalidParameter("unknown accessScope type %q", in.Type)
	}
	return &types.AccessScope{Type: in.Type, Namespaces: append([]string{}, in.Namespaces...)}, nil
}

func (s *Service) associateAccessPolicy(c *service.Call, in *eks.AssociateAccessPolicyInput) (*eks.AssociateAccessPolicyOutput, error) {
	cl, e, err := s.lookupEntry(c.Region, in.ClusterName, in.PrincipalArn)
	if err != nil {
		return nil, err
	}
	if *e.View.Type != standardEntry {
		return nil, invalidRequest("Access policies cannot be associated with an access entry of type %s", *e.View.Type)
	}
	arn, err := checkPolicy(in.PolicyArn)
	if err != nil {
		return nil, err
	}
	scope, err := accessScope(in.AccessScope)
	if err != nil {
		return nil, err
	}
	now := c.World.Now().UTC()
	associated := now
	if before, ok := e.Policies[arn]; ok {
		associated = *before.AssociatedAt
	}
	policy := types.AssociatedAccessPolicy{
		PolicyArn: aws.String(arn), AccessScope: scope, AssociatedAt: aws.Time(associated), ModifiedAt: aws.Time(now),
	}
	e.Policies[arn] = policy
	return &eks.AssociateAccessPolicyOutput{
		ClusterName: aws.String(cl.ID.Name), PrincipalArn: e.View.PrincipalArn, AssociatedAccessPolicy: &policy,
	}, nil
}

func (s *Service) disassociateAccessPolicy(c *service.Call, in *eks.DisassociateAccessPolicyInput) (*eks.DisassociateAccessPolicyOutput, error) {
	_, e, err := s.lookupEntry(c.Region, in.ClusterName, in.PrincipalArn)
	if err != nil {
		return nil, err
	}
	if _, ok := e.Policies[aws.ToString(in.PolicyArn)]; !ok {
		return nil, notFound("The specified policyArn is not associated with the access entry: %s", aws.ToString(in.PolicyArn))
	}
	delete(e.Policies, *in.PolicyArn)
	return &eks.DisassociateAccessPolicyOutput{}, nil
}

func (s *Service) listAssociatedAccessPolicies(c *service.Call, in *eks.ListAssociatedAccessPoliciesInput) (*eks.ListAssociatedAccessPoliciesOutput, error) {
	cl, e, err := s.lookupEntry(c.Region, in.ClusterName, in.PrincipalArn)
	if err != nil {
		return nil, err
	}
	part, next, err := page(slices.Sorted(maps.Keys(e.Policies)), in.NextToken, in.MaxResults)
	if err != nil {
		return nil, err
	}
	out := &eks.ListAssociatedAccessPoliciesOutput{
		ClusterName: aws.String(cl.ID.Name), PrincipalArn: e.View.PrincipalArn, NextToken: next,
		AssociatedAccessPolicies: []types.AssociatedAccessPolicy{},
	}
	for _, arn := range part {
		out.AssociatedAccessPolicies = append(out.AssociatedAccessPolicies, e.Policies[arn])
	}
	return out, nil
}
