// Package ec2sim is Amazon EC2 as far as a Kubernetes estate touches it: the
// network of a VPC with everything in it, tags, zones and instance types, and
// instances as other services launch them. The account has no default VPC in
// any region, so IsDefault is false everywhere.
//
// Every region of the account is on its own, as in AWS. What depends on what
// is enforced: a delete in the wrong order is refused with EC2's own code.
package ec2sim

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// Service is EC2. The account's lock guards it, see package service.
type Service struct {
	account string
	world   service.World
	timing  Timing
	quotas  Quotas
	state   State
}

// Options adjust the simulation. Zero members take the default.
type Options struct {
	Timing Timing
	Quotas Quotas
}

// Timing is how long changes of state take on the account's clock. They are
// never instant, so that a caller that does not wait is found out.
type Timing struct {
	VPC        time.Duration // pending until available
	Subnet     time.Duration // pending until available
	NATCreate  time.Duration // pending until available or failed
	NATDelete  time.Duration // deleting until deleted
	Instance   time.Duration // pending until running
	Remembered time.Duration // how long what was deleted can still be described
}

// Quotas are the limits of each region of the account.
type Quotas struct {
	VPCs       int // per region
	Addresses  int // elastic IPs per region
	NATsInZone int // NAT gateways per availability zone
}

// New returns EC2 for the account. The world is used by what other services do
// through the Owned methods; it may not be called before the first request.
func New(account string, world service.World, opts Options) *Service {
	return &Service{
		account: account,
		world:   world,
		timing: Timing{
			VPC:        cmp.Or(opts.Timing.VPC, 100*time.Millisecond),
			Subnet:     cmp.Or(opts.Timing.Subnet, 100*time.Millisecond),
			NATCreate:  cmp.Or(opts.Timing.NATCreate, 400*time.Millisecond),
			NATDelete:  cmp.Or(opts.Timing.NATDelete, 400*time.Millisecond),
			Instance:   cmp.Or(opts.Timing.Instance, 200*time.Millisecond),
			Remembered: cmp.Or(opts.Timing.Remembered, time.Hour),
		},
		// VPC User Guide, "Amazon VPC quotas", and EC2 User Guide, "Elastic IP
		// address quota".
		quotas: Quotas{
			VPCs:       cmp.Or(opts.Quotas.VPCs, 5),
			Addresses:  cmp.Or(opts.Quotas.Addresses, 5),
			NATsInZone: cmp.Or(opts.Quotas.NATsInZone, 5),
		},
	}
}

// Name implements service.Service.
func (s *Service) Name() string { return "ec2" }

// State implements service.Service.
func (s *Service) State() any { return &s.state }

// Operations implements service.Service.
func (s *Service) Operations() []service.Operation {
	return slices.Concat(
		s.zoneOperations(),
		s.accountOperations(),
		s.instanceTypeOperations(),
		s.vpcOperations(),
		s.vpcCIDROperations(),
		s.subnetOperations(),
		s.internetGatewayOperations(),
		s.elasticIPOperations(),
		s.natGatewayOperations(),
		s.routeTableOperations(),
		s.routeOperations(),
		s.securityGroupOperations(),
		s.securityGroupRuleOperations(),
		s.networkACLOperations(),
		s.networkInterfaceOperations(),
		s.instanceOperations(),
		s.launchTemplateOperations(),
		s.launchTemplateVersionOperations(),
		s.imageOperations(),
		s.absentOperations(),
		s.tagOperations(),
	)
}

// Reaches implements service.Contained: EC2 changes nothing but itself.
func (s *Service) Reaches() []string { return nil }

// Settle implements service.Service.
func (s *Service) Settle(now time.Time) time.Time {
	next := &earliest{now: now}
	for _, name := range slices.Sorted(maps.Keys(s.state.Regions)) {
		s.state.Regions[name].settle(next, s.timing)
	}
	return next.at
}

// Objects implements service.Service. Main route tables, default groups and
// network ACLs come and go with their VPC and are left out.
func (s *Service) Objects() []service.Object {
	var objects []service.Object
	for _, name := range slices.Sorted(maps.Keys(s.state.Regions)) {
		for _, e := range s.state.Regions[name].entries() {
			if e.implied {
				continue
			}
			objects = append(objects, service.Object{Kind: e.kind.typ, Region: name, ID: e.ID, Name: e.Tags["Name"]})
		}
	}
	return objects
}
