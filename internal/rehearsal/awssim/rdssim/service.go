// Package rdssim is Amazon RDS, as far as an estate has databases of single
// instances: instances with their states over time and the interfaces they
// take in a VPC's subnets, master passwords that RDS keeps in Secrets Manager,
// subnet groups, snapshots, and backups that outlive their instance. There is
// no database behind an endpoint.
package rdssim

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/krops-go/krops/internal/rehearsal/awssim/ec2sim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
	"github.com/krops-go/krops/internal/rehearsal/awssim/taggingsim"
)

// Network is where instances have their interfaces.
type Network interface {
	LookupSubnet(region, id string) (ec2sim.Subnet, bool)
	CreateInterfaceFor(region, requester, subnet string, groups []string, description string) (string, error)
	InterfaceGroups(region, id string) []string
	SetInterfaceGroups(region, id string, groups []string) error
	DeleteOwnedInterface(region, id string) error
}

// Secrets is where RDS keeps master passwords.
type Secrets interface {
	CreateOwned(w service.World, region, owner, name, description, key, value string, tags map[string]string) string
	DeleteOwned(region, arn string)
}

// Keys are what storage and passwords are encrypted with.
type Keys interface {
	ManagedKey(now time.Time, region, service string) string
	LookupKey(now time.Time, region, name string) (arn string, ok bool)
}

// Timing is how long changes of state take on the account's clock.
type Timing struct {
	Create time.Duration // creating and backing-up until available
	Modify time.Duration // modifying or rebooting until available
	Delete time.Duration // deleting until gone
}

// Service is RDS for one account. The account's lock guards it.
type Service struct {
	account string
	world   service.World
	network Network
	secrets Secrets
	keys    Keys
	timing  Timing
	state   state
}

var (
	_ service.Service     = (*Service)(nil)
	_ service.Contained   = (*Service)(nil)
	_ taggingsim.Taggable = (*Service)(nil)
)

type state struct{ Regions map[string]*region }

type region struct {
	Instances map[string]*instance    // by identifier
	Groups    map[string]*subnetGroup // by name
	Snapshots map[string]*snapshot    // by identifier
	Backups   map[string]*backup      // of deleted instances, by resource id
}

// New returns an RDS without databases.
func New(account string, world service.World, network Network, secrets Secrets, keys Keys, timing Timing) *Service {
	return &Service{
		account: account, world: world, network: network, secrets: secrets, keys: keys,
		timing: Timing{
			Create: cmp.Or(timing.Create, 400*time.Millisecond),
			Modify: cmp.Or(timing.Modify, 200*time.Millisecond),
			Delete: cmp.Or(timing.Delete, 400*time.Millisecond),
		},
		state: state{Regions: map[string]*region{}},
	}
}

// Name is "rds".
func (s *Service) Name() string { return "rds" }

// Reaches implements service.Contained.
func (s *Service) Reaches() []string { return []string{"ec2", "secretsmanager", "kms"} }

// State is all databases, subnet groups, snapshots and backups.
func (s *Service) State() any { return &s.state }

// Operations lists what is modelled.
func (s *Service) Operations() []service.Operation {
	return slices.Concat(
		s.instanceOperations(),
		s.subnetGroupOperations(),
		s.snapshotOperations(),
		s.tagOperations(),
		s.engineOperations(),
	)
}

// Settle moves instances on.
func (s *Service) Settle(now time.Time) time.Time {
	var next time.Time
	for _, name := range slices.Sorted(maps.Keys(s.state.Regions)) {
		r := s.state.Regions[name]
		for _, id := range slices.Sorted(maps.Keys(r.Instances)) {
			if at := s.settle(name, r, r.Instances[id], now); !at.IsZero() && (next.IsZero() || at.Before(next)) {
				next = at
			}
		}
	}
	return next
}

// Objects lists instances, subnet groups, snapshots and backups that were kept.
func (s *Service) Objects() []service.Object {
	var all []service.Object
	for _, name := range slices.Sorted(maps.Keys(s.state.Regions)) {
		r := s.state.Regions[name]
		add := func(kind string, ids []string) {
			for _, id := range ids {
				all = append(all, service.Object{Kind: kind, Region: name, ID: id, Name: id})
			}
		}
		add("db-instance", slices.Sorted(maps.Keys(r.Instances)))
		add("db-subnet-group", slices.Sorted(maps.Keys(r.Groups)))
		add("db-snapshot", slices.Sorted(maps.Keys(r.Snapshots)))
		add("db-automated-backup", slices.Sorted(maps.Keys(r.Backups)))
	}
	return all
}

// TaggedResources implements taggingsim.Taggable.
func (s *Service) TaggedResources(regionName string) []taggingsim.TaggedResource {
	var all []taggingsim.TaggedResource
	r := s.state.Regions[regionName]
	if r == nil {
		return nil
	}
	add := func(kind, id string, tags map[string]string) {
		if len(tags) > 0 {
			all = append(all, taggingsim.TaggedResource{ARN: s.arn(regionName, kind, id), Tags: maps.Clone(tags)})
		}
	}
	for _, id := range slices.Sorted(maps.Keys(r.Instances)) {
		if i := r.Instances[id]; i.Status != deleting {
			add("db", id, i.Tags)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(r.Groups)) {
		add("subgrp", id, r.Groups[id].Tags)
	}
	for _, id := range slices.Sorted(maps.Keys(r.Snapshots)) {
		add("snapshot", id, r.Snapshots[id].Tags)
	}
	return all
}

func (s *Service) in(name string) *region {
	r := s.state.Regions[name]
	if r == nil {
		r = &region{Instances: map[string]*instance{}, Groups: map[string]*subnetGroup{}, Snapshots: map[string]*snapshot{}, Backups: map[string]*backup{}}
		s.state.Regions[name] = r
	}
	return r
}

func (s *Service) arn(region, kind, id string) string {
	return "arn:aws:rds:" + region + ":" + s.account + ":" + kind + ":" + id
}
