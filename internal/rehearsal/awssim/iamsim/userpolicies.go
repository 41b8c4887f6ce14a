package iamsim

import (
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

func (s *Service) userPolicyOperations() []service.Operation {
	return []service.Operation{
		service.Write("AttachUserPolicy", s.attachUserPolicy, "UserName", "PolicyArn"),
		service.Write("DetachUserPolicy", s.detachUserPolicy, "UserName", "PolicyArn"),
		service.Read("ListAttachedUserPolicies", s.listAttachedUserPolicies, "UserName", "PathPrefix", "Marker", "MaxItems"),
		service.Write("PutUserPolicy", s.putUserPolicy, "UserName", "PolicyName", "PolicyDocument"),
		service.Read("GetUserPolicy", s.getUserPolicy, "UserName", "PolicyName"),
		service.Write("DeleteUserPolicy", s.deleteUserPolicy, "UserName", "PolicyName"),
		service.Read("ListUserPolicies", s.listUserPolicies, "UserName", "Marker", "MaxItems"),
	}
}

// attach adds a managed policy to those of a user or group.
func (s *Service) attach(attached map[string]bool, policyARN *string, quota string) error {
	arn := aws.ToString(policyARN)
	if _, err := s.lookupPolicy(arn); err != nil {
		return err
	}
	if !attached[arn] && len(attached) >= maxAttached {
		return limitExceeded("Cannot exceed quota for %s: %d", quota, maxAttached)
	}
	attached[arn] = true
	return nil
}

func detach(attached map[string]bool, policyARN *string) error {
	arn := aws.ToString(policyARN)
	if !attached[arn] {
		return noSuchEntity("Policy %s was not found.", arn)
	}
	delete(attached, arn)
	return nil
}

// attachedPage answers the ListAttachedXPolicies family.
func attachedPage(attached map[string]bool, prefix, marker *string, maxItems *int32) (part []types.AttachedPolicy, truncated bool, next *string, err error) {
	arns := slices.Sorted(maps.Keys(attached))
	arns = slices.DeleteFunc(arns, func(arn string) bool { return !strings.HasPrefix(policyPath(arn), aws.ToString(prefix)) })
	arns, truncated, next, err = page(arns, marker, maxItems)
	if err != nil {
		return nil, false, nil, err
	}
	part = []types.AttachedPolicy{}
	for _, arn := range arns {
		part = append(part, types.AttachedPolicy{PolicyArn: aws.String(arn), PolicyName: aws.String(arn[strings.LastIndex(arn, "/")+1:])})
	}
	return part, truncated, next, nil
}

// policyPath is the path in a policy's ARN.
func policyPath(arn string) string {
	_, path, _ := strings.Cut(arn, ":policy")
	return path[:strings.LastIndex(path, "/")+1]
}

// putInline sets an inline policy.
func putInline(inline map[string]string, policyName, document *string) error {
	name, err := checkName("policyName", policyName, maxPolicyName)
	if err != nil {
		return err
	}
	if _, err := parseDocument(aws.ToString(document)); err != nil {
		return err
	}
	inline[name] = *document
	return nil
}

// inlineOf finds an inline policy; whose says what it is of, such as "user".
func inlineOf(inline map[string]string, policyName *string, whose string) (name, document string, err error) {
	name, err = checkName("policyName", policyName, maxPolicyName)
	if err != nil {
		return "", "", err
	}
	document, ok := inline[name]
	if !ok {
		return "", "", noSuchEntity("The %s policy with name %s cannot be found.", whose, name)
	}
	return name, document, nil
}

func (s *Service) attachUserPolicy(_ *service.Call, in *iam.AttachUserPolicyInput) (*iam.AttachUserPolicyOutput, error) {
	u, err := s.lookupUser(in.UserName)
	if err != nil {
		return nil, err
	}
	return &iam.AttachUserPolicyOutput{}, s.attach(u.Attached, in.PolicyArn, "PoliciesPerUser")
}

func (s *Service) detachUserPolicy(_ *service.Call, in *iam.DetachUserPolicyInput) (*iam.DetachUserPolicyOutput, error) {
	u, err := s.lookupUser(in.UserName)
	if err != nil {
		return nil, err
	}
	return &iam.DetachUserPolicyOutput{}, detach(u.Attached, in.PolicyArn)
}

func (s *Service) listAttachedUserPolicies(_ *service.Call, in *iam.ListAttachedUserPoliciesInput) (*iam.ListAttachedUserPoliciesOutput, error) {
	u, err := s.lookupUser(in.UserName)
	if err != nil {
		return nil, err
	}
	part, truncated, next, err := attachedPage(u.Attached, in.PathPrefix, in.Marker, in.MaxItems)
	if err != nil {
		return nil, err
	}
	return &iam.ListAttachedUserPoliciesOutput{AttachedPolicies: part, IsTruncated: truncated, Marker: next}, nil
}

func (s *Service) putUserPolicy(_ *service.Call, in *iam.PutUserPolicyInput) (*iam.PutUserPolicyOutput, error) {
	u, err := s.lookupUser(in.UserName)
	if err != nil {
		return nil, err
	}
	return &iam.PutUserPolicyOutput{}, putInline(u.Inline, in.PolicyName, in.PolicyDocument)
}

func (s *Service) getUserPolicy(_ *service.Call, in *iam.GetUserPolicyInput) (*iam.GetUserPolicyOutput, error) {
	u, err := s.lookupUser(in.UserName)
	if err != nil {
		return nil, err
	}
	name, document, err := inlineOf(u.Inline, in.PolicyName, "user")
	if err != nil {
		return nil, err
	}
	return &iam.GetUserPolicyOutput{UserName: aws.String(u.Name), PolicyName: aws.String(name), PolicyDocument: aws.String(encoded(document))}, nil
}

func (s *Service) deleteUserPolicy(_ *service.Call, in *iam.DeleteUserPolicyInput) (*iam.DeleteUserPolicyOutput, error) {
	u, err := s.lookupUser(in.UserName)
	if err != nil {
		return nil, err
	}
	name, _, err := inlineOf(u.Inline, in.PolicyName, "user")
	if err != nil {
		return nil, err
	}
	delete(u.Inline, name)
	return &iam.DeleteUserPolicyOutput{}, nil
}

func (s *Service) listUserPolicies(_ *service.Call, in *iam.ListUserPoliciesInput) (*iam.ListUserPoliciesOutput, error) {
	u, err := s.lookupUser(in.UserName)
	if err != nil {
		return nil, err
	}
	part, truncated, next, err := page(slices.Sorted(maps.Keys(u.Inline)), in.Marker, in.MaxItems)
	if err != nil {
		return nil, err
	}
	return &iam.ListUserPoliciesOutput{PolicyNames: part, IsTruncated: truncated, Marker: next}, nil
}
