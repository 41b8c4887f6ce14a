package iamsim

import (
	"crypto/sha256"
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

const managedPrefix = "arn:aws:iam::aws:policy"

// managedSince stands in for the creation date of everything that was there
// before the account.
var managedSince = time.Date(2018, time.May, 27, 21, 0, 0, 0, time.UTC)

// lookupPolicy returns the managed policy of that ARN, AWS's own or the
// account's, without its tags.
func (s *Service) lookupPolicy(arn string) (*types.Policy, error) {
	if p := s.state.Policies[arn]; p != nil {
		return p.listed(), nil
	}
	managed, ok := policy.LookupManaged(arn)
	if !ok {
		return nil, noSuchEntity("Policy %s does not exist or is not attachable.", arn)
	}
	sum := sha256.Sum256([]byte(arn))
	return &types.Policy{
		Arn: aws.String(arn), PolicyName: aws.String(managed.Name), Path: aws.String(managed.Path),
		PolicyId:         aws.String(strings.ToUpper(fmt.Sprintf("ANPA%x", sum))[:21]),
		DefaultVersionId: aws.String("v1"), IsAttachable: true,
		CreateDate: aws.Time(managedSince), UpdateDate: aws.Time(managedSince),
	}, nil
}

func (s *Service) getPolicy(_ *service.Call, in *iam.GetPolicyInput) (*iam.GetPolicyOutput, error) {
	found, err := s.lookupPolicy(aws.ToString(in.PolicyArn))
	if err != nil {
		return nil, err
	}
	s.countUses(found)
	if p := s.state.Policies[*found.Arn]; p != nil {
		found.Tags = tagList(p.Tags)
	}
	return &iam.GetPolicyOutput{Policy: found}, nil
}

// uses are the names of what has a policy.
type uses struct{ roles, users, groups []string }

func (u uses) count() int { return len(u.roles) + len(u.users) + len(u.groups) }

// attachedTo returns what has the policy attached, and boundaryOf what it
// bounds, sorted.
func (s *Service) attachedTo(arn string) uses {
	var found uses
	for _, name := range slices.Sorted(maps.Keys(s.state.Roles)) {
		if s.state.Roles[name].Attached[arn] {
			found.roles = append(found.roles, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.state.Users)) {
		if s.state.Users[name].Attached[arn] {
			found.users = append(found.users, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.state.Groups)) {
		if s.state.Groups[name].Attached[arn] {
			found.groups = append(found.groups, name)
		}
	}
	return found
}

func (s *Service) boundaryOf(arn string) uses {
	var found uses
	for _, name := range slices.Sorted(maps.Keys(s.state.Roles)) {
		if s.state.Roles[name].Boundary == arn {
			found.roles = append(found.roles, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.state.Users)) {
		if s.state.Users[name].Boundary == arn {
			found.users = append(found.users, name)
		}
	}
	return found
}

func (s *Service) countUses(p *types.Policy) {
	p.AttachmentCount = aws.Int32(int32(s.attachedTo(*p.Arn).count()))
	p.PermissionsBoundaryUsageCount = aws.Int32(int32(s.boundaryOf(*p.Arn).count()))
}

func (s *Service) listPolicies(_ *service.Call, in *iam.ListPoliciesInput) (*iam.ListPoliciesOutput, error) {
	arns := slices.Sorted(maps.Keys(s.state.Policies))
	switch in.Scope {
	case "", types.PolicyScopeTypeAll:
		arns = append(arns, policy.ManagedARNs()...)
	case types.PolicyScopeTypeAws:
		arns = policy.ManagedARNs()
	case types.PolicyScopeTypeLocal:
	default:
		return nil, invalid("scope", "Member must satisfy enum value set: [All, AWS, Local]")
	}
	slices.Sort(arns)
	arns = slices.DeleteFunc(arns, func(arn string) bool {
		return !strings.HasPrefix(policyPath(arn), aws.ToString(in.PathPrefix)) || in.OnlyAttached && s.attachedTo(arn).count() == 0
	})
	part, truncated, next, err := page(arns, in.Marker, in.MaxItems)
	if err != nil {
		return nil, err
	}
	out := &iam.ListPoliciesOutput{Policies: []types.Policy{}, IsTruncated: truncated, Marker: next}
	for _, arn := range part {
		p, err := s.lookupPolicy(arn)
		if err != nil {
			return nil, err
		}
		s.countUses(p)
		out.Policies = append(out.Policies, *p)
	}
	return out, nil
}

// listEntitiesForPolicy pages over roles, users and groups in this order.
func (s *Service) listEntitiesForPolicy(_ *service.Call, in *iam.ListEntitiesForPolicyInput) (*iam.ListEntitiesForPolicyOutput, error) {
	arn := aws.ToString(in.PolicyArn)
	if _, err := s.lookupPolicy(arn); err != nil {
		return nil, err
	}
	found := s.attachedTo(arn)
	if in.PolicyUsageFilter == types.PolicyUsageTypePermissionsBoundary {
		found = s.boundaryOf(arn)
	}
	var keys []string
	for _, kind := range []struct {
		name   types.EntityType
		prefix string
		names  []string
	}{{types.EntityTypeRole, "1", found.roles}, {types.EntityTypeUser, "2", found.users}, {types.EntityTypeGroup, "3", found.groups}} {
		if in.EntityFilter == "" || in.EntityFilter == kind.name {
			for _, name := range kind.names {
				keys = append(keys, kind.prefix+name)
			}
		}
	}
	part, truncated, next, err := page(keys, in.Marker, in.MaxItems)
	if err != nil {
		return nil, err
	}
	out := &iam.ListEntitiesForPolicyOutput{
		PolicyRoles: []types.PolicyRole{}, PolicyUsers: []types.PolicyUser{}, PolicyGroups: []types.PolicyGroup{}, IsTruncated: truncated, Marker: next,
	}
	for _, key := range part {
		switch name := key[1:]; key[0] {
		case '1':
			out.PolicyRoles = append(out.PolicyRoles, types.PolicyRole{RoleName: aws.String(name), RoleId: aws.String(s.state.Roles[name].ID)})
		case '2':
			out.PolicyUsers = append(out.PolicyUsers, types.PolicyUser{UserName: aws.String(name), UserId: aws.String(s.state.Users[name].ID)})
		case '3':
			out.PolicyGroups = append(out.PolicyGroups, types.PolicyGroup{GroupName: aws.String(name), GroupId: aws.String(s.state.Groups[name].ID)})
		}
	}
	return out, nil
}
