package iamsim

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

const defaultMaxSession = 3600

type role struct {
	Name, ID, ARN, Path string
	Description         *string
	Trust               string
	MaxSession          int32
	Boundary            string // ARN of a policy, or empty
	CreatedAt           time.Time
	Tags                map[string]string
	Attached            map[string]bool   // policy ARNs
	Inline              map[string]string // documents by policy name
}

func (s *Service) roleOperations() []service.Operation {
	return []service.Operation{
		service.Write("CreateRole", s.createRole, "RoleName", "AssumeRolePolicyDocument", "Description",
			"MaxSessionDuration", "Path", "PermissionsBoundary", "Tags"),
		service.Read("GetRole", s.getRole, "RoleName"),
		service.Read("ListRoles", s.listRoles, "PathPrefix", "Marker", "MaxItems"),
		service.Write("DeleteRole", s.deleteRole, "RoleName"),
		service.Write("UpdateAssumeRolePolicy", s.updateAssumeRolePolicy, "RoleName", "PolicyDocument"),
		service.Write("TagRole", s.tagRole, "RoleName", "Tags"),
		service.Write("UntagRole", s.untagRole, "RoleName", "TagKeys"),
		service.Read("ListRoleTags", s.listRoleTags, "RoleName", "Marker", "MaxItems"),
	}
}

func (s *Service) lookupRole(name *string) (*role, error) {
	asked, err := checkName("roleName", name, maxRoleName)
	if err != nil {
		return nil, err
	}
	if r := s.state.Roles[asked]; r != nil {
		return r, nil
	}
	return nil, noSuchEntity("The role with name %s cannot be found.", asked)
}

func (s *Service) createRole(c *service.Call, in *iam.CreateRoleInput) (*iam.CreateRoleOutput, error) {
	name, err := checkName("roleName", in.RoleName, maxRoleName)
	if err != nil {
		return nil, err
	}
	path, err := checkPath(in.Path)
	if err != nil {
		return nil, err
	}
	trust := aws.ToString(in.AssumeRolePolicyDocument)
	if err := checkTrust(trust); err != nil {
		return nil, err
	}
	if err := s.checkPrincipals(trust, c.Account, c.Caller.ARN); err != nil {
		return nil, err
	}
	tags, err := tagged(nil, in.Tags)
	if err != nil {
		return nil, err
	}
	session := int32(defaultMaxSession)
	if in.MaxSessionDuration != nil {
		session = *in.MaxSessionDuration
		if session < 3600 || session > 43200 {
			return nil, invalid("maxSessionDuration", "Member must have value between 3600 and 43200")
		}
	}
	boundary := aws.ToString(in.PermissionsBoundary)
	if boundary != "" {
		if _, err := s.lookupPolicy(boundary); err != nil {
			return nil, err
		}
	}
	for existing := range s.state.Roles {
		if sameName(existing, name) {
			return nil, alreadyExists("Role with name %s already exists.", name)
		}
	}
	r := &role{
		Name: name, Path: path,
		ID:          strings.ToUpper(c.World.NewID("AROA", 17)),
		ARN:         "arn:aws:iam::" + c.Account + ":role" + path + name,
		Description: in.Description, Trust: trust, MaxSession: session, Boundary: boundary,
		CreatedAt: c.World.Now().UTC(), Tags: tags,
		Attached: map[string]bool{}, Inline: map[string]string{},
	}
	s.state.Roles[name] = r
	return &iam.CreateRoleOutput{Role: r.full()}, nil
}

func (s *Service) getRole(_ *service.Call, in *iam.GetRoleInput) (*iam.GetRoleOutput, error) {
	r, err := s.lookupRole(in.RoleName)
	if err != nil {
		return nil, err
	}
	return &iam.GetRoleOutput{Role: r.full()}, nil
}

func (s *Service) listRoles(_ *service.Call, in *iam.ListRolesInput) (*iam.ListRolesOutput, error) {
	names := slices.Sorted(maps.Keys(s.state.Roles))
	names = slices.DeleteFunc(names, func(n string) bool {
		return !strings.HasPrefix(s.state.Roles[n].Path, aws.ToString(in.PathPrefix))
	})
	part, truncated, next, err := page(names, in.Marker, in.MaxItems)
	if err != nil {
		return nil, err
	}
	out := &iam.ListRolesOutput{Roles: []types.Role{}, IsTruncated: truncated, Marker: next}
	for _, n := range part {
		out.Roles = append(out.Roles, s.state.Roles[n].listed())
	}
	return out, nil
}

func (s *Service) deleteRole(_ *service.Call, in *iam.DeleteRoleInput) (*iam.DeleteRoleOutput, error) {
	r, err := s.lookupRole(in.RoleName)
	if err != nil {
		return nil, err
	}
	if err := r.unmodifiable(); err != nil {
		return nil, err
	}
	switch {
	case len(r.Attached) > 0:
		return nil, deleteConflict("Cannot delete entity, must detach all policies first.")
	case len(r.Inline) > 0:
		return nil, deleteConflict("Cannot delete entity, must delete policies first.")
	case len(s.profilesOf(r.Name)) > 0:
		return nil, deleteConflict("Cannot delete entity, must remove roles from instance profile first.")
	}
	delete(s.state.Roles, r.Name)
	return &iam.DeleteRoleOutput{}, nil
}

func (s *Service) updateAssumeRolePolicy(c *service.Call, in *iam.UpdateAssumeRolePolicyInput) (*iam.UpdateAssumeRolePolicyOutput, error) {
	r, err := s.lookupRole(in.RoleName)
	if err != nil {
		return nil, err
	}
	trust := aws.ToString(in.PolicyDocument)
	if err := checkTrust(trust); err != nil {
		return nil, err
	}
	if err := s.checkPrincipals(trust, c.Account, c.Caller.ARN); err != nil {
		return nil, err
	}
	r.Trust = trust
	return &iam.UpdateAssumeRolePolicyOutput{}, nil
}

func (s *Service) tagRole(_ *service.Call, in *iam.TagRoleInput) (*iam.TagRoleOutput, error) {
	r, err := s.lookupRole(in.RoleName)
	if err != nil {
		return nil, err
	}
	tags, err := tagged(r.Tags, in.Tags)
	if err != nil {
		return nil, err
	}
	r.Tags = tags
	return &iam.TagRoleOutput{}, nil
}

func (s *Service) untagRole(_ *service.Call, in *iam.UntagRoleInput) (*iam.UntagRoleOutput, error) {
	r, err := s.lookupRole(in.RoleName)
	if err != nil {
		return nil, err
	}
	r.Tags = untagged(r.Tags, in.TagKeys)
	return &iam.UntagRoleOutput{}, nil
}

func (s *Service) listRoleTags(_ *service.Call, in *iam.ListRoleTagsInput) (*iam.ListRoleTagsOutput, error) {
	r, err := s.lookupRole(in.RoleName)
	if err != nil {
		return nil, err
	}
	part, truncated, next, err := tagPage(r.Tags, in.Marker, in.MaxItems)
	if err != nil {
		return nil, err
	}
	return &iam.ListRoleTagsOutput{Tags: part, IsTruncated: truncated, Marker: next}, nil
}

// listed is the role as the listing actions show it, without tags and
// permissions boundary ("IAM API, ListRoles").
func (r *role) listed() types.Role {
	return types.Role{
		Arn: aws.String(r.ARN), RoleId: aws.String(r.ID), RoleName: aws.String(r.Name), Path: aws.String(r.Path),
		CreateDate: aws.Time(r.CreatedAt), Description: r.Description, MaxSessionDuration: aws.Int32(r.MaxSession),
		AssumeRolePolicyDocument: aws.String(encoded(r.Trust)),
	}
}

func (r *role) full() *types.Role {
	out := r.listed()
	out.Tags = tagList(r.Tags)
	if r.Boundary != "" {
		out.PermissionsBoundary = &types.AttachedPermissionsBoundary{
			PermissionsBoundaryArn:  aws.String(r.Boundary),
			PermissionsBoundaryType: types.PermissionsBoundaryAttachmentTypePolicy,
		}
	}
	return &out
}
