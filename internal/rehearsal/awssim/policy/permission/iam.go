package permission

import "strings"

// iam resources are named without their path: whoever fills the templates has
// to look it up, as {role:Field} and the like ask for.
func (n *Needs) iam(operation string) {
	const arn = "arn:aws:iam::{account}:"
	has := func(noun string) bool { return strings.Contains(operation, noun) }
	switch {
	case operation == "SimulatePrincipalPolicy":
		n.on("{PolicySourceArn}")
	case strings.HasPrefix(operation, "Simulate"):
	case strings.HasPrefix(operation, "List") && strings.HasSuffix(operation, "s") && !has("For") && !has("Attached") && !has("Tags") &&
		!has("RolePolicies") && !has("UserPolicies") && !has("AccessKeys") && !has("Versions"):
	case has("ServiceLinkedRole"):
		n.on(arn + "role/aws-service-role/{AWSServiceName}/*")
	case has("InstanceProfile") && operation != "ListInstanceProfilesForRole":
		n.on("{instance-profile:InstanceProfileName}")
	case has("OpenIDConnectProvider") && operation == "CreateOpenIDConnectProvider":
		n.on(arn + "oidc-provider/*")
	case has("OpenIDConnectProvider"):
		n.on("{OpenIDConnectProviderArn}")
	case operation == "CreatePolicy":
		n.on(arn + "policy/{PolicyName}")
	case has("User") || has("AccessKey") || has("LoginProfile"):
		n.on("{user:UserName}")
	case has("Group"):
		n.on(arn + "group/{GroupName}")
	case has("Role"):
		n.on("{role:RoleName}")
	case has("Policy"), has("EntitiesForPolicy"):
		n.on("{PolicyArn}")
	}
	// IAM User Guide, "Tags for AWS Identity and Access Management resources".
	switch operation {
	case "CreateRole":
		n.also("Tags", "iam:TagRole")
	case "CreateUser":
		n.also("Tags", "iam:TagUser")
	case "CreatePolicy":
		n.also("Tags", "iam:TagPolicy")
	case "CreateInstanceProfile":
		n.also("Tags", "iam:TagInstanceProfile")
	case "CreateOpenIDConnectProvider":
		n.also("Tags", "iam:TagOpenIDConnectProvider")
	case "AddRoleToInstanceProfile":
		n.passes("RoleName", "ec2.amazonaws.com")
	}
}
