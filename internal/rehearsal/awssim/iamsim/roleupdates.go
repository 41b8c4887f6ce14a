package iamsim

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

func (s *Service) roleUpdateOperations() []service.Operation {
	return []service.Operation{
		service.Write("UpdateRole", s.updateRole, "RoleName", "Description", "MaxSessionDuration"),
		service.Write("UpdateRoleDescription", s.updateRoleDescription, "RoleName", "Description"),
		service.Write("PutRolePermissionsBoundary", s.putRoleBoundary, "RoleName", "PermissionsBoundary"),
		service.Write("DeleteRolePermissionsBoundary", s.deleteRoleBoundary, "RoleName"),
		service.Write("TagInstanceProfile", s.tagInstanceProfile, "InstanceProfileName", "Tags"),
		service.Write("UntagInstanceProfile", s.untagInstanceProfile, "InstanceProfileName", "TagKeys"),
		service.Read("ListInstanceProfileTags", s.listInstanceProfileTags, "InstanceProfileName", "Marker", "MaxItems"),
	}
}

// checkSession refuses a duration of sessions outside of what IAM allows.
func checkSession(seconds *int32) error {
	if seconds != nil && (*seconds < 3600 || *seconds > 43200) {
		return invalid("maxSessionDuration", "Member must have value between 3600 and 43200")
	}
	return nil
}

// updateRole resets what it is not given, the description aside ("IAM API,
// UpdateRole").
func (s *Service) updateRole(_ *service.Call, in *iam.UpdateRoleInput) (*iam.UpdateRoleOutput, error) {
	r, err := s.lookupRole(in.RoleName)
	if err != nil {
		return nil, err
	}
	if err := r.unmodifiable(); err != nil {
		return nil, err
	}
	if err := checkSession(in.MaxSessionDuration); err != nil {
		return nil, err
	}
	r.MaxSession = defaultMaxSession
	if in.MaxSessionDuration != nil {
		r.MaxSession = *in.MaxSessionDuration
	}
	if in.Description != nil {
		r.Description = in.Description
	}
	return &iam.UpdateRoleOutput{}, nil
}

func (s *Service) updateRoleDescription(_ *service.Call, in *iam.UpdateRoleDescriptionInput) (*iam.UpdateRoleDescriptionOutput, error) {
	r, err := s.lookupRole(in.RoleName)
	if err != nil {
		return nil, err
	}
	r.Description = in.Description
	return &iam.UpdateRoleDescriptionOutput{Role: r.full()}, nil
}

func (s *Service) putRoleBoundary(_ *service.Call, in *iam.PutRolePermissionsBoundaryInput) (*iam.PutRolePermissionsBoundaryOutput, error) {
	r, err := s.lookupRole(in.RoleName)
	if err != nil {
		return nil, err
	}
	if err := r.unmodifiable(); err != nil {
		return nil, err
	}
	boundary, err := s.checkBoundary(aws.String(aws.ToString(in.PermissionsBoundary)))
	if err != nil {
		return nil, err
	}
	r.Boundary = boundary
	return &iam.PutRolePermissionsBoundaryOutput{}, nil
}

func (s *Service) deleteRoleBoundary(_ *service.Call, in *iam.DeleteRolePermissionsBoundaryInput) (*iam.DeleteRolePermissionsBoundaryOutput, error) {
	r, err := s.lookupRole(in.RoleName)
	if err != nil {
		return nil, err
	}
	if r.Boundary == "" {
		return nil, noSuchEntity("The role with name %s has no permissions boundary.", r.Name)
	}
	r.Boundary = ""
	return &iam.DeleteRolePermissionsBoundaryOutput{}, nil
}

func (s *Service) tagInstanceProfile(_ *service.Call, in *iam.TagInstanceProfileInput) (*iam.TagInstanceProfileOutput, error) {
	p, err := s.lookupProfile(in.InstanceProfileName)
	if err != nil {
		return nil, err
	}
	tags, err := tagged(p.Tags, in.Tags)
	if err != nil {
		return nil, err
	}
	p.Tags = tags
	return &iam.TagInstanceProfileOutput{}, nil
}

func (s *Service) untagInstanceProfile(_ *service.Call, in *iam.UntagInstanceProfileInput) (*iam.UntagInstanceProfileOutput, error) {
	p, err := s.lookupProfile(in.InstanceProfileName)
	if err != nil {
		return nil, err
	}
	p.Tags = untagged(p.Tags, in.TagKeys)
	return &iam.UntagInstanceProfileOutput{}, nil
}

func (s *Service) listInstanceProfileTags(_ *service.Call, in *iam.ListInstanceProfileTagsInput) (*iam.ListInstanceProfileTagsOutput, error) {
	p, err := s.lookupProfile(in.InstanceProfileName)
	if err != nil {
		return nil, err
	}
	part, truncated, next, err := tagPage(p.Tags, in.Marker, in.MaxItems)
	if err != nil {
		return nil, err
	}
	return &iam.ListInstanceProfileTagsOutput{Tags: part, IsTruncated: truncated, Marker: next}, nil
}
