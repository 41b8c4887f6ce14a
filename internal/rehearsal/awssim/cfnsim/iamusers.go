package cfnsim

import (
	"github.com/aws/aws-sdk-go-v2/service/iam"
)

func createUser(a actor, st *stack, name string, p properties) (string, map[string]string, error) {
	out, err := a.do("CreateUser", input{
		"UserName": name, "Path": p.text("Path"), "PermissionsBoundary": p.text("PermissionsBoundary"), "Tags": p.tags(st.Tags),
	})
	if err != nil {
		return "", nil, err
	}
	attributes := map[string]string{"Arn": *out.(*iam.CreateUserOutput).User.Arn}
	return name, attributes, try(
		func() error { return a.setPolicies("User", name, nil, p) },
		func() error { return a.setGroups(name, nil, p) },
	)
}

func (a actor) setGroups(user string, before, after properties) error {
	removed, added := difference(before.texts("Groups"), after.texts("Groups"))
	for _, group := range removed {
		if _, err := a.do("RemoveUserFromGroup", input{"GroupName": group, "UserName": user}); unlessAbsent(err) != nil {
			return err
		}
	}
	for _, group := range added {
		if _, err := a.do("AddUserToGroup", input{"GroupName": group, "UserName": user}); err != nil {
			return err
		}
	}
	return nil
}

func updateUser(a actor, st *stack, name string, before, after properties) error {
	return try(
		func() error { return a.setBoundary("User", name, before, after) },
		func() error { return a.setTags("User", name, st, before, after) },
		func() error { return a.setPolicies("User", name, before, after) },
		func() error { return a.setGroups(name, before, after) },
	)
}

func removeUser(a actor, name string, p properties) error {
	return unlessAbsent(try(
		func() error { return a.setPolicies("User", name, p, nil) },
		func() error { return a.setGroups(name, p, nil) },
		func() error { _, err := a.do("DeleteUser", input{"UserName": name}); return err },
	))
}

func createGroup(a actor, _ *stack, name string, p properties) (string, map[string]string, error) {
	out, err := a.do("CreateGroup", input{"GroupName": name, "Path": p.text("Path")})
	if err != nil {
		return "", nil, err
	}
	attributes := map[string]string{"Arn": *out.(*iam.CreateGroupOutput).Group.Arn}
	return name, attributes, a.setPolicies("Group", name, nil, p)
}

func updateGroup(a actor, _ *stack, name string, before, after properties) error {
	return a.setPolicies("Group", name, before, after)
}

func removeGroup(a actor, name string, p properties) error {
	return unlessAbsent(try(
		func() error { return a.setPolicies("Group", name, p, nil) },
		func() error { _, err := a.do("DeleteGroup", input{"GroupName": name}); return err },
	))
}
