// Package elbsim is Elastic Load Balancing, both generations. Nothing in the
// simulated account makes load balancers yet, so there are none: lists are
// empty and names are unknown, in the words of AWS. Both services sign as
// elasticloadbalancing; requests are told apart by their API version.
package elbsim

import (
	"strings"
	"time"

	classic "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// none is what both services share: no state and nothing under way.
type none struct{}

// Settle implements service.Service.
func (none) Settle(time.Time) time.Time { return time.Time{} }

// State implements service.Service.
func (none) State() any { return &struct{}{} }

// Objects implements service.Service.
func (none) Objects() []service.Object { return nil }

// Classic is the API of version 2012-06-01.
type Classic struct{ none }

// NewClassic returns the API of Classic Load Balancers.
func NewClassic() *Classic { return &Classic{} }

// Name implements service.Service.
func (s *Classic) Name() string { return "elasticloadbalancing" }

// Operations implements service.Service.
func (s *Classic) Operations() []service.Operation {
	return []service.Operation{
		service.Read("DescribeLoadBalancers", s.describeLoadBalancers, "LoadBalancerNames", "Marker", "PageSize"),
		service.Read("DescribeLoadBalancerAttributes", s.describeAttributes, "LoadBalancerName"),
		service.Read("DescribeTags", s.describeTags, "LoadBalancerNames"),
		service.Write("DeleteLoadBalancer", s.deleteLoadBalancer, "LoadBalancerName"),
	}
}

func unknownName(name string) error {
	return service.Refuse("LoadBalancerNotFound", "There is no ACTIVE Load Balancer named '%s'", name)
}

func required(member string) error {
	return service.Refuse("ValidationError", "The request must contain the parameter %s", member)
}

// pageSize checks how many results a page is to have. No list has more pages
// than the first, so a marker is never one that was given out.
func pageSize(size *int32, marker *string) error {
	const most = 400
	if size != nil && (*size < 1 || *size > most) {
		return service.Refuse("ValidationError", "PageSize has to be between 1 and %d", most)
	}
	if marker != nil && *marker != "" {
		return service.Refuse("ValidationError", "The marker '%s' is not one that was given out", *marker)
	}
	return nil
}

func (s *Classic) describeLoadBalancers(_ *service.Call, in *classic.DescribeLoadBalancersInput) (*classic.DescribeLoadBalancersOutput, error) {
	if err := pageSize(in.PageSize, in.Marker); err != nil {
		return nil, err
	}
	if len(in.LoadBalancerNames) > 0 {
		return nil, unknownName(strings.Join(in.LoadBalancerNames, ", "))
	}
	return &classic.DescribeLoadBalancersOutput{}, nil
}

func (s *Classic) describeAttributes(_ *service.Call, in *classic.DescribeLoadBalancerAttributesInput) (*classic.DescribeLoadBalancerAttributesOutput, error) {
	if in.LoadBalancerName == nil {
		return nil, required("LoadBalancerName")
	}
	return nil, unknownName(*in.LoadBalancerName)
}

func (s *Classic) describeTags(_ *service.Call, in *classic.DescribeTagsInput) (*classic.DescribeTagsOutput, error) {
	if len(in.LoadBalancerNames) == 0 {
		return nil, required("LoadBalancerNames")
	}
	return nil, unknownName(strings.Join(in.LoadBalancerNames, ", "))
}

// deleteLoadBalancer succeeds for a load balancer that does not exist (Elastic
// Load Balancing API 2012-06-01, DeleteLoadBalancer).
func (s *Classic) deleteLoadBalancer(_ *service.Call, in *classic.DeleteLoadBalancerInput) (*classic.DeleteLoadBalancerOutput, error) {
	if in.LoadBalancerName == nil {
		return nil, required("LoadBalancerName")
	}
	return &classic.DeleteLoadBalancerOutput{}, nil
}
