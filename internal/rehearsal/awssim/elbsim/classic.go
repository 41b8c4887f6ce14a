// Package elbsim is Elastic Load Balancing, both generations. Load balancers
// are made by Go calls, the way a cluster's cloud controller makes them for
// Services; the API describes and deletes them. The interfaces of a deleted
// one go a little later, as in AWS. Both services sign as
// elasticloadbalancing; requests are told apart by their API version.
package elbsim

import (
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	classic "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// Classic is the API of version 2012-06-01.
type Classic struct {
	common
	state classicState
}

// NewClassic returns the API of Classic Load Balancers.
func NewClassic(opts ...Option) *Classic {
	s := &Classic{state: classicState{Regions: map[string]map[string]*classicBalancer{}}}
	s.adjust(opts)
	return s
}

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

// page cuts one answer out of the sorted keys: those after the marker, which
// is the last key of the page before.
func page(keys []string, size *int32, marker *string) (part []string, next *string, err error) {
	const most = 400
	length := most
	if size != nil {
		if length = int(*size); length < 1 || length > most {
			return nil, nil, service.Refuse("ValidationError", "PageSize has to be between 1 and %d", most)
		}
	}
	if aws.ToString(marker) != "" {
		at, found := slices.BinarySearch(keys, *marker)
		if !found {
			return nil, nil, service.Refuse("ValidationError", "The marker '%s' is not one that was given out", *marker)
		}
		keys = keys[at+1:]
	}
	if len(keys) <= length {
		return keys, nil, nil
	}
	return keys[:length], aws.String(keys[length-1]), nil
}

// named looks load balancers up by name.
func (s *Classic) named(region string, names []string) ([]*classicBalancer, error) {
	var found []*classicBalancer
	for _, name := range names {
		b := s.state.Regions[region][name]
		if b == nil {
			return nil, unknownName(name)
		}
		found = append(found, b)
	}
	return found, nil
}

func (s *Classic) describeLoadBalancers(c *service.Call, in *classic.DescribeLoadBalancersInput) (*classic.DescribeLoadBalancersOutput, error) {
	names := in.LoadBalancerNames
	if len(names) == 0 {
		names = slices.Sorted(maps.Keys(s.state.Regions[c.Region]))
	}
	part, next, err := page(names, in.PageSize, in.Marker)
	if err != nil {
		return nil, err
	}
	found, err := s.named(c.Region, part)
	if err != nil {
		return nil, err
	}
	out := &classic.DescribeLoadBalancersOutput{NextMarker: next}
	for _, b := range found {
		out.LoadBalancerDescriptions = append(out.LoadBalancerDescriptions, b.show())
	}
	return out, nil
}

func (s *Classic) describeAttributes(c *service.Call, in *classic.DescribeLoadBalancerAttributesInput) (*classic.DescribeLoadBalancerAttributesOutput, error) {
	if in.LoadBalancerName == nil {
		return nil, required("LoadBalancerName")
	}
	if _, err := s.named(c.Region, []string{*in.LoadBalancerName}); err != nil {
		return nil, err
	}
	return &classic.DescribeLoadBalancerAttributesOutput{LoadBalancerAttributes: &types.LoadBalancerAttributes{
		CrossZoneLoadBalancing: &types.CrossZoneLoadBalancing{}, AccessLog: &types.AccessLog{},
		ConnectionDraining: &types.ConnectionDraining{}, ConnectionSettings: &types.ConnectionSettings{IdleTimeout: aws.Int32(60)},
	}}, nil
}

func (s *Classic) describeTags(c *service.Call, in *classic.DescribeTagsInput) (*classic.DescribeTagsOutput, error) {
	if len(in.LoadBalancerNames) == 0 {
		return nil, required("LoadBalancerNames")
	}
	found, err := s.named(c.Region, in.LoadBalancerNames)
	if err != nil {
		return nil, service.Refuse("LoadBalancerNotFound", "There is no ACTIVE Load Balancer named '%s'", strings.Join(in.LoadBalancerNames, ", "))
	}
	out := &classic.DescribeTagsOutput{}
	for _, b := range found {
		tags := []types.Tag{}
		for _, key := range slices.Sorted(maps.Keys(b.Tags)) {
			tags = append(tags, types.Tag{Key: aws.String(key), Value: aws.String(b.Tags[key])})
		}
		out.TagDescriptions = append(out.TagDescriptions, types.TagDescription{LoadBalancerName: aws.String(b.Name), Tags: tags})
	}
	return out, nil
}

// deleteLoadBalancer succeeds for a load balancer that does not exist (Elastic
// Load Balancing API 2012-06-01, DeleteLoadBalancer).
func (s *Classic) deleteLoadBalancer(c *service.Call, in *classic.DeleteLoadBalancerInput) (*classic.DeleteLoadBalancerOutput, error) {
	if in.LoadBalancerName == nil {
		return nil, required("LoadBalancerName")
	}
	if b := s.state.Regions[c.Region][*in.LoadBalancerName]; b != nil {
		delete(s.state.Regions[c.Region], b.Name)
		s.state.Releases = append(s.state.Releases, release{Region: c.Region, Interfaces: b.Interfaces, At: c.World.Now().Add(s.timing.Release)})
	}
	return &classic.DeleteLoadBalancerOutput{}, nil
}
