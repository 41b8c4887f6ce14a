package awssim

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/policy"
	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// registerSimulation offers the IAM operations that ask what policies allow:
// the front is who decides that. They come with IAM.
func (s *Server) registerSimulation() error {
	for _, m := range s.members {
		if _, isIAM := m.Service.(service.Directory); !isIAM {
			continue
		}
		for _, op := range []service.Operation{
			service.Read("SimulatePrincipalPolicy", s.simulatePrincipalPolicy, "PolicySourceArn", "ActionNames", "ResourceArns",
				"CallerArn", "ContextEntries", "PolicyInputList", "PermissionsBoundaryPolicyInputList", "MaxItems", "Marker"),
			service.Read("SimulateCustomPolicy", s.simulateCustomPolicy, "ActionNames", "ResourceArns", "CallerArn", "ContextEntries",
				"PolicyInputList", "PermissionsBoundaryPolicyInputList", "MaxItems", "Marker"),
		} {
			if err := s.register(m, op); err != nil {
				return err
			}
		}
	}
	return nil
}

// simulation is what both operations work on.
type simulation struct {
	permissions policy.Permissions
	actions     []string
	resources   []string
	context     []types.ContextEntry
	subject     string // ARN of the principal, if there is one
}

func (s *Server) simulatePrincipalPolicy(_ *service.Call, in *iam.SimulatePrincipalPolicyInput) (*iam.SimulatePrincipalPolicyOutput, error) {
	arn := aws.ToString(in.PolicySourceArn)
	sim := simulation{actions: in.ActionNames, resources: in.ResourceArns, context: in.ContextEntries, subject: arn}
	if given, ok := s.givenTo[arn]; ok {
		sim.permissions = *given
	} else {
		identity, ok := s.directory.LookupIdentity(arn)
		switch {
		case ok:
			sim.permissions = *s.permissionsOf(identity)
		case !strings.Contains(arn, ":user/") && !strings.Contains(arn, ":role/") && !strings.Contains(arn, ":group/"):
			return nil, service.Refuse("InvalidInput", "Invalid Entity Arn: %s does not clearly define entity type and name.", arn)
		default:
			return nil, service.RefuseStatus(404, "NoSuchEntity", "Entity %s does not exist.", arn)
		}
	}
	if in.CallerArn != nil {
		sim.subject = *in.CallerArn
	}
	if err := sim.add(in.PolicyInputList, in.PermissionsBoundaryPolicyInputList); err != nil {
		return nil, err
	}
	results, err := sim.run(s.clock.Now())
	if err != nil {
		return nil, err
	}
	part, truncated, next, err := resultPage(results, in.Marker, in.MaxItems)
	if err != nil {
		return nil, err
	}
	return &iam.SimulatePrincipalPolicyOutput{EvaluationResults: part, IsTruncated: truncated, Marker: next}, nil
}

func (s *Server) simulateCustomPolicy(_ *service.Call, in *iam.SimulateCustomPolicyInput) (*iam.SimulateCustomPolicyOutput, error) {
	if len(in.PolicyInputList) == 0 {
		return nil, service.Refuse("InvalidInput", "PolicyInputList must not be empty")
	}
	sim := simulation{actions: in.ActionNames, resources: in.ResourceArns, context: in.ContextEntries, subject: aws.ToString(in.CallerArn)}
	if err := sim.add(in.PolicyInputList, in.PermissionsBoundaryPolicyInputList); err != nil {
		return nil, err
	}
	results, err := sim.run(s.clock.Now())
	if err != nil {
		return nil, err
	}
	part, truncated, next, err := resultPage(results, in.Marker, in.MaxItems)
	if err != nil {
		return nil, err
	}
	return &iam.SimulateCustomPolicyOutput{EvaluationResults: part, IsTruncated: truncated, Marker: next}, nil
}

// add takes documents of the request into account.
func (sim *simulation) add(inputs, boundaries []string) error {
	sim.permissions.Identity = slices.Clone(sim.permissions.Identity)
	for _, text := range inputs {
		doc, err := policy.Parse(text, policy.Identity)
		if err != nil {
			return service.Refuse("InvalidInput", "Syntax errors in policy: %v", err)
		}
		sim.permissions.Identity = append(sim.permissions.Identity, doc)
	}
	if len(boundaries) > 1 {
		return service.Refuse("InvalidInput", "Only one permissions boundary can be given")
	}
	for _, text := range boundaries {
		doc, err := policy.Parse(text, policy.Identity)
		if err != nil {
			return service.Refuse("InvalidInput", "Syntax errors in policy: %v", err)
		}
		sim.permissions.Boundary = doc
	}
	return nil
}

func (sim *simulation) run(now time.Time) ([]types.EvaluationResult, error) {
	if len(sim.actions) == 0 {
		return nil, service.Refuse("InvalidInput", "ActionNames must not be empty")
	}
	resources := sim.resources
	if len(resources) == 0 {
		resources = []string{"*"}
	}
	var results []types.EvaluationResult
	for _, action := range sim.actions {
		if prefix, name, ok := strings.Cut(action, ":"); !ok || prefix == "" || name == "" || strings.ContainsAny(action, "*?") {
			return nil, service.Refuse("InvalidInput", "Invalid Action: %s", action)
		}
		for _, resource := range resources {
			results = append(results, sim.evaluate(action, resource, now))
		}
	}
	return results, nil
}

func (sim *simulation) evaluate(action, resource string, now time.Time) types.EvaluationResult {
	request := policy.Request{Action: action, Resource: resource, Keys: sim.keys(now)}
	d := sim.permissions.Decide(request)
	result := types.EvaluationResult{
		EvalActionName: aws.String(action), EvalResourceName: aws.String(resource), EvalDecision: types.PolicyEvaluationDecisionTypeAllowed,
		MatchedStatements: []types.Statement{}, MissingContextValues: []string{},
	}
	switch {
	case d.Allowed:
	case d.Explicit:
		result.EvalDecision = types.PolicyEvaluationDecisionTypeExplicitDeny
	default:
		result.EvalDecision = types.PolicyEvaluationDecisionTypeImplicitDeny
	}
	for i, doc := range sim.permissions.Identity {
		if effect, id := doc.Decider(request); effect != policy.Silent {
			result.MatchedStatements = append(result.MatchedStatements, types.Statement{
				SourcePolicyId: aws.String("PolicyInputList." + strconv.Itoa(i+1) + "/" + id), SourcePolicyType: types.PolicySourceTypeNone,
			})
		}
		for _, key := range doc.ConditionKeys() {
			if request.Keys(strings.ToLower(key)) == nil && !slices.Contains(result.MissingContextValues, key) {
				result.MissingContextValues = append(result.MissingContextValues, key)
			}
		}
	}
	if b := sim.permissions.Boundary; b != nil {
		result.PermissionsBoundaryDecisionDetail = &types.PermissionsBoundaryDecisionDetail{
			AllowedByPermissionsBoundary: b.Evaluate(request) == policy.Allow,
		}
	}
	return result
}

// keys are those of the request; of the global ones only those that need no
// request to be known.
func (sim *simulation) keys(now time.Time) policy.Keys {
	return func(name string) []string {
		for _, entry := range sim.context {
			if strings.EqualFold(aws.ToString(entry.ContextKeyName), name) {
				return entry.ContextKeyValues
			}
		}
		switch name {
		case "aws:currenttime":
			return []string{now.UTC().Format(time.RFC3339)}
		case "aws:principalarn":
			if sim.subject != "" {
				return []string{sim.subject}
			}
		case "aws:username":
			if _, user, ok := strings.Cut(sim.subject, ":user/"); ok {
				return []string{user[strings.LastIndex(user, "/")+1:]}
			}
		}
		return nil
	}
}

// resultPage cuts a page out of the results; its marker is the number of the
// first result of the next one.
func resultPage(results []types.EvaluationResult, marker *string, most *int32) (part []types.EvaluationResult, truncated bool, next *string, err error) {
	from := 0
	if marker != nil {
		if from, err = strconv.Atoi(*marker); err != nil || from < 0 || from > len(results) {
			return nil, false, nil, service.Refuse("ValidationError", "Invalid Marker.")
		}
	}
	size := 100
	if most != nil {
		if size = int(*most); size < 1 || size > 1000 {
			return nil, false, nil, service.Refuse("ValidationError", "MaxItems must be between 1 and 1000")
		}
	}
	to := min(from+size, len(results))
	if to < len(results) {
		truncated, next = true, aws.String(strconv.Itoa(to))
	}
	return results[from:to], truncated, next, nil
}
