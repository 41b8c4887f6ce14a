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

type instanceProfile struct {
	Name, ID, ARN, Path string
	CreatedAt           time.Time
	Tags                map[string]string
	Role                string // a role's name, or empty
}

func (s *Service) instanceProfileOperations() []service.Operation {
	return []service.Operation{
		service.Write("CreateInstanceProfile", s.createInstanceProfile, "InstanceProfileName", "Path", "Tags"),
		service.Read("GetInstanceProfile", s.getInstanceProfile, "InstanceProfileName"),
		service.Read("ListInstanceProfiles", s.listInstanceProfiles, "PathPrefix", "Marker", "MaxItems"),
		service.Read("ListInstanceProfilesForRole", s.listInstanceProfilesForRole, "RoleName", "Marker", "MaxItems"),
		service.Write("DeleteInstanceProfile", s.deleteInstanceProfile, "InstanceProfileName"),
		service.Write("AddRoleToInstanceProfile", s.addRoleToInstanceProfile, "InstanceProfileName", "RoleName"),
		service.Write("RemoveRoleFromInstanceProfile", s.removeRoleFromInstanceProfile, "InstanceProfileName", "RoleName"),
	}
}

func (s *Service) lookupProfile(name *string) (*instanceProfile, error) {
	asked, err := checkName("instanceProfileName", name, maxProfileName)
	if err != nil {
		return nil, err
	}
	if p := s.state.Profiles[asked]; p != nil {
		return p, nil
	}
	return nil, noSuchEntity("Instance Profile %s cannot be found.", asked)
}

// profilesOf returns the names of the profiles that hold the role, sorted.
func (s *Service) profilesOf(roleName string) []string {
	var names []string
	for name, p := range s.state.Profiles {
		if p.Role == roleName {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (s *Service) createInstanceProfile(c *service.Call, in *iam.CreateInstanceProfileInput) (*iam.CreateInstanceProfileOutput, error) {
	name, err := checkName("instanceProfileName", in.InstanceProfileName, maxProfileName)
	if err != nil {
		return nil, err
	}
	path, err := checkPath(in.Path)
	if err != nil {
		return nil, err
	}
	tags, err := tagged(nil, in.Tags)
	if err != nil {
		return nil, err
	}
	p, err := s.newProfile(c.World, c.Account, path, name, tags)
	if err != nil {
		return nil, err
	}
	return &iam.CreateInstanceProfileOutput{InstanceProfile: s.profileView(p)}, nil
}

func (s *Service) newProfile(w service.World, account, path, name string, tags map[string]string) (*instanceProfile, error) {
	for existing := range s.state.Profiles {
		if sameName(existing, name) {
			return nil, alreadyExists("Instance Profile %s already exists.", name)
		}
	}
	p := &instanceProfile{
		Name: name, Path: path, ID: strings.ToUpper(w.NewID("AIPA", 17)),
		ARN:       "arn:aws:iam::" + account + ":instance-profile" + path + name,
		CreatedAt: w.Now().UTC(), Tags: tags,
	}
	s.state.Profiles[name] = p
	return p, nil
}

func (s *Service) getInstanceProfile(_ *service.Call, in *iam.GetInstanceProfileInput) (*iam.GetInstanceProfileOutput, error) {
	p, err := s.lookupProfile(in.InstanceProfileName)
	if err != nil {
		return nil, err
	}
	return &iam.GetInstanceProfileOutput{InstanceProfile: s.profileView(p)}, nil
}

func (s *Service) listInstanceProfiles(_ *service.Call, in *iam.ListInstanceProfilesInput) (*iam.ListInstanceProfilesOutput, error) {
	names := slices.Sorted(maps.Keys(s.state.Profiles))
	names = slices.DeleteFunc(names, func(n string) bool {
		return !strings.HasPrefix(s.state.Profiles[n].Path, aws.ToString(in.PathPrefix))
	})
	part, truncated, next, err := page(names, in.Marker, in.MaxItems)
	if err != nil {
		return nil, err
	}
	return &iam.ListInstanceProfilesOutput{InstanceProfiles: s.profileViews(part), IsTruncated: truncated, Marker: next}, nil
}

func (s *Service) listInstanceProfilesForRole(_ *service.Call, in *iam.ListInstanceProfilesForRoleInput) (*iam.ListInstanceProfilesForRoleOutput, error) {
	r, err := s.lookupRole(in.RoleName)
	if err != nil {
		return nil, err
	}
	part, truncated, next, err := page(s.profilesOf(r.Name), in.Marker, in.MaxItems)
	if err != nil {
		return nil, err
	}
	return &iam.ListInstanceProfilesForRoleOutput{InstanceProfiles: s.profileViews(part), IsTruncated: truncated, Marker: next}, nil
}

func (s *Service) deleteInstanceProfile(_ *service.Call, in *iam.DeleteInstanceProfileInput) (*iam.DeleteInstanceProfileOutput, error) {
	p, err := s.lookupProfile(in.InstanceProfileName)
	if err != nil {
		return nil, err
	}
	if p.Role != "" {
		return nil, deleteConflict("Cannot delete entity, must remove roles from instance profile first.")
	}
	delete(s.state.Profiles, p.Name)
	return &iam.DeleteInstanceProfileOutput{}, nil
}

func (s *Service) addRoleToInstanceProfile(_ *service.Call, in *iam.AddRoleToInstanceProfileInput) (*iam.AddRoleToInstanceProfileOutput, error) {
	p, err := s.lookupProfile(in.InstanceProfileName)
	if err != nil {
		return nil, err
	}
	r, err := s.lookupRole(in.RoleName)
	if err != nil {
		return nil, err
	}
	// A profile holds one role, and that quota cannot be raised ("IAM API,
	// AddRoleToInstanceProfile").
	if p.Role != "" {
		return nil, limitExceeded("Cannot exceed quota for InstanceSessionsPerInstanceProfile: 1")
	}
	p.Role = r.Name
	return &iam.AddRoleToInstanceProfileOutput{}, nil
}

func (s *Service) removeRoleFromInstanceProfile(_ *service.Call, in *iam.RemoveRoleFromInstanceProfileInput) (*iam.RemoveRoleFromInstanceProfileOutput, error) {
	p, err := s.lookupProfile(in.InstanceProfileName)
	if err != nil {
		return nil, err
	}
	r, err := s.lookupRole(in.RoleName)
	if err != nil {
		return nil, err
	}
	if p.Role != r.Name {
		return nil, noSuchEntity("Role %s is not in instance profile %s.", r.Name, p.Name)
	}
	p.Role = ""
	return &iam.RemoveRoleFromInstanceProfileOutput{}, nil
}

func (s *Service) profileViews(names []string) []types.InstanceProfile {
	out := make([]types.InstanceProfile, 0, len(names))
	for _, name := range names {
		view := s.profileView(s.state.Profiles[name])
		view.Tags = nil // the listing actions leave tags out
		out = append(out, *view)
	}
	return out
}

func (s *Service) profileView(p *instanceProfile) *types.InstanceProfile {
	view := &types.InstanceProfile{
		Arn: aws.String(p.ARN), InstanceProfileId: aws.String(p.ID), InstanceProfileName: aws.String(p.Name),
		Path: aws.String(p.Path), CreateDate: aws.Time(p.CreatedAt), Roles: []types.Role{}, Tags: tagList(p.Tags),
	}
	if r := s.state.Roles[p.Role]; r != nil {
		view.Roles = append(view.Roles, r.listed())
	}
	return view
}
