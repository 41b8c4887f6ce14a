package asgsim

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/krops-go/krops/internal/rehearsal/awssim/ec2sim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// What the service that owns a group does with it. The account's lock is held,
// as in a handler.

// Size is how many instances a group may and should have.
type Size struct{ Min, Max, Desired int32 }

// Spec is a group to make.
type Spec struct {
	Region, Account, Name string
	Size                  Size
	Subnets               []ec2sim.Subnet // in the order in which they are filled
	InstanceType          string
	SecurityGroups        []string
	// Tags are the group's, and are given to its instances as well.
	Tags map[string]string
}

type group struct {
	Name, ARN      string
	Size           Size
	Subnets        []ec2sim.Subnet
	InstanceType   string
	SecurityGroups []string
	CreatedAt      time.Time
	Tags           map[string]tag    // by key
	Instances      []ec2sim.Instance // in the order of their launch
}

type tag struct {
	Value     string
	Propagate bool
}

// Create makes a group without instances.
func (s *Service) Create(w service.World, spec Spec) error {
	if s.state.Regions[spec.Region][spec.Name] != nil {
		return service.Refuse("AlreadyExists", "AutoScalingGroup by this name already exists - A group with the name %s already exists", spec.Name)
	}
	g := &group{
		Name: spec.Name, Size: spec.Size, Subnets: slices.Clone(spec.Subnets), InstanceType: spec.InstanceType,
		ARN: fmt.Sprintf("arn:aws:autoscaling:%s:%s:autoScalingGroup:%s:autoScalingGroupName/%s",
			spec.Region, spec.Account, w.NewID("", 32), spec.Name),
		SecurityGroups: slices.Clone(spec.SecurityGroups), CreatedAt: w.Now().UTC(), Tags: map[string]tag{},
	}
	for k, v := range spec.Tags {
		g.Tags[k] = tag{Value: v, Propagate: true}
	}
	if s.state.Regions[spec.Region] == nil {
		s.state.Regions[spec.Region] = map[string]*group{}
	}
	s.state.Regions[spec.Region][spec.Name] = g
	return nil
}

// SetSize records the group's size; the instances stay as they are.
func (s *Service) SetSize(region, name string, size Size) error {
	g, err := s.lookup(region, name)
	if err != nil {
		return err
	}
	g.Size = size
	return nil
}

// SetLaunch changes what new instances are made from; an empty type leaves it
// as it was.
func (s *Service) SetLaunch(region, name, instanceType string, securityGroups []string) error {
	g, err := s.lookup(region, name)
	if err != nil {
		return err
	}
	if instanceType != "" {
		g.InstanceType = instanceType
	}
	g.SecurityGroups = slices.Clone(securityGroups)
	return nil
}

// Launch adds n instances, each in the zone that has the fewest. What was
// launched before a failure stays in the group.
func (s *Service) Launch(region, name string, n int) error {
	g, err := s.lookup(region, name)
	if err != nil {
		return err
	}
	tags := map[string]string{"aws:autoscaling:groupName": g.Name}
	for k, t := range g.Tags {
		if t.Propagate {
			tags[k] = t.Value
		}
	}
	for range n {
		subnet, err := g.emptiest()
		if err != nil {
			return err
		}
		instance, err := s.network.LaunchOwned(region, subnet.ID, g.InstanceType, g.SecurityGroups, maps.Clone(tags))
		if err != nil {
			return fmt.Errorf("launching an instance of group %s in %s: %w", name, subnet.ID, err)
		}
		g.Instances = append(g.Instances, instance)
	}
	return nil
}

// Terminate ends those of the group's instances, which leave the group.
func (s *Service) Terminate(region, name string, ids []string) error {
	g, err := s.lookup(region, name)
	if err != nil {
		return err
	}
	var failed []error
	g.Instances = slices.DeleteFunc(g.Instances, func(i ec2sim.Instance) bool {
		if !slices.Contains(ids, i.ID) {
			return false
		}
		if err := s.network.TerminateOwned(region, i.ID); err != nil {
			failed = append(failed, fmt.Errorf("terminating instance %s of group %s: %w", i.ID, name, err))
			return false
		}
		return true
	})
	return errors.Join(failed...)
}

// Delete removes a group and ends its instances; an absent one is success.
func (s *Service) Delete(region, name string) error {
	g := s.state.Regions[region][name]
	if g == nil {
		return nil
	}
	ids := make([]string, 0, len(g.Instances))
	for _, i := range g.Instances {
		ids = append(ids, i.ID)
	}
	if err := s.Terminate(region, name, ids); err != nil {
		return err
	}
	delete(s.state.Regions[region], name)
	return nil
}

// Instances returns the group's instances in the order of their launch, or
// false when there is no such group.
func (s *Service) Instances(region, name string) ([]ec2sim.Instance, bool) {
	g := s.state.Regions[region][name]
	if g == nil {
		return nil, false
	}
	return slices.Clone(g.Instances), true
}

// Surplus names the n instances that a group gives up first: always the oldest
// of the zone that has the most.
func (s *Service) Surplus(region, name string, n int) []string {
	g := s.state.Regions[region][name]
	if g == nil {
		return nil
	}
	rest := slices.Clone(g.Instances)
	var ids []string
	for len(ids) < n && len(rest) > 0 {
		counts := perZone(rest)
		at := 0
		for i, instance := range rest {
			if counts[instance.Zone] > counts[rest[at].Zone] {
				at = i
			}
		}
		ids = append(ids, rest[at].ID)
		rest = slices.Delete(rest, at, at+1)
	}
	return ids
}

func (s *Service) lookup(region, name string) (*group, error) {
	if g := s.state.Regions[region][name]; g != nil {
		return g, nil
	}
	return nil, service.Refuse("ValidationError", "AutoScalingGroup name not found - AutoScalingGroup %s not found", name)
}

func (g *group) emptiest() (ec2sim.Subnet, error) {
	if len(g.Subnets) == 0 {
		return ec2sim.Subnet{}, service.Refuse("ValidationError", "AutoScalingGroup %s has no subnets", g.Name)
	}
	counts := perZone(g.Instances)
	return slices.MinFunc(g.Subnets, func(a, b ec2sim.Subnet) int { return counts[a.Zone] - counts[b.Zone] }), nil
}

func perZone(instances []ec2sim.Instance) map[string]int {
	counts := map[string]int{}
	for _, i := range instances {
		counts[i.Zone]++
	}
	return counts
}
