package cfnsim

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/policy"
	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

func (s *Service) stackOperations() []service.Operation {
	return []service.Operation{
		service.Write("CreateStack", s.createStack, "StackName", "TemplateBody", "Parameters", "Capabilities", "Tags",
			"OnFailure", "DisableRollback", "EnableTerminationProtection", "ClientRequestToken", "TimeoutInMinutes"),
		service.Write("UpdateStack", s.updateStack, "StackName", "TemplateBody", "UsePreviousTemplate", "Parameters", "Capabilities", "Tags", "ClientRequestToken"),
		service.Write("DeleteStack", s.deleteStack, "StackName", "RetainResources", "ClientRequestToken"),
		service.Write("UpdateTerminationProtection", s.updateTerminationProtection, "StackName", "EnableTerminationProtection"),
	}
}

var stackName = regexp.MustCompile(`^[a-zA-Z][-a-zA-Z0-9]{0,127}$`)

// find returns a stack by its ARN, or by the name of one that is not deleted.
func (s *Service) find(region string, name *string) (*stack, error) {
	asked := aws.ToString(name)
	if asked == "" {
		return nil, invalid("1 validation error detected: Value at 'stackName' failed to satisfy constraint: Member must not be null")
	}
	if st := s.state.Stacks[asked]; st != nil && st.Region == region {
		return st, nil
	}
	for _, st := range s.sorted() {
		if st.Region == region && st.Name == asked && !st.gone() {
			return st, nil
		}
	}
	return nil, invalid("Stack with id %s does not exist", asked)
}

func tagMap(tags []types.Tag) (map[string]string, error) {
	out := map[string]string{}
	for _, t := range tags {
		key := aws.ToString(t.Key)
		if key == "" || strings.HasPrefix(strings.ToLower(key), "aws:") {
			return nil, invalid("Tag keys must not be empty or begin with aws:, found %q", key)
		}
		out[key] = aws.ToString(t.Value)
	}
	return out, nil
}

// given resolves the parameters of a request; before are those of the stack.
func (t *template) given(asked []types.Parameter, before map[string]string) (map[string]string, error) {
	out := map[string]string{}
	for _, p := range asked {
		key := aws.ToString(p.ParameterKey)
		declared, ok := t.Parameters[key]
		if !ok {
			return nil, invalid("Parameters: [%s] do not exist in the template", key)
		}
		out[key] = aws.ToString(p.ParameterValue)
		if aws.ToBool(p.UsePreviousValue) {
			out[key] = before[key]
		}
		if len(declared.Allowed) > 0 && !slices.Contains(declared.Allowed, out[key]) {
			return nil, invalid("Parameter '%s' must be one of AllowedValues", key)
		}
	}
	var missing []string
	for _, key := range slices.Sorted(maps.Keys(t.Parameters)) {
		if _, has := out[key]; has {
			continue
		}
		if t.Parameters[key].Default == nil {
			missing = append(missing, key)
			continue
		}
		out[key] = *t.Parameters[key].Default
	}
	if len(missing) > 0 {
		return nil, invalid("Parameters: [%s] must have values", strings.Join(missing, ", "))
	}
	return out, nil
}

// capability is what a template asks of its user: every type here is IAM's,
// and one with a name asks for more.
func (t *template) capability() types.Capability {
	for _, d := range t.Resources {
		if d.Properties[kinds[d.Type].named] != nil {
			return types.CapabilityCapabilityNamedIam
		}
	}
	return types.CapabilityCapabilityIam
}

func (t *template) checkCapabilities(has []types.Capability) error {
	wanted := t.capability()
	if slices.Contains(has, wanted) || slices.Contains(has, types.CapabilityCapabilityNamedIam) {
		return nil
	}
	return service.Refuse("InsufficientCapabilitiesException", "Requires capabilities : [%s]", wanted)
}

// denied finds the resources that the caller has no permission to make. The
// stack fails at them, as CloudFormation acts with its user's permissions.
func (s *Service) denied(c *service.Call, st *stack, t *template) map[string]string {
	out := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(t.Resources)) {
		d := t.Resources[name]
		k := kinds[d.Type]
		called, _ := d.Properties[k.named].(string)
		if called == "" {
			called = st.Name + "-" + name + "-*"
		}
		path, _ := d.Properties["Path"].(string)
		if path == "" {
			path = "/"
		}
		resource := "arn:aws:iam::" + s.account + ":" + k.arn + path + called
		for _, action := range k.actions {
			if !c.Decide(action, resource, policy.Grant{}, nil).Allowed {
				out[name] = fmt.Sprintf("Resource handler returned message: \"User: %s is not authorized to perform: %s on resource: %s "+
					"(Service: Iam, Status Code: 403)\" (HandlerErrorCode: AccessDenied)", c.Caller.ARN, action, resource)
				break
			}
		}
	}
	return out
}

func (s *Service) createStack(c *service.Call, in *cloudformation.CreateStackInput) (*cloudformation.CreateStackOutput, error) {
	name := aws.ToString(in.StackName)
	if !stackName.MatchString(name) {
		return nil, invalid("1 validation error detected: Value '%s' at 'stackName' failed to satisfy constraint: "+
			"Member must satisfy regular expression pattern: [a-zA-Z][-a-zA-Z0-9]*", name)
	}
	t, err := parse(aws.ToString(in.TemplateBody))
	if err != nil {
		return nil, err
	}
	parameters, err := t.given(in.Parameters, nil)
	if err != nil {
		return nil, err
	}
	tags, err := tagMap(in.Tags)
	if err != nil {
		return nil, err
	}
	onFailure := in.OnFailure
	switch {
	case onFailure != "" && in.DisableRollback != nil:
		return nil, invalid("You can specify either OnFailure or DisableRollback, but not both.")
	case aws.ToBool(in.DisableRollback):
		onFailure = types.OnFailureDoNothing
	case onFailure == "":
		onFailure = types.OnFailureRollback
	}
	if _, err := s.find(c.Region, in.StackName); err == nil {
		return nil, service.Refuse("AlreadyExistsException", "Stack [%s] already exists", name)
	}
	if err := t.checkCapabilities(in.Capabilities); err != nil {
		return nil, err
	}
	order, err := t.order()
	if err != nil {
		return nil, err
	}
	now := c.World.Now().UTC()
	st := &stack{
		Name: name, Region: c.Region, ID: "arn:aws:cloudformation:" + c.Region + ":" + s.account + ":stack/" + name + "/" + uuid(c.World),
		CreatedAt: now, Body: *in.TemplateBody, Parameters: parameters, Tags: tags, Capabilities: in.Capabilities, OnFailure: onFailure,
		Protected: aws.ToBool(in.EnableTerminationProtection), Resources: map[string]*resource{}, Owner: c.Caller,
		Work: &work{Phase: creating, Steps: stepsFor(order), Token: aws.ToString(in.ClientRequestToken)},
	}
	st.Denied = s.denied(c, st, t)
	s.state.Stacks[st.ID] = st
	s.become(st, now, types.StackStatusCreateInProgress, "User Initiated")
	return &cloudformation.CreateStackOutput{StackId: aws.String(st.ID)}, nil
}

// uuid returns an id in the form that CloudFormation gives to stacks.
func uuid(w service.World) string {
	digits := w.NewID("", 32)
	return strings.Join([]string{digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]}, "-")
}

// mayUpdate lists the states from which a stack can be updated.
var mayUpdate = []types.StackStatus{
	types.StackStatusCreateComplete, types.StackStatusUpdateComplete, types.StackStatusUpdateRollbackComplete,
}

func (s *Service) updateStack(c *service.Call, in *cloudformation.UpdateStackInput) (*cloudformation.UpdateStackOutput, error) {
	st, err := s.find(c.Region, in.StackName)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(mayUpdate, st.Status) {
		return nil, invalid("Stack:%s is in %s state and can not be updated.", st.ID, st.Status)
	}
	body := st.Body
	if !aws.ToBool(in.UsePreviousTemplate) {
		body = aws.ToString(in.TemplateBody)
	}
	t, err := parse(body)
	if err != nil {
		return nil, err
	}
	parameters, err := t.given(in.Parameters, st.Parameters)
	if err != nil {
		return nil, err
	}
	tags := st.Tags
	if in.Tags != nil {
		if tags, err = tagMap(in.Tags); err != nil {
			return nil, err
		}
	}
	if err := t.checkCapabilities(in.Capabilities); err != nil {
		return nil, err
	}
	before, err := st.scope(s.account)
	if err != nil {
		return nil, err
	}
	if reflect.DeepEqual(t, before.template) && maps.Equal(parameters, st.Parameters) && maps.Equal(tags, st.Tags) {
		return nil, invalid("No updates are to be performed.")
	}
	order, err := t.order()
	if err != nil {
		return nil, err
	}
	st.Work = &work{
		Phase: updating, Steps: stepsFor(order), Token: aws.ToString(in.ClientRequestToken),
		Before: &version{st.Body, st.Parameters, st.Tags},
	}
	st.Body, st.Parameters, st.Tags, st.Capabilities = body, parameters, tags, in.Capabilities
	st.Owner, st.Denied, st.UpdatedAt = c.Caller, s.denied(c, st, t), c.World.Now().UTC()
	s.become(st, st.UpdatedAt, types.StackStatusUpdateInProgress, "User Initiated")
	return &cloudformation.UpdateStackOutput{StackId: aws.String(st.ID)}, nil
}

// deleteStack succeeds for a stack that does not exist ("CloudFormation API,
// DeleteStack").
func (s *Service) deleteStack(c *service.Call, in *cloudformation.DeleteStackInput) (*cloudformation.DeleteStackOutput, error) {
	out := &cloudformation.DeleteStackOutput{}
	st, err := s.find(c.Region, in.StackName)
	if err != nil {
		if aws.ToString(in.StackName) == "" {
			return nil, err
		}
		return out, nil
	}
	switch {
	case st.gone() || st.Status == types.StackStatusDeleteInProgress:
		return out, nil
	case st.Protected:
		return nil, invalid("Stack [%s] cannot be deleted while TerminationProtection is enabled", st.Name)
	case st.inProgress() && st.Status != types.StackStatusCreateInProgress:
		return nil, invalid("Stack [%s] cannot be deleted while in status %s", st.Name, st.Status)
	case len(in.RetainResources) > 0 && st.Status != types.StackStatusDeleteFailed:
		return nil, invalid("Invalid operation on stack [%s]. Specify which resources to retain only when the stack is in the DELETE_FAILED state.", st.ID)
	}
	for _, name := range in.RetainResources {
		if r := st.Resources[name]; r == nil || r.Status != types.ResourceStatusDeleteFailed {
			return nil, invalid("The specified resources to retain must be in a DELETE_FAILED state: %s", name)
		}
	}
	st.Owner = c.Caller
	st.Work = &work{Phase: deleting, Steps: stepsFor(st.remaining()), Keep: in.RetainResources, Token: aws.ToString(in.ClientRequestToken)}
	s.become(st, c.World.Now().UTC(), types.StackStatusDeleteInProgress, "User Initiated")
	return out, nil
}

func (s *Service) updateTerminationProtection(c *service.Call, in *cloudformation.UpdateTerminationProtectionInput) (*cloudformation.UpdateTerminationProtectionOutput, error) {
	st, err := s.find(c.Region, in.StackName)
	if err != nil {
		return nil, err
	}
	if in.EnableTerminationProtection == nil {
		return nil, invalid("1 validation error detected: Value at 'enableTerminationProtection' failed to satisfy constraint: Member must not be null")
	}
	st.Protected = *in.EnableTerminationProtection
	return &cloudformation.UpdateTerminationProtectionOutput{StackId: aws.String(st.ID)}, nil
}
