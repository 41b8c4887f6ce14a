package elbsim

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/krops-go/krops/internal/rehearsal/awssim/ec2sim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
	"github.com/krops-go/krops/internal/rehearsal/awssim/taggingsim"
)

type v2State struct {
	Regions  map[string]*v2Region
	Releases []release
}

// v2Region is a region's resources by ARN.
type v2Region struct {
	Balancers map[string]*v2Balancer
	Groups    map[string]*v2Group
	Listeners map[string]*v2Listener
}

type v2Balancer struct {
	ARN, Name, DNSName, VPC string
	Internal                bool
	Subnets, Zones, Groups  []string
	Interfaces              []string
	CreatedAt, ReadyAt      time.Time
	Tags                    map[string]string
}

type v2Group struct {
	ARN, Name, VPC string
	Port           int32
	Targets        []string
	Tags           map[string]string
}

type v2Listener struct {
	ARN, Balancer, Group string
	Port                 int32
	Tags                 map[string]string
}

func (s *V2) region(name string) *v2Region {
	r := s.state.Regions[name]
	if r == nil {
		r = &v2Region{Balancers: map[string]*v2Balancer{}, Groups: map[string]*v2Group{}, Listeners: map[string]*v2Listener{}}
		s.state.Regions[name] = r
	}
	return r
}

// longestName is how long names of load balancers and target groups may be.
const longestName = 32

// Create makes a Network Load Balancer with a listener and a target group for
// each port, and returns its ARN. The account's lock is held; the error is a
// *service.Error.
func (s *V2) Create(w service.World, b Balancer) (string, error) {
	r := s.region(b.Region)
	if len(b.Name) > longestName {
		return "", service.Refuse("ValidationError", "The load balancer name '%s' cannot be longer than '%d' characters", b.Name, longestName)
	}
	for _, other := range r.Balancers {
		if other.Name == b.Name {
			return "", service.Refuse("DuplicateLoadBalancerName", "A load balancer with the same name '%s' exists", b.Name)
		}
	}
	id := w.NewID("", 16)
	interfaces, first, err := s.connect(b.Region, b.Subnets, ec2sim.ManagedInterface{
		Groups: b.SecurityGroups, Description: "ELB net/" + b.Name + "/" + id, Requester: requester, Type: "network_load_balancer", Public: !b.Internal,
	})
	if err != nil {
		return "", err
	}
	arn := "arn:aws:elasticloadbalancing:" + b.Region + ":" + b.Account + ":"
	made := &v2Balancer{
		ARN: arn + "loadbalancer/net/" + b.Name + "/" + id, Name: b.Name, VPC: first.VPC, Internal: b.Internal,
		DNSName: b.Name + "-" + id + ".elb." + b.Region + ".amazonaws.com", Subnets: slices.Clone(b.Subnets), Groups: slices.Clone(b.SecurityGroups),
		Interfaces: interfaces, CreatedAt: w.Now().UTC(), ReadyAt: w.Now().Add(s.timing.Create), Tags: maps.Clone(b.Tags),
	}
	for _, id := range b.Subnets {
		subnet, _ := s.network.LookupSubnet(b.Region, id) // connect has found it
		made.Zones = append(made.Zones, subnet.Zone)
	}
	r.Balancers[made.ARN] = made
	for n, port := range b.Ports {
		name := fmt.Sprintf("%.*s-%d", longestName-3, b.Name, n)
		g := &v2Group{
			ARN: arn + "targetgroup/" + name + "/" + w.NewID("", 16), Name: name, VPC: first.VPC, Port: port.Node,
			Targets: slices.Clone(b.Instances), Tags: maps.Clone(b.Tags),
		}
		r.Groups[g.ARN] = g
		l := &v2Listener{
			ARN:      strings.Replace(made.ARN, ":loadbalancer/", ":listener/", 1) + "/" + w.NewID("", 16),
			Balancer: made.ARN, Group: g.ARN, Port: port.Front, Tags: maps.Clone(b.Tags),
		}
		r.Listeners[l.ARN] = l
	}
	return made.ARN, nil
}

// Settle implements service.Service: new load balancers become active, and
// interfaces of deleted ones go.
func (s *V2) Settle(now time.Time) time.Time {
	var next time.Time
	s.state.Releases, next = s.settleReleases(s.state.Releases, now)
	for _, r := range s.state.Regions {
		for _, b := range r.Balancers {
			// The state follows from ReadyAt and the time.
			if b.ReadyAt.After(now) && (next.IsZero() || b.ReadyAt.Before(next)) {
				next = b.ReadyAt
			}
		}
	}
	return next
}

// State implements service.Service.
func (s *V2) State() any { return &s.state }

// Objects implements service.Service. Listeners come and go with their load
// balancers and are left out.
func (s *V2) Objects() []service.Object {
	var all []service.Object
	for _, region := range slices.Sorted(maps.Keys(s.state.Regions)) {
		r := s.state.Regions[region]
		for _, arn := range slices.Sorted(maps.Keys(r.Balancers)) {
			all = append(all, service.Object{Kind: "loadbalancer", Region: region, ID: arn, Name: r.Balancers[arn].Name})
		}
		for _, arn := range slices.Sorted(maps.Keys(r.Groups)) {
			all = append(all, service.Object{Kind: "targetgroup", Region: region, ID: arn, Name: r.Groups[arn].Name})
		}
	}
	return all
}

// tags returns the tags of a resource, or false when there is none of that ARN.
func (r *v2Region) tags(arn string) (map[string]string, bool) {
	if b := r.Balancers[arn]; b != nil {
		return b.Tags, true
	}
	if g := r.Groups[arn]; g != nil {
		return g.Tags, true
	}
	if l := r.Listeners[arn]; l != nil {
		return l.Tags, true
	}
	return nil, false
}

// TaggedResources implements taggingsim.Taggable.
func (s *V2) TaggedResources(region string) []taggingsim.TaggedResource {
	r := s.state.Regions[region]
	if r == nil {
		return nil
	}
	var all []taggingsim.TaggedResource
	for _, arn := range slices.Sorted(slices.Values(slices.Concat(
		slices.Collect(maps.Keys(r.Balancers)), slices.Collect(maps.Keys(r.Groups)), slices.Collect(maps.Keys(r.Listeners)),
	))) {
		if tags, _ := r.tags(arn); len(tags) > 0 {
			all = append(all, taggingsim.TaggedResource{ARN: arn, Tags: maps.Clone(tags)})
		}
	}
	return all
}
