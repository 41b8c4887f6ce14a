package cfnsim

import (
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/iam"
)

func session(p properties) (*int32, error) {
	text := p.text("MaxSessionDuration")
	if text == "" {
		return nil, nil
	}
	seconds, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return nil, err
	}
	return new(int32(seconds)), nil
}

func createRole(a actor, st *stack, name string, p properties) (string, map[string]string, error) {
	trust, err := p.document("AssumeRolePolicyDocument")
	if err != nil {
		return "", nil, err
	}
	duration, err := session(p)
	if err != nil {
		return "", nil, err
	}
	out, err := a.do("CreateRole", input{
		"RoleName": name, "AssumeRolePolicyDocument": trust, "Path": p.text("Path"), "Description": p.text("Description"),
		"PermissionsBoundary": p.text("PermissionsBoundary"), "MaxSessionDuration": duration, "Tags": p.tags(st.Tags),
	})
	if err != nil {
		return "", nil, err
	}
	role := out.(*iam.CreateRoleOutput).Role
	return name, map[string]string{"Arn": *role.Arn, "RoleId": *role.RoleId}, a.setPolicies("Role", name, nil, p)
}

func updateRole(a actor, st *stack, name string, before, after properties) error {
	old, err := before.document("AssumeRolePolicyDocument")
	if err != nil {
		return err
	}
	trust, err := after.document("AssumeRolePolicyDocument")
	if err != nil {
		return err
	}
	duration, err := session(after)
	if err != nil {
		return err
	}
	return try(
		func() error {
			if old == trust {
				return nil
			}
			_, err := a.do("UpdateAssumeRolePolicy", input{"RoleName": name, "PolicyDocument": trust})
			return err
		},
		func() error {
			if before.text("Description") == after.text("Description") && before.text("MaxSessionDuration") == after.text("MaxSessionDuration") {
				return nil
			}
			_, err := a.do("UpdateRole", input{"RoleName": name, "Description": new(after.text("Description")), "MaxSessionDuration": duration})
			return err
		},
		func() error { return a.setBoundary("Role", name, before, after) },
		func() error { return a.setTags("Role", name, st, before, after) },
		func() error { return a.setPolicies("Role", name, before, after) },
	)
}

// removeRole takes away what the stack gave to the role and no more, so that a
// role that something else uses stays.
func removeRole(a actor, name string, p properties) error {
	if _, err := a.do("GetRole", input{"RoleName": name}); err != nil {
		return unlessAbsent(err)
	}
	if err := a.setPolicies("Role", name, p, nil); err != nil {
		return err
	}
	_, err := a.do("DeleteRole", input{"RoleName": name})
	return unlessAbsent(err)
}

func createProfile(a actor, _ *stack, name string, p properties) (string, map[string]string, error) {
	out, err := a.do("CreateInstanceProfile", input{"InstanceProfileName": name, "Path": p.text("Path")})
	if err != nil {
		return "", nil, err
	}
	attributes := map[string]string{"Arn": *out.(*iam.CreateInstanceProfileOutput).InstanceProfile.Arn}
	return name, attributes, updateProfile(a, nil, name, nil, p)
}

func updateProfile(a actor, _ *stack, name string, before, after properties) error {
	removed, added := difference(before.texts("Roles"), after.texts("Roles"))
	for _, role := range removed {
		if _, err := a.do("RemoveRoleFromInstanceProfile", input{"InstanceProfileName": name, "RoleName": role}); unlessAbsent(err) != nil {
			return err
		}
	}
	for _, role := range added {
		if _, err := a.do("AddRoleToInstanceProfile", input{"InstanceProfileName": name, "RoleName": role}); err != nil {
			return err
		}
	}
	return nil
}

func removeProfile(a actor, name string, p properties) error {
	if err := updateProfile(a, nil, name, p, nil); err != nil {
		return err
	}
	_, err := a.do("DeleteInstanceProfile", input{"InstanceProfileName": name})
	return unlessAbsent(err)
}
