package iamsim

import (
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

func (s *Service) groupPolicyOperations() []service.Operation {
	return []service.Operation{
		service.Write("AttachGroupPolicy", s.attachGroupPolicy, "GroupName", "PolicyArn"),
		service.Write("DetachGroupPolicy", s.detachGroupPolicy, "GroupName", "PolicyArn"),
		service.Read("ListAttachedGroupPolicies", s.listAttachedGroupPolicies, "GroupName", "PathPrefix", "Marker", "MaxItems"),
		service.Write("PutGroupPolicy", s.putGroupPolicy, "GroupName", "PolicyName", "PolicyDocument"),
		service.Read("GetGroupPolicy", s.getGroupPolicy, "GroupName", "PolicyName"),
		service.Write("DeleteGroupPolicy", s.deleteGroupPolicy, "GroupName", "PolicyName"),
		service.Read("ListGroupPolicies", s.listGroupPolicies, "GroupName", "Marker", "MaxItems"),
	}
}

func (s *Service) attachGroupPolicy(_ *service.Call, in *iam.AttachGroupPolicyInput) (*iam.AttachGroupPolicyOutput, error) {
	g, err := s.lookupGroup(in.GroupName)
	if err != nil {
		return nil, err
	}
	return &iam.AttachGroupPolicyOutput{}, s.attach(g.Attached, in.PolicyArn, "PoliciesPerGroup")
}

func (s *Service) detachGroupPolicy(_ *service.Call, in *iam.DetachGroupPolicyInput) (*iam.DetachGroupPolicyOutput, error) {
	g, err := s.lookupGroup(in.GroupName)
	if err != nil {
		return nil, err
	}
	return &iam.DetachGroupPolicyOutput{}, detach(g.Attached, in.PolicyArn)
}

func (s *Service) listAttachedGroupPolicies(_ *service.Call, in *iam.ListAttachedGroupPoliciesInput) (*iam.ListAttachedGroupPoliciesOutput, error) {
	g, err := s.lookupGroup(in.GroupName)
	if err != nil {
		return nil, err
	}
	part, truncated, next, err := attachedPage(g.Attached, in.PathPrefix, in.Marker, in.MaxItems)
	if err != nil {
		return nil, err
	}
	return &iam.ListAttachedGroupPoliciesOutput{AttachedPolicies: part, IsTruncated: truncated, Marker: next}, nil
}

func (s *Service) putGroupPolicy(_ *service.Call, in *iam.PutGroupPolicyInput) (*iam.PutGroupPolicyOutput, error) {
	g, err := s.lookupGroup(in.GroupName)
	if err != nil {
		return nil, err
	}
	return &iam.PutGroupPolicyOutput{}, putInline(g.Inline, in.PolicyName, in.PolicyDocument)
}

func (s *Service) getGroupPolicy(_ *service.Call, in *iam.GetGroupPolicyInput) (*iam.GetGroupPolicyOutput, error) {
	g, err := s.lookupGroup(in.GroupName)
	if err != nil {
		return nil, err
	}
	name, document, err := inlineOf(g.Inline, in.PolicyName, "group")
	if err != nil {
		return nil, err
	}
	return &iam.GetGroupPolicyOutput{GroupName: aws.String(g.Name), PolicyName: aws.String(name), PolicyDocument: aws.String(encoded(document))}, nil
}

func (s *Service) deleteGroupPolicy(_ *service.Call, in *iam.DeleteGroupPolicyInput) (*iam.DeleteGroupPolicyOutput, error) {
	g, err := s.lookupGroup(in.GroupName)
	if err != nil {
		return nil, err
	}
	name, _, err := inlineOf(g.Inline, in.PolicyName, "group")
	if err != nil {
		return nil, err
	}
	delete(g.Inline, name)
	return &iam.DeleteGroupPolicyOutput{}, nil
}

func (s *Service) listGroupPolicies(_ *service.Call, in *iam.ListGroupPoliciesInput) (*iam.ListGroupPoliciesOutput, error) {
	g, err := s.lookupGroup(in.GroupName)
	if err != nil {
		return nil, err
	}
	part, truncated, next, err := page(slices.Sorted(maps.Keys(g.Inline)), in.Marker, in.MaxItems)
	if err != nil {
		return nil, err
	}
	return &iam.ListGroupPoliciesOutput{PolicyNames: part, IsTruncated: truncated, Marker: next}, nil
}
