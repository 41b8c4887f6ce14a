package ec2sim

import (
	"maps"
	"slices"
	"time"
)

// State is what outlives the process.
type State struct {
	Regions map[string]*RegionState
	// PublicIPs counts the public addresses ever given out in the account.
	PublicIPs uint32
}

// RegionState is one region's resources by id. Only describe calls and the
// handlers in this package look inside.
type RegionState struct {
	Quotas           map[Quota]int                `json:",omitempty"` // that were raised
	VPCs             map[string]*vpc              `json:",omitempty"`
	Subnets          map[string]*subnet           `json:",omitempty"`
	InternetGateways map[string]*internetGateway  `json:",omitempty"`
	NATGateways      map[string]*natGateway       `json:",omitempty"`
	ElasticIPs       map[string]*elasticIP        `json:",omitempty"`
	RouteTables      map[string]*routeTable       `json:",omitempty"`
	SecurityGroups   map[string]*securityGroup    `json:",omitempty"`
	NetworkACLs      map[string]*networkACL       `json:",omitempty"`
	Interfaces       map[string]*networkInterface `json:",omitempty"`
	Instances        map[string]*instance         `json:",omitempty"`
	LaunchTemplates  map[string]*launchTemplate   `json:",omitempty"`
}

// region returns the state of a region, ready for use.
func (s *State) region(name string) *RegionState {
	r := s.Regions[name]
	if r == nil {
		r = &RegionState{}
		if s.Regions == nil {
			s.Regions = map[string]*RegionState{}
		}
		s.Regions[name] = r
	}
	// A state saved by an older version may lack a table.
	ready(&r.VPCs)
	ready(&r.Subnets)
	ready(&r.InternetGateways)
	ready(&r.NATGateways)
	ready(&r.ElasticIPs)
	ready(&r.RouteTables)
	ready(&r.SecurityGroups)
	ready(&r.NetworkACLs)
	ready(&r.Interfaces)
	ready(&r.Instances)
	ready(&r.LaunchTemplates)
	return r
}

func ready[R any](table *map[string]R) {
	if *table == nil {
		*table = map[string]R{}
	}
}

// header is what every resource has. It is embedded.
type header struct {
	ID   string
	Tags tags `json:",omitempty"`
}

func (h *header) head() *header { return h }

// resource is anything with an id and tags.
type resource interface{ head() *header }

// sorted returns a table's resources in the order of their ids, the order in
// which everything is listed.
func sorted[R any](table map[string]R) []R {
	list := make([]R, 0, len(table))
	for _, id := range slices.Sorted(maps.Keys(table)) {
		list = append(list, table[id])
	}
	return list
}

// earliest finds the next time at which something changes.
type earliest struct {
	now, at time.Time
}

// due reports whether t has come, and otherwise takes note of it.
func (e *earliest) due(t time.Time) bool {
	if !t.After(e.now) {
		return true
	}
	if e.at.IsZero() || t.Before(e.at) {
		e.at = t
	}
	return false
}

func (r *RegionState) settle(next *earliest, timing Timing) {
	// The state of VPCs and subnets follows from ReadyAt and the time.
	for _, v := range r.VPCs {
		next.due(v.ReadyAt)
	}
	for _, s := range r.Subnets {
		next.due(s.ReadyAt)
	}
	for _, n := range r.NATGateways {
		r.settleNAT(n, next, timing)
	}
	for _, i := range r.Instances {
		r.settleInstance(i, next)
	}
}
