package cfnsim

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

func (s *Service) describeOperations() []service.Operation {
	return []service.Operation{
		service.Read("DescribeStacks", s.describeStacks, "StackName"),
		service.Read("ListStacks", s.listStacks, "StackStatusFilter"),
		service.Read("DescribeStackEvents", s.describeStackEvents, "StackName", "NextToken"),
		service.Read("DescribeStackResource", s.describeStackResource, "StackName", "LogicalResourceId"),
		service.Read("DescribeStackResources", s.describeStackResources, "StackName", "LogicalResourceId", "PhysicalResourceId"),
		service.Read("ListStackResources", s.listStackResources, "StackName"),
		service.Read("ListExports", s.listExports),
	}
}

func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func optionalTime(at time.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	return &at
}

// describeStacks holds a call for one stack until its operation is over: the
// SDK's waiters for stacks do not say that they are ones, and sleep for half a
// minute after every answer that is not final.
func (s *Service) describeStacks(c *service.Call, in *cloudformation.DescribeStacksInput) (*cloudformation.DescribeStacksOutput, error) {
	if in.StackName != nil {
		st, err := s.find(c.Region, in.StackName)
		if err != nil {
			return nil, err
		}
		c.Hold(func() bool { return !st.inProgress() })
		// A stack that was asked for by name is unknown once it is deleted.
		if st, err = s.find(c.Region, in.StackName); err != nil {
			return nil, err
		}
		return &cloudformation.DescribeStacksOutput{Stacks: []types.Stack{st.shown()}}, nil
	}
	out := &cloudformation.DescribeStacksOutput{Stacks: []types.Stack{}}
	for _, st := range s.sorted() {
		if st.Region == c.Region && !st.gone() {
			out.Stacks = append(out.Stacks, st.shown())
		}
	}
	return out, nil
}

func (st *stack) shown() types.Stack {
	out := types.Stack{
		StackName: aws.String(st.Name), StackId: aws.String(st.ID), StackStatus: st.Status, StackStatusReason: optional(st.Reason),
		CreationTime: aws.Time(st.CreatedAt), LastUpdatedTime: optionalTime(st.UpdatedAt), DeletionTime: optionalTime(st.DeletedAt),
		Capabilities: st.Capabilities, DisableRollback: aws.Bool(st.OnFailure == types.OnFailureDoNothing),
		EnableTerminationProtection: aws.Bool(st.Protected), NotificationARNs: []string{}, Tags: []types.Tag{},
		RollbackConfiguration: &types.RollbackConfiguration{}, DriftInformation: &types.StackDriftInformation{StackDriftStatus: types.StackDriftStatusNotChecked},
	}
	t, err := parse(st.Body)
	if err == nil {
		out.Description = optional(t.Description)
	}
	for _, key := range slices.Sorted(maps.Keys(st.Parameters)) {
		value := st.Parameters[key]
		if err == nil && t.Parameters[key].NoEcho {
			value = "****"
		}
		out.Parameters = append(out.Parameters, types.Parameter{ParameterKey: aws.String(key), ParameterValue: aws.String(value)})
	}
	for _, key := range slices.Sorted(maps.Keys(st.Tags)) {
		out.Tags = append(out.Tags, types.Tag{Key: aws.String(key), Value: aws.String(st.Tags[key])})
	}
	for _, key := range slices.Sorted(maps.Keys(st.Outputs)) {
		o := st.Outputs[key]
		out.Outputs = append(out.Outputs, types.Output{
			OutputKey: aws.String(key), OutputValue: aws.String(o.Value), Description: optional(o.Description), ExportName: optional(o.Export),
		})
	}
	return out
}

func (s *Service) listStacks(c *service.Call, in *cloudformation.ListStacksInput) (*cloudformation.ListStacksOutput, error) {
	for _, status := range in.StackStatusFilter {
		if !slices.Contains(status.Values(), status) {
			return nil, invalid("1 validation error detected: Value '[%s]' at 'stackStatusFilter' failed to satisfy constraint: "+
				"Member must satisfy enum value set", status)
		}
	}
	out := &cloudformation.ListStacksOutput{StackSummaries: []types.StackSummary{}}
	for _, st := range s.sorted() {
		if st.Region != c.Region || len(in.StackStatusFilter) > 0 && !slices.Contains(in.StackStatusFilter, st.Status) {
			continue
		}
		full := st.shown()
		out.StackSummaries = append(out.StackSummaries, types.StackSummary{
			StackName: full.StackName, StackId: full.StackId, StackStatus: st.Status, StackStatusReason: full.StackStatusReason,
			CreationTime: full.CreationTime, LastUpdatedTime: full.LastUpdatedTime, DeletionTime: full.DeletionTime, TemplateDescription: full.Description,
			DriftInformation: &types.StackDriftInformationSummary{StackDriftStatus: types.StackDriftStatusNotChecked},
		})
	}
	return out, nil
}

const eventsInPage = 100

// describeStackEvents lists the newest event first. The token is the id of the
// first event of the page.
func (s *Service) describeStackEvents(c *service.Call, in *cloudformation.DescribeStackEventsInput) (*cloudformation.DescribeStackEventsOutput, error) {
	st, err := s.find(c.Region, in.StackName)
	if err != nil {
		return nil, err
	}
	events := slices.Clone(st.Events)
	slices.Reverse(events)
	if in.NextToken != nil {
		at := slices.IndexFunc(events, func(e event) bool { return e.ID == *in.NextToken })
		if at < 0 {
			return nil, invalid("Invalid NextToken")
		}
		events = events[at:]
	}
	out := &cloudformation.DescribeStackEventsOutput{}
	for i, e := range events {
		if i == eventsInPage {
			out.NextToken = aws.String(e.ID)
			break
		}
		out.StackEvents = append(out.StackEvents, types.StackEvent{
			EventId: aws.String(e.ID), StackId: aws.String(st.ID), StackName: aws.String(st.Name), Timestamp: aws.Time(e.At),
			LogicalResourceId: aws.String(e.LogicalID), PhysicalResourceId: aws.String(e.PhysicalID), ResourceType: aws.String(e.Type),
			ResourceStatus: e.Status, ResourceStatusReason: optional(e.Reason), ClientRequestToken: optional(e.Token),
		})
	}
	return out, nil
}

func (st *stack) shownResource(name string) types.StackResource {
	r := st.Resources[name]
	return types.StackResource{
		StackId: aws.String(st.ID), StackName: aws.String(st.Name), LogicalResourceId: aws.String(name), PhysicalResourceId: optional(r.PhysicalID),
		ResourceType: aws.String(r.Type), ResourceStatus: r.Status, ResourceStatusReason: optional(r.Reason), Timestamp: aws.Time(r.ChangedAt),
		DriftInformation: &types.StackResourceDriftInformation{StackResourceDriftStatus: types.StackResourceDriftStatusNotChecked},
	}
}

func (s *Service) describeStackResource(c *service.Call, in *cloudformation.DescribeStackResourceInput) (*cloudformation.DescribeStackResourceOutput, error) {
	st, err := s.find(c.Region, in.StackName)
	if err != nil {
		return nil, err
	}
	name := aws.ToString(in.LogicalResourceId)
	if st.Resources[name] == nil {
		return nil, invalid("Resource %s does not exist for stack %s", name, st.Name)
	}
	r := st.shownResource(name)
	return &cloudformation.DescribeStackResourceOutput{StackResourceDetail: &types.StackResourceDetail{
		StackId: r.StackId, StackName: r.StackName, LogicalResourceId: r.LogicalResourceId, PhysicalResourceId: r.PhysicalResourceId,
		ResourceType: r.ResourceType, ResourceStatus: r.ResourceStatus, ResourceStatusReason: r.ResourceStatusReason,
		LastUpdatedTimestamp: r.Timestamp, DriftInformation: r.DriftInformation, Metadata: aws.String("{}"),
	}}, nil
}

func (s *Service) describeStackResources(c *service.Call, in *cloudformation.DescribeStackResourcesInput) (*cloudformation.DescribeStackResourcesOutput, error) {
	var st *stack
	switch {
	case (in.StackName == nil) == (in.PhysicalResourceId == nil):
		return nil, invalid("You must specify either StackName or PhysicalResourceId, but not both.")
	case in.StackName != nil:
		var err error
		if st, err = s.find(c.Region, in.StackName); err != nil {
			return nil, err
		}
	default:
		for _, one := range s.sorted() {
			for _, r := range one.Resources {
				if one.Region == c.Region && !one.gone() && r.PhysicalID == *in.PhysicalResourceId {
					st = one
				}
			}
		}
		if st == nil {
			return nil, invalid("Stack for %s does not exist", *in.PhysicalResourceId)
		}
	}
	out := &cloudformation.DescribeStackResourcesOutput{StackResources: []types.StackResource{}}
	for _, name := range st.named() {
		if in.LogicalResourceId == nil || *in.LogicalResourceId == name {
			out.StackResources = append(out.StackResources, st.shownResource(name))
		}
	}
	return out, nil
}

func (s *Service) listStackResources(c *service.Call, in *cloudformation.ListStackResourcesInput) (*cloudformation.ListStackResourcesOutput, error) {
	st, err := s.find(c.Region, in.StackName)
	if err != nil {
		return nil, err
	}
	out := &cloudformation.ListStackResourcesOutput{StackResourceSummaries: []types.StackResourceSummary{}}
	for _, name := range st.named() {
		r := st.shownResource(name)
		out.StackResourceSummaries = append(out.StackResourceSummaries, types.StackResourceSummary{
			LogicalResourceId: r.LogicalResourceId, PhysicalResourceId: r.PhysicalResourceId, ResourceType: r.ResourceType,
			ResourceStatus: r.ResourceStatus, ResourceStatusReason: r.ResourceStatusReason, LastUpdatedTimestamp: r.Timestamp,
			DriftInformation: &types.StackResourceDriftInformationSummary{StackResourceDriftStatus: types.StackResourceDriftStatusNotChecked},
		})
	}
	return out, nil
}

func (s *Service) listExports(c *service.Call, _ *cloudformation.ListExportsInput) (*cloudformation.ListExportsOutput, error) {
	out := &cloudformation.ListExportsOutput{Exports: []types.Export{}}
	for _, st := range s.sorted() {
		if st.Region != c.Region || st.gone() {
			continue
		}
		for _, key := range slices.Sorted(maps.Keys(st.Outputs)) {
			if o := st.Outputs[key]; o.Export != "" {
				out.Exports = append(out.Exports, types.Export{ExportingStackId: aws.String(st.ID), Name: aws.String(o.Export), Value: aws.String(o.Value)})
			}
		}
	}
	slices.SortFunc(out.Exports, func(a, b types.Export) int { return strings.Compare(*a.Name, *b.Name) })
	return out, nil
}
