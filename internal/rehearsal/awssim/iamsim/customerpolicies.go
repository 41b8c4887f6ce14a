package iamsim

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/policy"
	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// "IAM and AWS STS quotas", IAM User Guide. Spaces do not count.
const (
	maxVersions       = 5
	maxPolicyDocument = 6144
)

// customerPolicy is a managed policy of the account's own.
type customerPolicy struct {
	Name, ID, ARN, Path  string
	Description          *string
	CreatedAt, UpdatedAt time.Time
	Tags                 map[string]string
	Versions             map[int]*policyVersion // by number
	Default, Latest      int                    // numbers
}

type policyVersion struct {
	Document  string
	CreatedAt time.Time
}

func (s *Service) customerPolicyOperations() []service.Operation {
	return []service.Operation{
		service.Write("CreatePolicy", s.createPolicy, "PolicyName", "PolicyDocument", "Description", "Path", "Tags"),
		service.Write("DeletePolicy", s.deletePolicy, "PolicyArn"),
		service.Read("ListPolicies", s.listPolicies, "Scope", "OnlyAttached", "PathPrefix", "Marker", "MaxItems"),
		service.Read("ListEntitiesForPolicy", s.listEntitiesForPolicy, "PolicyArn", "EntityFilter", "PolicyUsageFilter", "Marker", "MaxItems"),
		service.Write("TagPolicy", s.tagPolicy, "PolicyArn", "Tags"),
		service.Write("UntagPolicy", s.untagPolicy, "PolicyArn", "TagKeys"),
		service.Read("ListPolicyTags", s.listPolicyTags, "PolicyArn", "Marker", "MaxItems"),
	}
}

func (s *Service) policyVersionOperations() []service.Operation {
	return []service.Operation{
		service.Write("CreatePolicyVersion", s.createPolicyVersion, "PolicyArn", "PolicyDocument", "SetAsDefault"),
		service.Write("DeletePolicyVersion", s.deletePolicyVersion, "PolicyArn", "VersionId"),
		service.Write("SetDefaultPolicyVersion", s.setDefaultPolicyVersion, "PolicyArn", "VersionId"),
		service.Read("GetPolicyVersion", s.getPolicyVersion, "PolicyArn", "VersionId"),
		service.Read("ListPolicyVersions", s.listPolicyVersions, "PolicyArn", "Marker", "MaxItems"),
	}
}

// customerDocument returns the default version of a policy of the account's own.
func (s *Service) customerDocument(arn string) (string, bool) {
	p := s.state.Policies[arn]
	if p == nil {
		return "", false
	}
	return p.Versions[p.Default].Document, true
}

// ownPolicy finds a policy that the account may change.
func (s *Service) ownPolicy(arn *string) (*customerPolicy, error) {
	asked := aws.ToString(arn)
	if p := s.state.Policies[asked]; p != nil {
		return p, nil
	}
	if strings.HasPrefix(asked, managedPrefix) {
		return nil, service.RefuseStatus(403, "AccessDenied", "Policy is outside your own account.")
	}
	return nil, noSuchEntity("Policy %s was not found.", asked)
}

func checkPolicyDocument(document *string) (string, error) {
	text := aws.ToString(document)
	if _, err := parseDocument(text); err != nil {
		return "", err
	}
	if size := len(strings.Join(strings.Fields(text), "")); size > maxPolicyDocument {
		return "", limitExceeded("Cannot exceed quota for PolicySize: %d", maxPolicyDocument)
	}
	return text, nil
}

func (s *Service) createPolicy(c *service.Call, in *iam.CreatePolicyInput) (*iam.CreatePolicyOutput, error) {
	name, err := checkName("policyName", in.PolicyName, maxPolicyName)
	if err != nil {
		return nil, err
	}
	path, err := checkPath(in.Path)
	if err != nil {
		return nil, err
	}
	document, err := checkPolicyDocument(in.PolicyDocument)
	if err != nil {
		return nil, err
	}
	tags, err := tagged(nil, in.Tags)
	if err != nil {
		return nil, err
	}
	for _, existing := range s.state.Policies {
		if sameName(existing.Name, name) {
			return nil, alreadyExists("A policy called %s already exists. Duplicate names are not allowed.", name)
		}
	}
	now := c.World.Now().UTC()
	p := &customerPolicy{
		Name: name, Path: path, ID: strings.ToUpper(c.World.NewID("ANPA", 17)), ARN: "arn:aws:iam::" + c.Account + ":policy" + path + name,
		Description: in.Description, CreatedAt: now, UpdatedAt: now, Tags: tags,
		Versions: map[int]*policyVersion{1: {Document: document, CreatedAt: now}}, Default: 1, Latest: 1,
	}
	s.state.Policies[p.ARN] = p
	shown := p.listed()
	shown.Tags = tagList(tags)
	s.countUses(shown)
	return &iam.CreatePolicyOutput{Policy: shown}, nil
}

// listed is the policy as ListPolicies shows it.
func (p *customerPolicy) listed() *types.Policy {
	return &types.Policy{
		Arn: aws.String(p.ARN), PolicyName: aws.String(p.Name), PolicyId: aws.String(p.ID), Path: aws.String(p.Path), Description: p.Description,
		DefaultVersionId: versionID(p.Default), IsAttachable: true, CreateDate: aws.Time(p.CreatedAt), UpdateDate: aws.Time(p.UpdatedAt),
	}
}

// deletePolicy refuses while anything has the policy or it has other versions
// than the default ("IAM API, DeletePolicy").
func (s *Service) deletePolicy(_ *service.Call, in *iam.DeletePolicyInput) (*iam.DeletePolicyOutput, error) {
	p, err := s.ownPolicy(in.PolicyArn)
	if err != nil {
		return nil, err
	}
	switch {
	case s.attachedTo(p.ARN).count()+s.boundaryOf(p.ARN).count() > 0:
		return nil, deleteConflict("Cannot delete a policy attached to entities.")
	case len(p.Versions) > 1:
		return nil, deleteConflict("This policy has more than one version. Before you delete a policy, you must delete the policy's versions. " +
			"The default version is deleted with the policy.")
	}
	delete(s.state.Policies, p.ARN)
	return &iam.DeletePolicyOutput{}, nil
}

func (s *Service) tagPolicy(_ *service.Call, in *iam.TagPolicyInput) (*iam.TagPolicyOutput, error) {
	p, err := s.ownPolicy(in.PolicyArn)
	if err != nil {
		return nil, err
	}
	tags, err := tagged(p.Tags, in.Tags)
	if err != nil {
		return nil, err
	}
	p.Tags = tags
	return &iam.TagPolicyOutput{}, nil
}

func (s *Service) untagPolicy(_ *service.Call, in *iam.UntagPolicyInput) (*iam.UntagPolicyOutput, error) {
	p, err := s.ownPolicy(in.PolicyArn)
	if err != nil {
		return nil, err
	}
	p.Tags = untagged(p.Tags, in.TagKeys)
	return &iam.UntagPolicyOutput{}, nil
}

func (s *Service) listPolicyTags(_ *service.Call, in *iam.ListPolicyTagsInput) (*iam.ListPolicyTagsOutput, error) {
	p, err := s.ownPolicy(in.PolicyArn)
	if err != nil {
		return nil, err
	}
	part, truncated, next, err := tagPage(p.Tags, in.Marker, in.MaxItems)
	if err != nil {
		return nil, err
	}
	return &iam.ListPolicyTagsOutput{Tags: part, IsTruncated: truncated, Marker: next}, nil
}

func versionID(number int) *string { return aws.String(fmt.Sprintf("v%d", number)) }

// version finds a version by its id.
func (p *customerPolicy) version(id *string) (int, *policyVersion, error) {
	for number, v := range p.Versions {
		if *versionID(number) == aws.ToString(id) {
			return number, v, nil
		}
	}
	return 0, nil, noSuchEntity("Policy %s version %s does not exist or is not attachable.", p.ARN, aws.ToString(id))
}

func (p *customerPolicy) shownVersion(number int) types.PolicyVersion {
	v := p.Versions[number]
	return types.PolicyVersion{VersionId: versionID(number), CreateDate: aws.Time(v.CreatedAt), IsDefaultVersion: number == p.Default}
}

func (s *Service) createPolicyVersion(c *service.Call, in *iam.CreatePolicyVersionInput) (*iam.CreatePolicyVersionOutput, error) {
	p, err := s.ownPolicy(in.PolicyArn)
	if err != nil {
		return nil, err
	}
	document, err := checkPolicyDocument(in.PolicyDocument)
	if err != nil {
		return nil, err
	}
	if len(p.Versions) >= maxVersions {
		return nil, limitExceeded("A managed policy can have up to %d versions. Before you create a new version, you must delete an existing version.", maxVersions)
	}
	p.Latest++
	p.UpdatedAt = c.World.Now().UTC()
	p.Versions[p.Latest] = &policyVersion{Document: document, CreatedAt: p.UpdatedAt}
	if in.SetAsDefault {
		p.Default = p.Latest
	}
	shown := p.shownVersion(p.Latest)
	return &iam.CreatePolicyVersionOutput{PolicyVersion: &shown}, nil
}

func (s *Service) deletePolicyVersion(_ *service.Call, in *iam.DeletePolicyVersionInput) (*iam.DeletePolicyVersionOutput, error) {
	p, err := s.ownPolicy(in.PolicyArn)
	if err != nil {
		return nil, err
	}
	number, _, err := p.version(in.VersionId)
	if err != nil {
		return nil, err
	}
	if number == p.Default {
		return nil, deleteConflict("Cannot delete the default version of a policy.")
	}
	delete(p.Versions, number)
	return &iam.DeletePolicyVersionOutput{}, nil
}

func (s *Service) setDefaultPolicyVersion(c *service.Call, in *iam.SetDefaultPolicyVersionInput) (*iam.SetDefaultPolicyVersionOutput, error) {
	p, err := s.ownPolicy(in.PolicyArn)
	if err != nil {
		return nil, err
	}
	number, _, err := p.version(in.VersionId)
	if err != nil {
		return nil, err
	}
	p.Default, p.UpdatedAt = number, c.World.Now().UTC()
	return &iam.SetDefaultPolicyVersionOutput{}, nil
}

func (s *Service) getPolicyVersion(_ *service.Call, in *iam.GetPolicyVersionInput) (*iam.GetPolicyVersionOutput, error) {
	arn := aws.ToString(in.PolicyArn)
	if p := s.state.Policies[arn]; p != nil {
		number, v, err := p.version(in.VersionId)
		if err != nil {
			return nil, err
		}
		shown := p.shownVersion(number)
		shown.Document = aws.String(encoded(v.Document))
		return &iam.GetPolicyVersionOutput{PolicyVersion: &shown}, nil
	}
	managed, ok := policy.LookupManaged(arn)
	if !ok || aws.ToString(in.VersionId) != "v1" {
		return nil, noSuchEntity("Policy %s version %s does not exist or is not attachable.", arn, aws.ToString(in.VersionId))
	}
	return &iam.GetPolicyVersionOutput{PolicyVersion: &types.PolicyVersion{
		VersionId: aws.String("v1"), IsDefaultVersion: true, CreateDate: aws.Time(managedSince), Document: aws.String(encoded(managed.Document)),
	}}, nil
}

// listPolicyVersions lists the newest version first.
func (s *Service) listPolicyVersions(_ *service.Call, in *iam.ListPolicyVersionsInput) (*iam.ListPolicyVersionsOutput, error) {
	arn := aws.ToString(in.PolicyArn)
	p := s.state.Policies[arn]
	if p == nil {
		if _, err := s.lookupPolicy(arn); err != nil {
			return nil, err
		}
		return &iam.ListPolicyVersionsOutput{Versions: []types.PolicyVersion{
			{VersionId: aws.String("v1"), IsDefaultVersion: true, CreateDate: aws.Time(managedSince)},
		}}, nil
	}
	out := &iam.ListPolicyVersionsOutput{}
	for _, number := range slices.Backward(slices.Sorted(maps.Keys(p.Versions))) {
		out.Versions = append(out.Versions, p.shownVersion(number))
	}
	return out, nil
}
