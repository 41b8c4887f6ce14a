// Package asgsim is EC2 Auto Scaling, as far as groups that another service
// owns can be looked at and tagged. The groups are made, resized and removed
// by that service through the methods in groups.go; the account's owner has no
// API for it, and a group does not act by itself: the owner decides when
// instances come and go.
package asgsim

import (
	"maps"
	"slices"
	"time"

	"github.com/krops-go/krops/internal/rehearsal/awssim/ec2sim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// Network runs the instances of groups; EC2 does.
type Network interface {
	// LaunchOwned runs an instance with its interface in subnet. The error is
	// a *service.Error.
	LaunchOwned(region, subnet, instanceType string, groups []string, tags map[string]string) (ec2sim.Instance, error)
	// TerminateOwned ends the instance; an absent one is success.
	TerminateOwned(region, id string) error
}

// Service is EC2 Auto Scaling for one account.
type Service struct {
	network Network
	state   state
}

var _ service.Service = (*Service)(nil)

type state struct {
	Regions map[string]map[string]*group // by region, then by group name
}

// New returns an Auto Scaling without groups whose instances network runs.
func New(network Network) *Service {
	return &Service{network: network, state: state{Regions: map[string]map[string]*group{}}}
}

// Name is "autoscaling".
func (s *Service) Name() string { return "autoscaling" }

// State is the groups.
func (s *Service) State() any { return &s.state }

// Reaches implements service.Contained: instances are EC2's.
func (s *Service) Reaches() []string { return []string{"ec2"} }

// Settle does nothing: groups change when their owner changes them.
func (s *Service) Settle(time.Time) time.Time { return time.Time{} }

// Operations lists what is modelled.
func (s *Service) Operations() []service.Operation {
	return []service.Operation{
		service.Read("DescribeAutoScalingGroups", s.describeGroups, "AutoScalingGroupNames", "Filters", "MaxRecords", "NextToken"),
		service.Read("DescribeTags", s.describeTags, "Filters", "MaxRecords", "NextToken"),
		service.Write("CreateOrUpdateTags", s.createOrUpdateTags, "Tags"),
		service.Write("DeleteTags", s.deleteTags, "Tags"),
	}
}

// Objects lists the groups.
func (s *Service) Objects() []service.Object {
	var out []service.Object
	for _, region := range slices.Sorted(maps.Keys(s.state.Regions)) {
		for _, name := range slices.Sorted(maps.Keys(s.state.Regions[region])) {
			out = append(out, service.Object{Kind: "autoscaling-group", Region: region, ID: name, Name: name})
		}
	}
	return out
}
