package elbsim_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	classic "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	v2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"

	"github.com/krops-go/krops/internal/rehearsal/awssim/elbsim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

const arn = "arn:aws:elasticloadbalancing:eu-north-1:111122223333:"

// call makes the call that the input is for and returns the code of its
// refusal, empty if it was not refused.
func call(t *testing.T, s service.Service, in any) (any, string) {
	t.Helper()
	return callIn(t, s, in, &service.Call{Context: context.Background(), Region: "eu-north-1"})
}

func callIn(t *testing.T, s service.Service, in any, c *service.Call) (any, string) {
	t.Helper()
	name := strings.TrimSuffix(reflect.TypeOf(in).Elem().Name(), "Input")
	operations := s.Operations()
	at := slices.IndexFunc(operations, func(o service.Operation) bool { return o.Name == name })
	if at < 0 {
		t.Fatalf("%s has no %s", s.Name(), name)
	}
	out, err := operations[at].Invoke(c, in)
	if err == nil {
		return out, ""
	}
	var refusal *service.Error
	if !errors.As(err, &refusal) {
		t.Fatalf("%s: %v", name, err)
	}
	return nil, refusal.Code
}

func TestClassic(t *testing.T) {
	s := elbsim.NewClassic()
	out, code := call(t, s, &classic.DescribeLoadBalancersInput{})
	if code != "" || len(out.(*classic.DescribeLoadBalancersOutput).LoadBalancerDescriptions) != 0 {
		t.Errorf("the list is %v %s, want empty", out, code)
	}
	for _, c := range []struct {
		in   any
		code string
	}{
		{&classic.DescribeLoadBalancersInput{LoadBalancerNames: []string{"a"}}, "LoadBalancerNotFound"},
		{&classic.DescribeLoadBalancersInput{PageSize: aws.Int32(500)}, "ValidationError"},
		{&classic.DescribeLoadBalancersInput{Marker: aws.String("x")}, "ValidationError"},
		{&classic.DescribeLoadBalancerAttributesInput{LoadBalancerName: aws.String("a")}, "LoadBalancerNotFound"},
		{&classic.DescribeTagsInput{LoadBalancerNames: []string{"a"}}, "LoadBalancerNotFound"},
		{&classic.DescribeTagsInput{}, "ValidationError"},
		{&classic.DeleteLoadBalancerInput{LoadBalancerName: aws.String("a")}, ""},
		{&classic.DeleteLoadBalancerInput{}, "ValidationError"},
	} {
		if _, code := call(t, s, c.in); code != c.code {
			t.Errorf("%T %+v: got %q, want %q", c.in, c.in, code, c.code)
		}
	}
}

func TestV2(t *testing.T) {
	s := elbsim.NewV2()
	balancers, code := call(t, s, &v2.DescribeLoadBalancersInput{})
	if code != "" || len(balancers.(*v2.DescribeLoadBalancersOutput).LoadBalancers) != 0 {
		t.Errorf("load balancers are %v %s, want none", balancers, code)
	}
	groups, code := call(t, s, &v2.DescribeTargetGroupsInput{})
	if code != "" || len(groups.(*v2.DescribeTargetGroupsOutput).TargetGroups) != 0 {
		t.Errorf("target groups are %v %s, want none", groups, code)
	}
	balancer, group, listener := arn+"loadbalancer/net/a/1", arn+"targetgroup/a/1", arn+"listener/net/a/1/2"
	for _, c := range []struct {
		in   any
		code string
	}{
		{&v2.DescribeLoadBalancersInput{LoadBalancerArns: []string{balancer}}, "LoadBalancerNotFound"},
		{&v2.DescribeLoadBalancersInput{LoadBalancerArns: []string{group}}, "ValidationError"},
		{&v2.DescribeLoadBalancersInput{Names: []string{"a"}}, "LoadBalancerNotFound"},
		{&v2.DescribeTargetGroupsInput{TargetGroupArns: []string{group}}, "TargetGroupNotFound"},
		{&v2.DescribeTargetGroupsInput{Names: []string{"a"}}, "TargetGroupNotFound"},
		{&v2.DescribeTargetGroupsInput{LoadBalancerArn: aws.String(balancer)}, "LoadBalancerNotFound"},
		{&v2.DescribeListenersInput{LoadBalancerArn: aws.String(balancer)}, "LoadBalancerNotFound"},
		{&v2.DescribeListenersInput{ListenerArns: []string{listener}}, "ListenerNotFound"},
		{&v2.DescribeListenersInput{}, "ValidationError"},
		{&v2.DescribeTagsInput{ResourceArns: []string{group}}, "TargetGroupNotFound"},
		{&v2.DescribeTagsInput{ResourceArns: []string{"a"}}, "ValidationError"},
		{&v2.DeleteLoadBalancerInput{LoadBalancerArn: aws.String(balancer)}, ""},
		{&v2.DeleteLoadBalancerInput{LoadBalancerArn: aws.String("a")}, "ValidationError"},
		{&v2.DeleteTargetGroupInput{TargetGroupArn: aws.String(group)}, ""},
		{&v2.DeleteTargetGroupInput{TargetGroupArn: aws.String(balancer)}, "ValidationError"},
		{&v2.DeleteListenerInput{ListenerArn: aws.String(listener)}, "ListenerNotFound"},
	} {
		if _, code := call(t, s, c.in); code != c.code {
			t.Errorf("%T %+v: got %q, want %q", c.in, c.in, code, c.code)
		}
	}
}

// The two are registered side by side and must be told apart.
func TestNames(t *testing.T) {
	for name, s := range map[string]service.Service{"elasticloadbalancing": elbsim.NewClassic(), "elasticloadbalancingv2": elbsim.NewV2()} {
		if s.Name() != name {
			t.Errorf("%T is %s, want %s", s, s.Name(), name)
		}
	}
}
