package elbsim

import (
	"cmp"
	"time"

	"github.com/krops-go/krops/internal/rehearsal/awssim/ec2sim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// Network is what load balancers do in the account's VPCs; EC2 does it. Errors
// are *service.Error.
type Network interface {
	LookupSubnet(region, id string) (ec2sim.Subnet, bool)
	CreateManagedInterface(region string, wanted ec2sim.ManagedInterface) (string, error)
	DeleteOwnedInterface(region, id string) error
}

// Timing is how long changes take on the account's clock. Zero members take
// the default.
type Timing struct {
	Create  time.Duration // provisioning until active
	Release time.Duration // after a delete until the interfaces are gone
}

func (t Timing) orDefault() Timing {
	return Timing{
		Create:  cmp.Or(t.Create, 200*time.Millisecond),
		Release: cmp.Or(t.Release, 400*time.Millisecond),
	}
}

// Option adjusts either service.
type Option func(*common)

// WithNetwork is where load balancers have their interfaces. Without it none
// can be made.
func WithNetwork(n Network) Option { return func(c *common) { c.network = n } }

// WithTiming sets how long changes take.
func WithTiming(t Timing) Option { return func(c *common) { c.timing = t.orDefault() } }

// common is what both services share.
type common struct {
	network Network
	timing  Timing
}

func (c *common) adjust(opts []Option) {
	c.timing = Timing{}.orDefault()
	for _, opt := range opts {
		opt(c)
	}
}

// Reaches implements service.Contained: interfaces are EC2's.
func (c *common) Reaches() []string { return []string{"ec2"} }

// release is interfaces of a deleted load balancer that are still there.
type release struct {
	Region     string
	Interfaces []string
	At         time.Time
}

// settleReleases removes the interfaces that are due and returns the rest and
// the time at which the next are. An interface that cannot be removed is tried
// again.
func (c *common) settleReleases(list []release, now time.Time) (rest []release, next time.Time) {
	for _, r := range list {
		if !now.Before(r.At) {
			var left []string
			for _, id := range r.Interfaces {
				if err := c.network.DeleteOwnedInterface(r.Region, id); err != nil {
					left = append(left, id)
				}
			}
			if len(left) == 0 {
				continue
			}
			r.Interfaces, r.At = left, now.Add(c.timing.Release)
		}
		rest = append(rest, r)
		if next.IsZero() || r.At.Before(next) {
			next = r.At
		}
	}
	return rest, next
}

// connect makes an interface in each subnet, or none.
func (c *common) connect(region string, subnets []string, wanted ec2sim.ManagedInterface) (ids []string, first ec2sim.Subnet, err error) {
	if c.network == nil {
		return nil, first, service.Refuse("UnsupportedOperation", "this Elastic Load Balancing has no network")
	}
	for _, id := range subnets {
		subnet, ok := c.network.LookupSubnet(region, id)
		if !ok {
			err = service.Refuse("SubnetNotFound", "The subnet ID '%s' does not exist", id)
			break
		}
		if first.ID == "" {
			first = subnet
		}
		wanted.Subnet = id
		made, createErr := c.network.CreateManagedInterface(region, wanted)
		if createErr != nil {
			err = createErr
			break
		}
		ids = append(ids, made)
	}
	if err == nil && len(subnets) == 0 {
		err = service.Refuse("ValidationError", "At least one subnet must be specified")
	}
	if err != nil {
		for _, id := range ids {
			_ = c.network.DeleteOwnedInterface(region, id) // just made, so it can go
		}
		return nil, first, err
	}
	return ids, first, nil
}
