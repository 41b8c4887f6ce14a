package cfnsim

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// actor makes calls on behalf of a stack. Like CloudFormation, it uses the
// APIs that everybody uses.
type actor struct {
	operations map[string]service.Operation // of IAM, by name
	call       *service.Call
}

// input are the fields of an API's input by name. Texts stand for pointers to
// texts, and empty ones are left out.
type input map[string]any

// do makes a call and returns the API's output.
func (a actor) do(operation string, in input) (any, error) {
	op, ok := a.operations[operation]
	if !ok {
		return nil, fmt.Errorf("the simulated IAM has no operation %s", operation)
	}
	v := reflect.New(op.In)
	for field, value := range in {
		if given, ok := value.(string); ok {
			if given == "" {
				continue
			}
			value = &given
		}
		if value != nil {
			v.Elem().FieldByName(field).Set(reflect.ValueOf(value))
		}
	}
	return op.Invoke(a.call, v.Interface())
}

// try makes calls in turn and stops at the first that fails.
func try(calls ...func() error) error {
	for _, call := range calls {
		if err := call(); err != nil {
			return err
		}
	}
	return nil
}

// absent reports that what a call was about does not exist.
func absent(err error) bool {
	var refusal *service.Error
	return errors.As(err, &refusal) && refusal.Code == "NoSuchEntity"
}

// unlessAbsent takes what is already gone for success.
func unlessAbsent(err error) error {
	if absent(err) {
		return nil
	}
	return err
}

// properties are those of a resource with all functions evaluated.
type properties map[string]any

func (p properties) text(name string) string {
	if p[name] == nil {
		return ""
	}
	return text(p[name])
}

func (p properties) texts(name string) []string { return texts(p[name]) }

// document is a policy as JSON.
func (p properties) document(name string) (string, error) { return document(p[name]) }

func document(value any) (string, error) {
	if given, ok := value.(string); ok {
		return given, nil
	}
	data, err := json.Marshal(value)
	if err != nil {
		return "", fmt.Errorf("a policy document cannot be written as JSON: %w", err)
	}
	return string(data), nil
}

// inline are the inline policies of a role, user or group by name.
func (p properties) inline() (map[string]string, error) {
	out := map[string]string{}
	list, _ := p["Policies"].([]any)
	for _, one := range list {
		entry, _ := one.(map[string]any)
		policy, err := document(entry["PolicyDocument"])
		if err != nil {
			return nil, err
		}
		out[text(entry["PolicyName"])] = policy
	}
	return out, nil
}

// tags are the resource's own on top of the stack's.
func (p properties) tags(stack map[string]string) []types.Tag {
	all := maps.Clone(stack)
	if all == nil {
		all = map[string]string{}
	}
	list, _ := p["Tags"].([]any)
	for _, one := range list {
		entry, _ := one.(map[string]any)
		all[text(entry["Key"])] = text(entry["Value"])
	}
	var out []types.Tag
	for _, key := range slices.Sorted(maps.Keys(all)) {
		out = append(out, types.Tag{Key: aws.String(key), Value: aws.String(all[key])})
	}
	return out
}

// unsupported refuses properties that the type does not have here.
func (p properties) unsupported(supported []string) error {
	for _, name := range slices.Sorted(maps.Keys(p)) {
		if !slices.Contains(supported, name) {
			return fmt.Errorf("encountered unsupported property %s", name)
		}
	}
	return nil
}

// difference returns what is only in one of two lists.
func difference(before, after []string) (removed, added []string) {
	for _, one := range before {
		if !slices.Contains(after, one) {
			removed = append(removed, one)
		}
	}
	for _, one := range after {
		if !slices.Contains(before, one) {
			added = append(added, one)
		}
	}
	return removed, added
}

// reason words an error as the status of a resource does.
func reason(err error, requestID string) string {
	var refusal *service.Error
	if !errors.As(err, &refusal) {
		why := err.Error()
		return strings.ToUpper(why[:1]) + why[1:]
	}
	handler := map[string]string{
		"EntityAlreadyExists": "AlreadyExists", "NoSuchEntity": "NotFound", "LimitExceeded": "ServiceLimitExceeded",
		"AccessDenied": "AccessDenied", "DeleteConflict": "ResourceConflict",
	}[refusal.Code]
	if handler == "" {
		handler = "InvalidRequest"
	}
	return fmt.Sprintf("Resource handler returned message: \"%s (Service: Iam, Status Code: %d, Request ID: %s)\" (RequestToken: %s, HandlerErrorCode: %s)",
		refusal.Message, refusal.Status, requestID, requestID, handler)
}
