package stssim

import (
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/krops-go/krops/internal/rehearsal/awssim/policy"
	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// chained is how long a session may last that another session opens (IAM User
// Guide, "Methods to assume a role", "Role chaining").
const chained = time.Hour

// assumeRole refuses a role that does not exist in the same words as one that
// the caller may not assume, as STS does.
func (s *Service) assumeRole(c *service.Call, in *sts.AssumeRoleInput) (*sts.AssumeRoleOutput, error) {
	name, err := checkSessionName(in.RoleSessionName)
	if err != nil {
		return nil, err
	}
	arn := aws.ToString(in.RoleArn)
	if !strings.HasPrefix(arn, "arn:") {
		return nil, invalid("roleArn", "Member must be an ARN")
	}
	role, ok := s.role(arn)
	if !ok {
		return nil, notAllowed(c.Caller, "sts:AssumeRole", arn)
	}
	tags := map[string]string{}
	keys := map[string][]string{"sts:rolesessionname": {name}}
	if in.ExternalId != nil {
		keys["sts:externalid"] = []string{*in.ExternalId}
	}
	for _, t := range in.Tags {
		tags[aws.ToString(t.Key)] = aws.ToString(t.Value)
	}
	actions := []string{"sts:AssumeRole"}
	if len(tags) > 0 {
		actions = append(actions, "sts:TagSession")
	}
	for _, action := range actions {
		if !trusts(c, role, action, keys) {
			return nil, notAllowed(c.Caller, action, arn)
		}
	}

	most := role.MaxSession
	if c.Caller.Role != "" {
		most = chained
	}
	life, err := duration(in.DurationSeconds, min(time.Hour, most), most)
	if err != nil {
		return nil, err
	}
	one := roleSession(c.Account, role, name)
	if len(tags) > 0 {
		for key, value := range one.Tags {
			if _, given := tags[key]; !given {
				tags[key] = value
			}
		}
		one.Tags = tags
	}
	if one.Policies, one.Limited, err = s.sessionPolicies(in.Policy, in.PolicyArns); err != nil {
		return nil, err
	}
	return &sts.AssumeRoleOutput{
		Credentials: s.open(c.World, life, one), AssumedRoleUser: one.user(), PackedPolicySize: packedSize(one),
	}, nil
}

// trusts decides by the role's trust policy together with the caller's own.
func trusts(c *service.Call, role service.Identity, action string, keys map[string][]string) bool {
	trust, err := policy.Parse(role.Trust, policy.Trust)
	if err != nil {
		return false
	}
	var general policy.Keys
	if c.Access != nil {
		general = c.Access.Keys()
	}
	grant := trust.Grants(
		policy.Who{ARN: c.Caller.ARN, Role: c.Caller.Role, Account: c.Account},
		policy.Request{Action: action, Resource: role.ARN, Keys: func(name string) []string {
			if values, ok := keys[name]; ok {
				return values
			}
			if general == nil {
				return nil
			}
			return general(name)
		}},
	)
	if grant.Effect != policy.Allow || c.Access == nil {
		return grant.Effect == policy.Allow
	}
	if action == "sts:AssumeRole" {
		return c.Access.DecideAssume(role.ARN, grant, keys).Allowed
	}
	return c.Access.Decide(action, role.ARN, grant, keys).Allowed
}

func (s *Service) role(arn string) (service.Identity, bool) {
	if s.directory == nil || !strings.Contains(arn, ":role/") {
		return service.Identity{}, false
	}
	return s.directory.LookupIdentity(arn)
}

func notAllowed(who service.Principal, action, resource string) error {
	return service.RefuseStatus(http.StatusForbidden, "AccessDenied",
		"User: %s is not authorized to perform: %s on resource: %s", who.ARN, action, resource)
}

// packedSize is how much of the room for session policies is taken, in percent;
// nil without any.
func packedSize(one session) *int32 {
	if !one.Limited {
		return nil
	}
	size := 0
	for _, document := range one.Policies {
		size += len(document)
	}
	return aws.Int32(int32(min(100, size*100/2048)))
}
