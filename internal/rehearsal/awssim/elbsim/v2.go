package elbsim

import (
	"regexp"
	"strings"

	v2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// V2 is the API of version 2015-12-01.
type V2 struct{ none }

// NewV2 returns the API of Application, Network and Gateway Load Balancers.
func NewV2() *V2 { return &V2{} }

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

// unknown is the refusal of ARNs, which all name nothing.
func (k kind) unknown(arns ...string) error {
	for _, arn := range arns {
		if err := k.check(arn); err != nil {
			return err
		}
	}
	return k.absent()
}

func (k kind) absent() error { return service.Refuse(k.notFound, "%s", k.message) }

func (s *V2) describeLoadBalancers(_ *service.Call, in *v2.DescribeLoadBalancersInput) (*v2.DescribeLoadBalancersOutput, error) {
	if err := pageSize(in.PageSize, in.Marker); err != nil {
		return nil, err
	}
	if len(in.LoadBalancerArns) > 0 {
		return nil, loadBalancer.unknown(in.LoadBalancerArns...)
	}
	if len(in.Names) > 0 {
		return nil, service.Refuse(loadBalancer.notFound, "Load balancers '[%s]' not found", strings.Join(in.Names, ", "))
	}
	return &v2.DescribeLoadBalancersOutput{}, nil
}

func (s *V2) describeTargetGroups(_ *service.Call, in *v2.DescribeTargetGroupsInput) (*v2.DescribeTargetGroupsOutput, error) {
	if err := pageSize(in.PageSize, in.Marker); err != nil {
		return nil, err
	}
	switch {
	case in.LoadBalancerArn != nil:
		return nil, loadBalancer.unknown(*in.LoadBalancerArn)
	case len(in.TargetGroupArns) > 0:
		return nil, targetGroup.unknown(in.TargetGroupArns...)
	case len(in.Names) > 0:
		return nil, targetGroup.absent()
	}
	return &v2.DescribeTargetGroupsOutput{}, nil
}

// describeListeners needs to know which (Elastic Load Balancing API
// 2015-12-01, DescribeListeners).
func (s *V2) describeListeners(_ *service.Call, in *v2.DescribeListenersInput) (*v2.DescribeListenersOutput, error) {
	if err := pageSize(in.PageSize, in.Marker); err != nil {
		return nil, err
	}
	switch {
	case in.LoadBalancerArn != nil:
		return nil, loadBalancer.unknown(*in.LoadBalancerArn)
	case len(in.ListenerArns) > 0:
		return nil, listener.unknown(in.ListenerArns...)
	}
	return nil, service.Refuse("ValidationError", "You must specify either listener ARNs or a load balancer ARN")
}

func (s *V2) describeTags(_ *service.Call, in *v2.DescribeTagsInput) (*v2.DescribeTagsOutput, error) {
	if len(in.ResourceArns) == 0 {
		return nil, required("ResourceArns")
	}
	for _, k := range []kind{loadBalancer, targetGroup, listener, rule} {
		if k.arn.MatchString(in.ResourceArns[0]) {
			return nil, k.absent()
		}
	}
	return nil, service.Refuse("ValidationError", "'%s' is not a valid ARN", in.ResourceArns[0])
}

// deleteLoadBalancer succeeds for a load balancer that does not exist (Elastic
// Load Balancing API 2015-12-01, DeleteLoadBalancer).
func (s *V2) deleteLoadBalancer(_ *service.Call, in *v2.DeleteLoadBalancerInput) (*v2.DeleteLoadBalancerOutput, error) {
	if in.LoadBalancerArn == nil {
		return nil, required("LoadBalancerArn")
	}
	if err := loadBalancer.check(*in.LoadBalancerArn); err != nil {
		return nil, err
	}
	return &v2.DeleteLoadBalancerOutput{}, nil
}

// deleteTargetGroup succeeds likewise: ResourceInUse is the only error that
// the API documents for it.
func (s *V2) deleteTargetGroup(_ *service.Call, in *v2.DeleteTargetGroupInput) (*v2.DeleteTargetGroupOutput, error) {
	if in.TargetGroupArn == nil {
		return nil, required("TargetGroupArn")
	}
	if err := targetGroup.check(*in.TargetGroupArn); err != nil {
		return nil, err
	}
	return &v2.DeleteTargetGroupOutput{}, nil
}

func (s *V2) deleteListener(_ *service.Call, in *v2.DeleteListenerInput) (*v2.DeleteListenerOutput, error) {
	if in.ListenerArn == nil {
		return nil, required("ListenerArn")
	}
	return nil, listener.unknown(*in.ListenerArn)
}
