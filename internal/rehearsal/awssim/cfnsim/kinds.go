package cfnsim

import (
	"strings"
)

// kind is a type of resource. Its functions make the calls that are needed;
// what create made before it failed is returned with the error.
type kind struct {
	noun       string   // in the names of IAM's operations
	named      string   // the property that is the name
	most       int      // characters of a name
	properties []string // that are modelled
	replaced   []string // properties whose change takes another resource
	actions    []string // permissions that making one takes
	arn        string   // what they are on: the part of the ARN before path and name
	create     func(a actor, st *stack, name string, p properties) (physical string, attributes map[string]string, err error)
	update     func(a actor, st *stack, physical string, before, after properties) error
	remove     func(a actor, physical string, p properties) error
}

// kinds are the types of resources that stacks can have here.
var kinds = map[string]*kind{
	"AWS::IAM::Role": {
		noun: "Role", named: "RoleName", most: 64, arn: "role",
		properties: []string{"RoleName", "AssumeRolePolicyDocument", "Path", "Description", "MaxSessionDuration",
			"ManagedPolicyArns", "Policies", "PermissionsBoundary", "Tags"},
		replaced: []string{"RoleName", "Path"},
		actions:  []string{"iam:CreateRole", "iam:GetRole"},
		create:   createRole, update: updateRole, remove: removeRole,
	},
	"AWS::IAM::InstanceProfile": {
		noun: "InstanceProfile", named: "InstanceProfileName", most: 128, arn: "instance-profile",
		properties: []string{"InstanceProfileName", "Path", "Roles"},
		replaced:   []string{"InstanceProfileName", "Path"},
		actions:    []string{"iam:CreateInstanceProfile", "iam:AddRoleToInstanceProfile"},
		create:     createProfile, update: updateProfile, remove: removeProfile,
	},
	"AWS::IAM::ManagedPolicy": {
		noun: "Policy", named: "ManagedPolicyName", most: 128, arn: "policy",
		properties: []string{"ManagedPolicyName", "Path", "Description", "PolicyDocument", "Roles", "Users", "Groups"},
		replaced:   []string{"ManagedPolicyName", "Path", "Description"},
		actions:    []string{"iam:CreatePolicy"},
		create:     createPolicy, update: updatePolicy, remove: removePolicy,
	},
	"AWS::IAM::User": {
		noun: "User", named: "UserName", most: 64, arn: "user",
		properties: []string{"UserName", "Path", "ManagedPolicyArns", "Policies", "Groups", "PermissionsBoundary", "Tags"},
		replaced:   []string{"UserName", "Path"},
		actions:    []string{"iam:CreateUser", "iam:GetUser"},
		create:     createUser, update: updateUser, remove: removeUser,
	},
	"AWS::IAM::Group": {
		noun: "Group", named: "GroupName", most: 128, arn: "group",
		properties: []string{"GroupName", "Path", "ManagedPolicyArns", "Policies"},
		replaced:   []string{"GroupName", "Path"},
		actions:    []string{"iam:CreateGroup"},
		create:     createGroup, update: updateGroup, remove: removeGroup,
	},
}

// generatedName is what a resource is called that was given no name.
func (k *kind) generatedName(stackName, logicalID, random string) string {
	prefix := stackName + "-" + logicalID
	if room := k.most - len(random) - 1; len(prefix) > room {
		prefix = prefix[:room]
	}
	return strings.TrimSuffix(prefix, "-") + "-" + random
}

// setPolicies brings managed and inline policies of a role, user or group from
// one state to another.
func (a actor) setPolicies(noun, name string, before, after properties) error {
	target := noun + "Name"
	detached, attached := difference(before.texts("ManagedPolicyArns"), after.texts("ManagedPolicyArns"))
	for _, arn := range detached {
		if _, err := a.do("Detach"+noun+"Policy", input{target: name, "PolicyArn": arn}); unlessAbsent(err) != nil {
			return err
		}
	}
	for _, arn := range attached {
		if _, err := a.do("Attach"+noun+"Policy", input{target: name, "PolicyArn": arn}); err != nil {
			return err
		}
	}
	old, err := before.inline()
	if err != nil {
		return err
	}
	wanted, err := after.inline()
	if err != nil {
		return err
	}
	for policy := range old {
		if _, keep := wanted[policy]; !keep {
			if _, err := a.do("Delete"+noun+"Policy", input{target: name, "PolicyName": policy}); unlessAbsent(err) != nil {
				return err
			}
		}
	}
	for policy, text := range wanted {
		if old[policy] != text {
			if _, err := a.do("Put"+noun+"Policy", input{target: name, "PolicyName": policy, "PolicyDocument": text}); err != nil {
				return err
			}
		}
	}
	return nil
}

// setBoundary brings the permissions boundary of a role or user from one state
// to another.
func (a actor) setBoundary(noun, name string, before, after properties) error {
	old, wanted := before.text("PermissionsBoundary"), after.text("PermissionsBoundary")
	switch {
	case old == wanted:
		return nil
	case wanted == "":
		_, err := a.do("Delete"+noun+"PermissionsBoundary", input{noun + "Name": name})
		return err
	}
	_, err := a.do("Put"+noun+"PermissionsBoundary", input{noun + "Name": name, "PermissionsBoundary": wanted})
	return err
}

// setTags brings the tags of a role or user from one state to another.
func (a actor) setTags(noun, name string, st *stack, before, after properties) error {
	old, wanted := map[string]string{}, map[string]string{}
	for _, t := range before.tags(st.previousTags()) {
		old[*t.Key] = *t.Value
	}
	tags := after.tags(st.Tags)
	for _, t := range tags {
		wanted[*t.Key] = *t.Value
	}
	var gone []string
	for key := range old {
		if _, keep := wanted[key]; !keep {
			gone = append(gone, key)
		}
	}
	if len(gone) > 0 {
		if _, err := a.do("Untag"+noun, input{noun + "Name": name, "TagKeys": gone}); err != nil {
			return err
		}
	}
	if len(tags) == 0 {
		return nil
	}
	_, err := a.do("Tag"+noun, input{noun + "Name": name, "Tags": tags})
	return err
}
