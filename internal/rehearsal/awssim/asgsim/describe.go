package asgsim

import (
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/ec2sim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

const (
	defaultRecords = 50
	maxRecords     = 100
)

// describeGroups leaves names that do not exist out of the answer ("Amazon EC2
// Auto Scaling API, DescribeAutoScalingGroups").
func (s *Service) describeGroups(c *service.Call, in *autoscaling.DescribeAutoScalingGroupsInput) (*autoscaling.DescribeAutoScalingGroupsOutput, error) {
	groups := s.state.Regions[c.Region]
	// On a group without tags, so that a wrong filter is refused even where
	// there is nothing to filter.
	if _, err := (&group{}).matches(in.Filters); err != nil {
		return nil, err
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		if len(in.AutoScalingGroupNames) > 0 && !slices.Contains(in.AutoScalingGroupNames, name) {
			continue
		}
		matched, err := groups[name].matches(in.Filters)
		if err != nil {
			return nil, err
		}
		if matched {
			names = append(names, name)
		}
	}
	part, next, err := page(names, in.NextToken, in.MaxRecords)
	if err != nil {
		return nil, err
	}
	out := &autoscaling.DescribeAutoScalingGroupsOutput{AutoScalingGroups: []types.AutoScalingGroup{}, NextToken: next}
	for _, name := range part {
		out.AutoScalingGroups = append(out.AutoScalingGroups, groups[name].view())
	}
	return out, nil
}

func (g *group) matches(filters []types.Filter) (bool, error) {
	matched := true
	for _, f := range filters {
		var has func(value string) bool
		name := aws.ToString(f.Name)
		key, isTag := strings.CutPrefix(name, "tag:")
		switch {
		case isTag:
			has = func(v string) bool { t, ok := g.Tags[key]; return ok && t.Value == v }
		case name == "tag-key":
			has = func(v string) bool { _, ok := g.Tags[v]; return ok }
		case name == "tag-value":
			has = func(v string) bool {
				for _, t := range g.Tags {
					if t.Value == v {
						return true
					}
				}
				return false
			}
		default:
			return false, service.Refuse("ValidationError", "Filter type %s is not correct. Allowed Filter types are: tag-key, tag-value, tag:<key>", name)
		}
		matched = matched && slices.ContainsFunc(f.Values, has)
	}
	return matched, nil
}

func (g *group) view() types.AutoScalingGroup {
	var subnets, zones []string
	for _, s := range g.Subnets {
		subnets = append(subnets, s.ID)
		if !slices.Contains(zones, s.Zone) {
			zones = append(zones, s.Zone)
		}
	}
	slices.Sort(zones)
	out := types.AutoScalingGroup{
		AutoScalingGroupName: aws.String(g.Name), AutoScalingGroupARN: aws.String(g.ARN),
		CreatedTime: aws.Time(g.CreatedAt), DefaultCooldown: aws.Int32(300),
		HealthCheckType: aws.String("EC2"), HealthCheckGracePeriod: aws.Int32(15),
		MinSize: aws.Int32(g.Size.Min), MaxSize: aws.Int32(g.Size.Max), DesiredCapacity: aws.Int32(g.Size.Desired),
		AvailabilityZones: zones, VPCZoneIdentifier: aws.String(strings.Join(subnets, ",")),
		Instances: []types.Instance{}, Tags: g.tagViews(),
	}
	for _, i := range g.Instances {
		out.Instances = append(out.Instances, instanceView(i))
	}
	return out
}

func instanceView(i ec2sim.Instance) types.Instance {
	return types.Instance{
		InstanceId: aws.String(i.ID), AvailabilityZone: aws.String(i.Zone), InstanceType: aws.String(i.Type),
		HealthStatus: aws.String("Healthy"), LifecycleState: types.LifecycleStateInService, ProtectedFromScaleIn: aws.Bool(false),
	}
}

// page cuts one answer out of the sorted keys: those after token. The next
// token is the last key given.
func page(keys []string, token *string, records *int32) (part []string, next *string, err error) {
	size := defaultRecords
	if records != nil {
		if *records < 1 || *records > maxRecords {
			return nil, nil, service.Refuse("ValidationError", "1 validation error detected: Value '%d' at 'maxRecords' failed to satisfy constraint: Member must have value between 1 and %d", *records, maxRecords)
		}
		size = int(*records)
	}
	if token != nil {
		keys = keys[sort.Search(len(keys), func(i int) bool { return keys[i] > *token }):]
	}
	if len(keys) <= size {
		return keys, nil, nil
	}
	return keys[:size], aws.String(keys[size-1]), nil
}
