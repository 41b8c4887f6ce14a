package elbsim

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	v2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// V2 is the API of version 2015-12-01.
type V2 struct {
	common
	state v2State
}

// NewV2 returns the API of Application, Network and Gateway Load Balancers, of
// which only Network Load Balancers can be made.
func NewV2(opts ...Option) *V2 {
	s := &V2{state: v2State{Regions: map[string]*v2Region{}}}
	s.adjust(opts)
	return s
}

// Name implements service.Service. AWS signs both APIs with the name of the
// classic one; this one is told apart by its version.
func (s *V2) Name() string { return "elasticloadbalancingv2" }

// Operations implements service.Service.
func (s *V2) Operations() []service.Operation {
	return []service.Operation{
		service.Read("DescribeLoadBalancers", s.describeLoadBalancers, "LoadBalancerArns", "Names", "Marker", "PageSize"),
		service.Read("DescribeTargetGroups", s.describeTargetGroups, "LoadBalancerArn", "TargetGroupArns", "Names", "Marker", "PageSize"),
		service.Read("DescribeListeners", s.describeListeners, "LoadBalancerArn", "ListenerArns", "Marker", "PageSize"),
		service.Read("DescribeTags", s.describeTags, "ResourceArns"),
		service.Write("DeleteLoadBalancer", s.deleteLoadBalancer, "LoadBalancerArn"),
		service.Write("DeleteTargetGroup", s.deleteTargetGroup, "TargetGroupArn"),
		service.Write("DeleteListener", s.deleteListener, "ListenerArn"),
	}
}

// kind is a kind of resource and how its ARNs are refused.
type kind struct {
	name     string // in messages
	arn      *regexp.Regexp
	notFound string
	message  string
}

var (
	loadBalancer = kind{
		"load balancer", arnOf("loadbalancer"), "LoadBalancerNotFound", "One or more load balancers not found",
	}
	targetGroup = kind{
		"target group", arnOf("targetgroup"), "TargetGroupNotFound", "One or more target groups not found",
	}
	listener = kind{"listener", arnOf("listener"), "ListenerNotFound", "One or more listeners not found"}
	rule     = kind{"listener rule", arnOf("listener-rule"), "RuleNotFound", "One or more listener rules not found"}
)

func arnOf(typ string) *regexp.Regexp {
	return regexp.MustCompile(`^arn:aws:elasticloadbalancing:[a-z0-9-]+:\d{12}:` + typ + `/.+`)
}

// check refuses text that is no ARN of the kind.
func (k kind) check(arn string) error {
	if !k.arn.MatchString(arn) {
		return service.Refuse("ValidationError", "'%s' is not a valid %s ARN", arn, k.name)
	}
	return nil
}

func (k kind) absent() error { return service.Refuse(k.notFound, "%s", k.message) }

// pick looks resources up by ARN.
func pick[T any](k kind, table map[string]T, arns []string) ([]T, error) {
	var found []T
	for _, arn := range arns {
		if err := k.check(arn); err != nil {
			return nil, err
		}
		one, ok := table[arn]
		if !ok {
			return nil, k.absent()
		}
		found = append(found, one)
	}
	return found, nil
}

func (s *V2) describeLoadBalancers(c *service.Call, in *v2.DescribeLoadBalancersInput) (*v2.DescribeLoadBalancersOutput, error) {
	r := s.region(c.Region)
	arns := in.LoadBalancerArns
	if len(in.Names) > 0 {
		for _, b := range r.Balancers {
			if slices.Contains(in.Names, b.Name) {
				arns = append(arns, b.ARN)
			}
		}
		if len(arns) < len(in.Names) {
			return nil, service.Refuse(loadBalancer.notFound, "Load balancers '[%s]' not found", strings.Join(in.Names, ", "))
		}
	}
	if len(arns) == 0 {
		arns = slices.Collect(maps.Keys(r.Balancers))
	}
	part, next, err := page(slices.Sorted(slices.Values(arns)), in.PageSize, in.Marker)
	if err != nil {
		return nil, err
	}
	found, err := pick(loadBalancer, r.Balancers, part)
	if err != nil {
		return nil, err
	}
	out := &v2.DescribeLoadBalancersOutput{LoadBalancers: []types.LoadBalancer{}, NextMarker: next}
	for _, b := range found {
		scheme, state := types.LoadBalancerSchemeEnumInternetFacing, types.LoadBalancerStateEnumActive
		if b.Internal {
			scheme = types.LoadBalancerSchemeEnumInternal
		}
		if c.World.Now().Before(b.ReadyAt) {
			state = types.LoadBalancerStateEnumProvisioning
		}
		shown := types.LoadBalancer{
			LoadBalancerArn: aws.String(b.ARN), LoadBalancerName: aws.String(b.Name), DNSName: aws.String(b.DNSName), VpcId: aws.String(b.VPC),
			Type: types.LoadBalancerTypeEnumNetwork, Scheme: scheme, State: &types.LoadBalancerState{Code: state},
			CreatedTime: aws.Time(b.CreatedAt), IpAddressType: types.IpAddressTypeIpv4, SecurityGroups: b.Groups,
		}
		for n, subnet := range b.Subnets {
			shown.AvailabilityZones = append(shown.AvailabilityZones, types.AvailabilityZone{
				SubnetId: aws.String(subnet), ZoneName: aws.String(b.Zones[n]), LoadBalancerAddresses: []types.LoadBalancerAddress{},
			})
		}
		out.LoadBalancers = append(out.LoadBalancers, shown)
	}
	return out, nil
}

func (s *V2) describeTargetGroups(c *service.Call, in *v2.DescribeTargetGroupsInput) (*v2.DescribeTargetGroupsOutput, error) {
	r := s.region(c.Region)
	arns := slices.Collect(maps.Keys(r.Groups))
	switch {
	case in.LoadBalancerArn != nil:
		if _, err := pick(loadBalancer, r.Balancers, []string{*in.LoadBalancerArn}); err != nil {
			return nil, err
		}
		arns = slices.DeleteFunc(arns, func(arn string) bool { return !slices.Contains(r.balancersOf(arn), *in.LoadBalancerArn) })
	case len(in.TargetGroupArns) > 0:
		arns = in.TargetGroupArns
	case len(in.Names) > 0:
		arns = slices.DeleteFunc(arns, func(arn string) bool { return !slices.Contains(in.Names, r.Groups[arn].Name) })
		if len(arns) < len(in.Names) {
			return nil, targetGroup.absent()
		}
	}
	part, next, err := page(slices.Sorted(slices.Values(arns)), in.PageSize, in.Marker)
	if err != nil {
		return nil, err
	}
	found, err := pick(targetGroup, r.Groups, part)
	if err != nil {
		return nil, err
	}
	out := &v2.DescribeTargetGroupsOutput{TargetGroups: []types.TargetGroup{}, NextMarker: next}
	for _, g := range found {
		out.TargetGroups = append(out.TargetGroups, types.TargetGroup{
			TargetGroupArn: aws.String(g.ARN), TargetGroupName: aws.String(g.Name), VpcId: aws.String(g.VPC), Port: aws.Int32(g.Port),
			Protocol: types.ProtocolEnumTcp, TargetType: types.TargetTypeEnumInstance, LoadBalancerArns: r.balancersOf(g.ARN),
		})
	}
	return out, nil
}

// balancersOf are the load balancers whose listeners forward to the group.
func (r *v2Region) balancersOf(group string) []string {
	arns := []string{}
	for _, l := range r.Listeners {
		if l.Group == group && !slices.Contains(arns, l.Balancer) {
			arns = append(arns, l.Balancer)
		}
	}
	slices.Sort(arns)
	return arns
}

// describeListeners needs to know which (Elastic Load Balancing API
// 2015-12-01, DescribeListeners).
func (s *V2) describeListeners(c *service.Call, in *v2.DescribeListenersInput) (*v2.DescribeListenersOutput, error) {
	r := s.region(c.Region)
	arns := in.ListenerArns
	switch {
	case in.LoadBalancerArn != nil:
		if _, err := pick(loadBalancer, r.Balancers, []string{*in.LoadBalancerArn}); err != nil {
			return nil, err
		}
		arns = slices.DeleteFunc(slices.Collect(maps.Keys(r.Listeners)), func(arn string) bool { return r.Listeners[arn].Balancer != *in.LoadBalancerArn })
	case len(arns) == 0:
		return nil, service.Refuse("ValidationError", "You must specify either listener ARNs or a load balancer ARN")
	}
	part, next, err := page(slices.Sorted(slices.Values(arns)), in.PageSize, in.Marker)
	if err != nil {
		return nil, err
	}
	found, err := pick(listener, r.Listeners, part)
	if err != nil {
		return nil, err
	}
	out := &v2.DescribeListenersOutput{Listeners: []types.Listener{}, NextMarker: next}
	for _, l := range found {
		out.Listeners = append(out.Listeners, types.Listener{
			ListenerArn: aws.String(l.ARN), LoadBalancerArn: aws.String(l.Balancer), Port: aws.Int32(l.Port), Protocol: types.ProtocolEnumTcp,
			DefaultActions: []types.Action{{Type: types.ActionTypeEnumForward, TargetGroupArn: aws.String(l.Group)}},
		})
	}
	return out, nil
}

func (s *V2) describeTags(c *service.Call, in *v2.DescribeTagsInput) (*v2.DescribeTagsOutput, error) {
	if len(in.ResourceArns) == 0 {
		return nil, required("ResourceArns")
	}
	r := s.region(c.Region)
	out := &v2.DescribeTagsOutput{}
	for _, arn := range in.ResourceArns {
		tags, ok := r.tags(arn)
		if !ok {
			for _, k := range []kind{loadBalancer, targetGroup, listener, rule} {
				if k.arn.MatchString(arn) {
					return nil, k.absent()
				}
			}
			return nil, service.Refuse("ValidationError", "'%s' is not a valid ARN", arn)
		}
		shown := types.TagDescription{ResourceArn: aws.String(arn), Tags: []types.Tag{}}
		for _, key := range slices.Sorted(maps.Keys(tags)) {
			shown.Tags = append(shown.Tags, types.Tag{Key: aws.String(key), Value: aws.String(tags[key])})
		}
		out.TagDescriptions = append(out.TagDescriptions, shown)
	}
	return out, nil
}

// deleteLoadBalancer takes the listeners along and leaves the target groups.
// It succeeds for a load balancer that does not exist (Elastic Load Balancing
// API 2015-12-01, DeleteLoadBalancer).
func (s *V2) deleteLoadBalancer(c *service.Call, in *v2.DeleteLoadBalancerInput) (*v2.DeleteLoadBalancerOutput, error) {
	if in.LoadBalancerArn == nil {
		return nil, required("LoadBalancerArn")
	}
	if err := loadBalancer.check(*in.LoadBalancerArn); err != nil {
		return nil, err
	}
	r := s.region(c.Region)
	if b := r.Balancers[*in.LoadBalancerArn]; b != nil {
		delete(r.Balancers, b.ARN)
		maps.DeleteFunc(r.Listeners, func(_ string, l *v2Listener) bool { return l.Balancer == b.ARN })
		s.state.Releases = append(s.state.Releases, release{Region: c.Region, Interfaces: b.Interfaces, At: c.World.Now().Add(s.timing.Release)})
	}
	return &v2.DeleteLoadBalancerOutput{}, nil
}

// deleteTargetGroup succeeds likewise: ResourceInUse is the only error that
// the API documents for it.
func (s *V2) deleteTargetGroup(c *service.Call, in *v2.DeleteTargetGroupInput) (*v2.DeleteTargetGroupOutput, error) {
	if in.TargetGroupArn == nil {
		return nil, required("TargetGroupArn")
	}
	if err := targetGroup.check(*in.TargetGroupArn); err != nil {
		return nil, err
	}
	r := s.region(c.Region)
	if len(r.balancersOf(*in.TargetGroupArn)) > 0 {
		return nil, service.Refuse("ResourceInUse", "Target group '%s' is currently in use by a listener or a rule", *in.TargetGroupArn)
	}
	delete(r.Groups, *in.TargetGroupArn)
	return &v2.DeleteTargetGroupOutput{}, nil
}

func (s *V2) deleteListener(c *service.Call, in *v2.DeleteListenerInput) (*v2.DeleteListenerOutput, error) {
	if in.ListenerArn == nil {
		return nil, required("ListenerArn")
	}
	r := s.region(c.Region)
	if _, err := pick(listener, r.Listeners, []string{*in.ListenerArn}); err != nil {
		return nil, err
	}
	delete(r.Listeners, *in.ListenerArn)
	return &v2.DeleteListenerOutput{}, nil
}
