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

const maxGroupName = 128

type group struct {
	Name, ID, ARN, Path string
	CreatedAt           time.Time
	Attached            map[string]bool   // policy ARNs
	Inline              map[string]string // documents by policy name
	Members             map[string]bool   // user names
}

func (s *Service) groupOperations() []service.Operation {
	return []service.Operation{
		service.Write("CreateGroup", s.createGroup, "GroupName", "Path"),
		service.Read("GetGroup", s.getGroup, "GroupName", "Marker", "MaxItems"),
		service.Read("ListGroups", s.listGroups, "PathPrefix", "Marker", "MaxItems"),
		service.Read("ListGroupsForUser", s.listGroupsForUser, "UserName", "Marker", "MaxItems"),
		service.Write("DeleteGroup", s.deleteGroup, "GroupName"),
		service.Write("AddUserToGroup", s.addUserToGroup, "GroupName", "UserName"),
		service.Write("RemoveUserFromGroup", s.removeUserFromGroup, "GroupName", "UserName"),
	}
}

func (s *Service) lookupGroup(name *string) (*group, error) {
	asked, err := checkName("groupName", name, maxGroupName)
	if err != nil {
		return nil, err
	}
	if g := s.state.Groups[asked]; g != nil {
		return g, nil
	}
	return nil, noSuchEntity("The group with name %s cannot be found.", asked)
}

// groupsOf returns the names of the groups that the user is in, sorted.
func (s *Service) groupsOf(userName string) []string {
	var names []string
	for name, g := range s.state.Groups {
		if g.Members[userName] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (s *Service) createGroup(c *service.Call, in *iam.CreateGroupInput) (*iam.CreateGroupOutput, error) {
	name, err := checkName("groupName", in.GroupName, maxGroupName)
	if err != nil {
		return nil, err
	}
	path, err := checkPath(in.Path)
	if err != nil {
		return nil, err
	}
	for existing := range s.state.Groups {
		if sameName(existing, name) {
			return nil, alreadyExists("Group with name %s already exists.", name)
		}
	}
	g := &group{
		Name: name, Path: path, ID: strings.ToUpper(c.World.NewID("AGPA", 17)), ARN: "arn:aws:iam::" + c.Account + ":group" + path + name,
		CreatedAt: c.World.Now().UTC(), Attached: map[string]bool{}, Inline: map[string]string{}, Members: map[string]bool{},
	}
	s.state.Groups[name] = g
	return &iam.CreateGroupOutput{Group: g.shown()}, nil
}

func (s *Service) getGroup(_ *service.Call, in *iam.GetGroupInput) (*iam.GetGroupOutput, error) {
	g, err := s.lookupGroup(in.GroupName)
	if err != nil {
		return nil, err
	}
	names, truncated, next, err := page(slices.Sorted(maps.Keys(g.Members)), in.Marker, in.MaxItems)
	if err != nil {
		return nil, err
	}
	out := &iam.GetGroupOutput{Group: g.shown(), Users: []types.User{}, IsTruncated: truncated, Marker: next}
	for _, name := range names {
		out.Users = append(out.Users, s.state.Users[name].listed())
	}
	return out, nil
}

func (s *Service) shownGroups(names []string) []types.Group {
	out := make([]types.Group, 0, len(names))
	for _, name := range names {
		out = append(out, *s.state.Groups[name].shown())
	}
	return out
}

func (s *Service) listGroups(_ *service.Call, in *iam.ListGroupsInput) (*iam.ListGroupsOutput, error) {
	names := slices.Sorted(maps.Keys(s.state.Groups))
	names = slices.DeleteFunc(names, func(n string) bool {
		return !strings.HasPrefix(s.state.Groups[n].Path, aws.ToString(in.PathPrefix))
	})
	part, truncated, next, err := page(names, in.Marker, in.MaxItems)
	if err != nil {
		return nil, err
	}
	return &iam.ListGroupsOutput{Groups: s.shownGroups(part), IsTruncated: truncated, Marker: next}, nil
}

func (s *Service) listGroupsForUser(_ *service.Call, in *iam.ListGroupsForUserInput) (*iam.ListGroupsForUserOutput, error) {
	u, err := s.lookupUser(in.UserName)
	if err != nil {
		return nil, err
	}
	part, truncated, next, err := page(s.groupsOf(u.Name), in.Marker, in.MaxItems)
	if err != nil {
		return nil, err
	}
	return &iam.ListGroupsForUserOutput{Groups: s.shownGroups(part), IsTruncated: truncated, Marker: next}, nil
}

func (s *Service) deleteGroup(_ *service.Call, in *iam.DeleteGroupInput) (*iam.DeleteGroupOutput, error) {
	g, err := s.lookupGroup(in.GroupName)
	if err != nil {
		return nil, err
	}
	switch {
	case len(g.Members) > 0:
		return nil, deleteConflict("Cannot delete entity, must remove users from group first.")
	case len(g.Attached) > 0:
		return nil, deleteConflict("Cannot delete entity, must detach all policies first.")
	case len(g.Inline) > 0:
		return nil, deleteConflict("Cannot delete entity, must delete policies first.")
	}
	delete(s.state.Groups, g.Name)
	return &iam.DeleteGroupOutput{}, nil
}

func (s *Service) addUserToGroup(_ *service.Call, in *iam.AddUserToGroupInput) (*iam.AddUserToGroupOutput, error) {
	g, err := s.lookupGroup(in.GroupName)
	if err != nil {
		return nil, err
	}
	u, err := s.lookupUser(in.UserName)
	if err != nil {
		return nil, err
	}
	g.Members[u.Name] = true
	return &iam.AddUserToGroupOutput{}, nil
}

func (s *Service) removeUserFromGroup(_ *service.Call, in *iam.RemoveUserFromGroupInput) (*iam.RemoveUserFromGroupOutput, error) {
	g, err := s.lookupGroup(in.GroupName)
	if err != nil {
		return nil, err
	}
	u, err := s.lookupUser(in.UserName)
	if err != nil {
		return nil, err
	}
	if !g.Members[u.Name] {
		return nil, noSuchEntity("User %s is not in group %s.", u.Name, g.Name)
	}
	delete(g.Members, u.Name)
	return &iam.RemoveUserFromGroupOutput{}, nil
}

func (g *group) shown() *types.Group {
	return &types.Group{
		Arn: aws.String(g.ARN), GroupId: aws.String(g.ID), GroupName: aws.String(g.Name), Path: aws.String(g.Path), CreateDate: aws.Time(g.CreatedAt),
	}
}
