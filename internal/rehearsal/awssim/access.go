package awssim

import (
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/krops-go/krops/internal/rehearsal/awssim/policy"
	"github.com/krops-go/krops/internal/rehearsal/awssim/policy/permission"
	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
	"github.com/krops-go/krops/internal/rehearsal/awssim/wire/spelling"
)

// access is what one caller may do, as far as a call is concerned.
type access struct {
	permissions *policy.Permissions
	conditions  conditions
}

var _ service.Access = (*access)(nil)

// accessLocked returns what the holder of the credential may do in a region.
func (s *Server) accessLocked(c service.Credential, from origin, region string, in any) *access {
	return &access{
		permissions: s.permissionsLocked(c),
		conditions:  conditions{s: s, credential: c, origin: from, region: region, now: s.clock.Now(), in: in},
	}
}

func (a *access) request(action, resource string, keys map[string][]string) policy.Request {
	c := a.conditions
	c.resource, c.extra = resource, keys
	return policy.Request{Action: action, Resource: resource, Keys: c.keys()}
}

// Decide implements service.Access.
func (a *access) Decide(action, resource string, grant policy.Grant, keys map[string][]string) policy.Decision {
	d := a.permissions.DecideWith(a.request(action, resource, keys), grant)
	a.conditions.s.record.used(subjectARN(a.conditions.credential.Principal), action, d.Allowed)
	return d
}

// DecideAssume implements service.Access.
func (a *access) DecideAssume(role string, trust policy.Grant, keys map[string][]string) policy.Decision {
	const action = "sts:AssumeRole"
	d := a.permissions.DecideAssume(a.request(action, role, keys), trust)
	a.conditions.s.record.used(subjectARN(a.conditions.credential.Principal), action, d.Allowed)
	return d
}

// Keys implements service.Access.
func (a *access) Keys() policy.Keys { return a.conditions.keys() }

// authorise returns the refusal of a call that the caller is not allowed.
func (a *access) authorise(p spelling.Protocol, n *permission.Needs, operation string) *service.Error {
	if n.Everyone {
		return nil
	}
	in := a.conditions.in
	action, also := n.Action, n.Also
	for _, extra := range also {
		if extra.Instead && isTrue(in, extra.Field) {
			action = extra.Action
		}
	}
	if refusal := a.check(p, action, a.fill(n.Resources), nil); refusal != nil {
		return refusal
	}
	for _, extra := range also {
		if extra.Instead || !isTrue(in, extra.Field) {
			continue
		}
		keys := map[string][]string{"ec2:createaction": {operation}}
		if refusal := a.check(p, extra.Action, a.fill(extra.Resources), keys); refusal != nil {
			return refusal
		}
	}
	for _, pass := range n.Passes {
		role, ok := fieldOf(in, pass.Field)
		if !ok || role.Kind() != reflect.String {
			continue
		}
		arn := role.String()
		if !strings.HasPrefix(arn, "arn:") {
			arn = a.named("role", arn)
		}
		keys := map[string][]string{"iam:passedtoservice": {pass.Service}}
		if refusal := a.check(p, "iam:PassRole", []string{arn}, keys); refusal != nil {
			return refusal
		}
	}
	return nil
}

func (a *access) check(p spelling.Protocol, action string, resources []string, keys map[string][]string) *service.Error {
	for _, resource := range resources {
		if d := a.Decide(action, resource, a.bucketGrant(action, resource, keys), keys); !d.Allowed {
			return denied(p, a.conditions.credential.Principal, action, resource, d)
		}
	}
	return nil
}

// bucketGrant is what the policy of the bucket that a resource is, or is in,
// says about the action; nothing for other resources.
func (a *access) bucketGrant(action, resource string, keys map[string][]string) policy.Grant {
	s := a.conditions.s
	rest, ok := strings.CutPrefix(resource, "arn:aws:s3:::")
	if !ok || s.buckets == nil {
		return policy.Grant{}
	}
	bucket, _, _ := strings.Cut(rest, "/")
	text, ok := s.buckets.BucketPolicy(bucket)
	if !ok {
		return policy.Grant{}
	}
	doc, err := policy.Parse(text, policy.Resource)
	if err != nil {
		s.log.Error("a bucket's policy cannot be read", "bucket", bucket, "error", err)
		return policy.Grant{}
	}
	p := a.conditions.credential.Principal
	return doc.Grants(policy.Who{ARN: p.ARN, Role: p.Role, Account: s.account}, a.request(action, resource, keys))
}

// denied words a denial as services do.
func denied(p spelling.Protocol, who service.Principal, action, resource string, d policy.Decision) *service.Error {
	message := "User: " + who.ARN + " is not authorized to perform: " + action
	if resource != "*" {
		message += " on resource: " + resource
	}
	message += " " + d.Reason(action)
	switch p {
	case spelling.EC2Query:
		return service.RefuseStatus(http.StatusForbidden, "UnauthorizedOperation", "You are not authorized to perform this operation. %s", message)
	case spelling.RESTJSON:
		return service.RefuseStatus(http.StatusForbidden, "AccessDeniedException", "%s", message)
	case spelling.JSON11:
		return service.Refuse("AccessDeniedException", "%s", message)
	}
	return service.RefuseStatus(http.StatusForbidden, "AccessDenied", "%s", message)
}

// fill turns templates into the ARNs that a call is about; see
// permission.Needs for their form.
func (a *access) fill(templates []string) []string {
	if len(templates) == 0 {
		return []string{"*"}
	}
	var out []string
	for _, template := range templates {
		out = append(out, a.fillOne(template)...)
	}
	return out
}

func (a *access) fillOne(template string) []string {
	before, rest, open := strings.Cut(template, "{")
	if !open {
		return []string{template}
	}
	name, after, _ := strings.Cut(rest, "}")
	var out []string
	for _, value := range a.fieldValues(name) {
		if strings.HasPrefix(value, "arn:") {
			out = append(out, value)
			continue
		}
		if strings.HasSuffix(before, ":parameter/") { // whose names may be paths
			value = strings.TrimPrefix(value, "/")
		}
		for _, tail := range a.fillOne(after) {
			if strings.HasPrefix(tail, "arn:") && after != tail {
				out = append(out, tail)
				continue
			}
			out = append(out, before+value+tail)
		}
	}
	return out
}

// fieldValues are what a template's field stands for.
func (a *access) fieldValues(name string) []string {
	c := &a.conditions
	switch name {
	case "region":
		return []string{c.region}
	case "account":
		return []string{c.s.account}
	}
	kind, name, named := strings.Cut(name, ":")
	if !named {
		kind, name = "", kind
	}
	v, ok := fieldOf(c.in, name)
	if !ok {
		if named {
			return []string{a.named(kind, "*")}
		}
		return []string{"*"}
	}
	var values []string
	switch list, isList := v.Interface().([]string); {
	case v.Kind() == reflect.String:
		values = []string{v.String()}
	case isList && len(list) > 0:
		values = slices.Clone(list)
	default:
		return []string{"*"}
	}
	if name == "Resources" { // of EC2's tagging actions
		for i, id := range values {
			values[i] = "arn:aws:ec2:" + c.region + ":" + c.s.account + ":" + permission.EC2ResourceType(id) + "/" + id
		}
	}
	if named {
		for i := range values {
			values[i] = a.named(kind, values[i])
		}
	}
	return values
}

// named returns the ARN of an IAM identity by its name.
func (a *access) named(kind, name string) string {
	s := a.conditions.s
	if s.directory != nil {
		if arn, ok := s.directory.ARN(kind, name); ok {
			return arn
		}
	}
	return "arn:aws:iam::" + s.account + ":" + kind + "/" + name
}
