package iamsim

import (
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// maxAttached is the default quota of managed policies per role.
const maxAttached = 10

func (s *Service) rolePolicyOperations() []service.Operation {
	return []service.Operation{
		service.Read("GetPolicy", s.getPolicy, "PolicyArn"),
		service.Write("AttachRolePolicy", s.attachRolePolicy, "RoleName", "PolicyArn"),
		service.Write("DetachRolePolicy", s.detachRolePolicy, "RoleName", "PolicyArn"),
		service.Read("ListAttachedRolePolicies", s.listAttachedRolePolicies, "RoleName", "PathPrefix", "Marker", "MaxItems"),
		service.Write("PutRolePolicy", s.putRolePolicy, "RoleName", "PolicyName", "PolicyDocument"),
		service.Read("GetRolePolicy", s.getRolePolicy, "RoleName", "PolicyName"),
		service.Write("DeleteRolePolicy", s.deleteRolePolicy, "RoleName", "PolicyName"),
		service.Read("ListRolePolicies", s.listRolePolicies, "RoleName", "Marker", "MaxItems"),
	}
}

func (s *Service) attachRolePolicy(_ *service.Call, in *iam.AttachRolePolicyInput) (*iam.AttachRolePolicyOutput, error) {
	r, err := s.lookupRole(in.RoleName)
	if err != nil {
		return nil, err
	}
	arn := aws.ToString(in.PolicyArn)
	if _, err := s.lookupPolicy(arn); err != nil {
		return nil, err
	}
	if !r.Attached[arn] && len(r.Attached) >= maxAttached {
		return nil, limitExceeded("Cannot exceed quota for PoliciesPerRole: %d", maxAttached)
	}
	r.Attached[arn] = true
	return &iam.AttachRolePolicyOutput{}, nil
}

func (s *Service) detachRolePolicy(_ *service.Call, in *iam.DetachRolePolicyInput) (*iam.DetachRolePolicyOutput, error) {
	r, err := s.lookupRole(in.RoleName)
	if err != nil {
		return nil, err
	}
	arn := aws.ToString(in.PolicyArn)
	if !r.Attached[arn] {
		return nil, noSuchEntity("Policy %s was not found.", arn)
	}
	delete(r.Attached, arn)
	return &iam.DetachRolePolicyOutput{}, nil
}

func (s *Service) listAttachedRolePolicies(_ *service.Call, in *iam.ListAttachedRolePoliciesInput) (*iam.ListAttachedRolePoliciesOutput, error) {
	r, err := s.lookupRole(in.RoleName)
	if err != nil {
		return nil, err
	}
	part, truncated, next, err := attachedPage(r.Attached, in.PathPrefix, in.Marker, in.MaxItems)
	if err != nil {
		return nil, err
	}
	return &iam.ListAttachedRolePoliciesOutput{AttachedPolicies: part, IsTruncated: truncated, Marker: next}, nil
}

func (s *Service) putRolePolicy(_ *service.Call, in *iam.PutRolePolicyInput) (*iam.PutRolePolicyOutput, error) {
	r, err := s.lookupRole(in.RoleName)
	if err != nil {
		return nil, err
	}
	name, err := checkName("policyName", in.PolicyName, maxPolicyName)
	if err != nil {
		return nil, err
	}
	document := aws.ToString(in.PolicyDocument)
	if _, err := parseDocument(document); err != nil {
		return nil, err
	}
	r.Inline[name] = document
	return &iam.PutRolePolicyOutput{}, nil
}

func (r *role) inline(policyName *string) (name, document string, err error) {
	name, err = checkName("policyName", policyName, maxPolicyName)
	if err != nil {
		return "", "", err
	}
	document, ok := r.Inline[name]
	if !ok {
		return "", "", noSuchEntity("The role policy with name %s cannot be found.", name)
	}
	return name, document, nil
}

func (s *Service) getRolePolicy(_ *service.Call, in *iam.GetRolePolicyInput) (*iam.GetRolePolicyOutput, error) {
	r, err := s.lookupRole(in.RoleName)
	if err != nil {
		return nil, err
	}
	name, document, err := r.inline(in.PolicyName)
	if err != nil {
		return nil, err
	}
	return &iam.GetRolePolicyOutput{
		RoleName: aws.String(r.Name), PolicyName: aws.String(name), PolicyDocument: aws.String(encoded(document)),
	}, nil
}

func (s *Service) deleteRolePolicy(_ *service.Call, in *iam.DeleteRolePolicyInput) (*iam.DeleteRolePolicyOutput, error) {
	r, err := s.lookupRole(in.RoleName)
	if err != nil {
		return nil, err
	}
	name, _, err := r.inline(in.PolicyName)
	if err != nil {
		return nil, err
	}
	delete(r.Inline, name)
	return &iam.DeleteRolePolicyOutput{}, nil
}

func (s *Service) listRolePolicies(_ *service.Call, in *iam.ListRolePoliciesInput) (*iam.ListRolePoliciesOutput, error) {
	r, err := s.lookupRole(in.RoleName)
	if err != nil {
		return nil, err
	}
	part, truncated, next, err := page(slices.Sorted(maps.Keys(r.Inline)), in.Marker, in.MaxItems)
	if err != nil {
		return nil, err
	}
	return &iam.ListRolePoliciesOutput{PolicyNames: part, IsTruncated: truncated, Marker: next}, nil
}
