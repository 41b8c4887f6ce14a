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

const maxUserName = 64

type user struct {
	Name, ID, ARN, Path string
	Boundary            string // ARN of a policy, or empty
	CreatedAt           time.Time
	Tags                map[string]string
	Attached            map[string]bool   // policy ARNs
	Inline              map[string]string // documents by policy name
	Keys                map[string]*accessKey
	Login               *loginProfile `json:",omitempty"`
}

func (s *Service) userOperations() []service.Operation {
	return slices.Concat([]service.Operation{
		service.Write("CreateUser", s.createUser, "UserName", "Path", "PermissionsBoundary", "Tags"),
		service.Read("GetUser", s.getUser, "UserName"),
		service.Read("ListUsers", s.listUsers, "PathPrefix", "Marker", "MaxItems"),
		service.Write("UpdateUser", s.updateUser, "UserName", "NewUserName", "NewPath"),
		service.Write("DeleteUser", s.deleteUser, "UserName"),
		service.Write("TagUser", s.tagUser, "UserName", "Tags"),
		service.Write("UntagUser", s.untagUser, "UserName", "TagKeys"),
		service.Read("ListUserTags", s.listUserTags, "UserName", "Marker", "MaxItems"),
		service.Write("PutUserPermissionsBoundary", s.putUserBoundary, "UserName", "PermissionsBoundary"),
		service.Write("DeleteUserPermissionsBoundary", s.deleteUserBoundary, "UserName"),
	},
		s.userPolicyOperations(),
		s.accessKeyOperations(),
		s.loginProfileOperations(),
		s.groupOperations(),
		s.groupPolicyOperations(),
		s.customerPolicyOperations(),
		s.policyVersionOperations(),
		s.serviceLinkedRoleOperations(),
		s.roleUpdateOperations(),
	)
}

func noSuchUser(name string) error {
	return noSuchEntity("The user with name %s cannot be found.", name)
}

func (s *Service) lookupUser(name *string) (*user, error) {
	asked, err := checkName("userName", name, maxUserName)
	if err != nil {
		return nil, err
	}
	if u := s.state.Users[asked]; u != nil {
		return u, nil
	}
	return nil, noSuchUser(asked)
}

// userOf finds the user that a call is about, which is the caller when it
// names none.
func (s *Service) userOf(c *service.Call, name *string) (*user, error) {
	if name != nil {
		return s.lookupUser(name)
	}
	_, named, ok := strings.Cut(c.Caller.ARN, ":user/")
	if !ok {
		return nil, service.Refuse("ValidationError", "Must specify userName when calling with non-User credentials")
	}
	return s.lookupUser(aws.String(named[strings.LastIndex(named, "/")+1:]))
}

// checkBoundary refuses a permissions boundary that is no policy.
func (s *Service) checkBoundary(arn *string) (string, error) {
	if arn == nil {
		return "", nil
	}
	_, err := s.lookupPolicy(*arn)
	return *arn, err
}

func (s *Service) createUser(c *service.Call, in *iam.CreateUserInput) (*iam.CreateUserOutput, error) {
	name, err := checkName("userName", in.UserName, maxUserName)
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
	boundary, err := s.checkBoundary(in.PermissionsBoundary)
	if err != nil {
		return nil, err
	}
	for existing := range s.state.Users {
		if sameName(existing, name) {
			return nil, alreadyExists("User with name %s already exists.", name)
		}
	}
	u := &user{
		Name: name, Path: path, ID: strings.ToUpper(c.World.NewID("AIDA", 17)),
		ARN: "arn:aws:iam::" + c.Account + ":user" + path + name, Boundary: boundary,
		CreatedAt: c.World.Now().UTC(), Tags: tags,
		Attached: map[string]bool{}, Inline: map[string]string{}, Keys: map[string]*accessKey{},
	}
	s.state.Users[name] = u
	return &iam.CreateUserOutput{User: u.full()}, nil
}

// getUser without a name answers for the caller, also for one that the
// simulated account was given from outside.
func (s *Service) getUser(c *service.Call, in *iam.GetUserInput) (*iam.GetUserOutput, error) {
	u, err := s.userOf(c, in.UserName)
	if err == nil {
		return &iam.GetUserOutput{User: u.full()}, nil
	}
	if _, named, ok := strings.Cut(c.Caller.ARN, ":user/"); ok && in.UserName == nil {
		cut := strings.LastIndex(named, "/") + 1
		return &iam.GetUserOutput{User: &types.User{
			Arn: aws.String(c.Caller.ARN), UserId: aws.String(c.Caller.UserID), UserName: aws.String(named[cut:]),
			Path: aws.String("/" + named[:cut]), CreateDate: aws.Time(managedSince),
		}}, nil
	}
	return nil, err
}

func (s *Service) listUsers(_ *service.Call, in *iam.ListUsersInput) (*iam.ListUsersOutput, error) {
	names := slices.Sorted(maps.Keys(s.state.Users))
	names = slices.DeleteFunc(names, func(n string) bool {
		return !strings.HasPrefix(s.state.Users[n].Path, aws.ToString(in.PathPrefix))
	})
	part, truncated, next, err := page(names, in.Marker, in.MaxItems)
	if err != nil {
		return nil, err
	}
	out := &iam.ListUsersOutput{Users: []types.User{}, IsTruncated: truncated, Marker: next}
	for _, n := range part {
		out.Users = append(out.Users, s.state.Users[n].listed())
	}
	return out, nil
}

func (s *Service) updateUser(c *service.Call, in *iam.UpdateUserInput) (*iam.UpdateUserOutput, error) {
	u, err := s.lookupUser(in.UserName)
	if err != nil {
		return nil, err
	}
	name, path := u.Name, u.Path
	if in.NewUserName != nil {
		if name, err = checkName("newUserName", in.NewUserName, maxUserName); err != nil {
			return nil, err
		}
	}
	if in.NewPath != nil {
		if path, err = checkPath(in.NewPath); err != nil {
			return nil, err
		}
	}
	for existing := range s.state.Users {
		if existing != u.Name && sameName(existing, name) {
			return nil, alreadyExists("User with name %s already exists.", name)
		}
	}
	delete(s.state.Users, u.Name)
	for _, g := range s.state.Groups {
		if g.Members[u.Name] {
			delete(g.Members, u.Name)
			g.Members[name] = true
		}
	}
	u.Name, u.Path, u.ARN = name, path, "arn:aws:iam::"+c.Account+":user"+path+name
	s.state.Users[name] = u
	return &iam.UpdateUserOutput{}, nil
}

// deleteUser refuses while the user has anything ("IAM API, DeleteUser").
func (s *Service) deleteUser(_ *service.Call, in *iam.DeleteUserInput) (*iam.DeleteUserOutput, error) {
	u, err := s.lookupUser(in.UserName)
	if err != nil {
		return nil, err
	}
	switch {
	case len(u.Attached) > 0:
		return nil, deleteConflict("Cannot delete entity, must detach all policies first.")
	case len(u.Inline) > 0:
		return nil, deleteConflict("Cannot delete entity, must delete policies first.")
	case len(u.Keys) > 0:
		return nil, deleteConflict("Cannot delete entity, must delete access keys first.")
	case u.Login != nil:
		return nil, deleteConflict("Cannot delete entity, must delete login profile first.")
	case len(s.groupsOf(u.Name)) > 0:
		return nil, deleteConflict("Cannot delete entity, must remove users from group first.")
	}
	delete(s.state.Users, u.Name)
	return &iam.DeleteUserOutput{}, nil
}

func (s *Service) tagUser(_ *service.Call, in *iam.TagUserInput) (*iam.TagUserOutput, error) {
	u, err := s.lookupUser(in.UserName)
	if err != nil {
		return nil, err
	}
	tags, err := tagged(u.Tags, in.Tags)
	if err != nil {
		return nil, err
	}
	u.Tags = tags
	return &iam.TagUserOutput{}, nil
}

func (s *Service) untagUser(_ *service.Call, in *iam.UntagUserInput) (*iam.UntagUserOutput, error) {
	u, err := s.lookupUser(in.UserName)
	if err != nil {
		return nil, err
	}
	u.Tags = untagged(u.Tags, in.TagKeys)
	return &iam.UntagUserOutput{}, nil
}

func (s *Service) listUserTags(_ *service.Call, in *iam.ListUserTagsInput) (*iam.ListUserTagsOutput, error) {
	u, err := s.lookupUser(in.UserName)
	if err != nil {
		return nil, err
	}
	part, truncated, next, err := tagPage(u.Tags, in.Marker, in.MaxItems)
	if err != nil {
		return nil, err
	}
	return &iam.ListUserTagsOutput{Tags: part, IsTruncated: truncated, Marker: next}, nil
}

func (s *Service) putUserBoundary(_ *service.Call, in *iam.PutUserPermissionsBoundaryInput) (*iam.PutUserPermissionsBoundaryOutput, error) {
	u, err := s.lookupUser(in.UserName)
	if err != nil {
		return nil, err
	}
	boundary, err := s.checkBoundary(aws.String(aws.ToString(in.PermissionsBoundary)))
	if err != nil {
		return nil, err
	}
	u.Boundary = boundary
	return &iam.PutUserPermissionsBoundaryOutput{}, nil
}

func (s *Service) deleteUserBoundary(_ *service.Call, in *iam.DeleteUserPermissionsBoundaryInput) (*iam.DeleteUserPermissionsBoundaryOutput, error) {
	u, err := s.lookupUser(in.UserName)
	if err != nil {
		return nil, err
	}
	u.Boundary = ""
	return &iam.DeleteUserPermissionsBoundaryOutput{}, nil
}

// listed is the user as ListUsers shows it, without tags and boundary.
func (u *user) listed() types.User {
	return types.User{
		Arn: aws.String(u.ARN), UserId: aws.String(u.ID), UserName: aws.String(u.Name), Path: aws.String(u.Path), CreateDate: aws.Time(u.CreatedAt),
	}
}

func (u *user) full() *types.User {
	out := u.listed()
	out.Tags = tagList(u.Tags)
	if u.Boundary != "" {
		out.PermissionsBoundary = &types.AttachedPermissionsBoundary{
			PermissionsBoundaryArn: aws.String(u.Boundary), PermissionsBoundaryType: types.PermissionsBoundaryAttachmentTypePolicy,
		}
	}
	return &out
}
