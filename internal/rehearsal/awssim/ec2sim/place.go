package ec2sim

import (
	"net/http"
	"reflect"
	"time"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// place is one region of the account as a handler sees it.
type place struct {
	*RegionState
	sim    *Service
	region region
	call   *service.Call // nil when another service acts
}

// at returns the region by name. A region AWS does not have, or has only for
// accounts that opted in, cannot be signed for.
func (s *Service) at(name string, call *service.Call) (*place, error) {
	r, known := regionNamed(name)
	if !known {
		return nil, service.RefuseStatus(http.StatusUnauthorized, "AuthFailure",
			"Credential should be scoped to a valid region, %q is not one that this account has enabled", name)
	}
	return &place{RegionState: s.state.region(name), sim: s, region: r, call: call}, nil
}

func (p *place) now() time.Time { return p.sim.world.Now() }

func (p *place) account() string { return p.sim.account }

// newID returns an id in EC2's long form.
func (p *place) newID(prefix string) string { return p.sim.world.NewID(prefix, 17) }

func (p *place) arn(k kind, id string) string {
	return "arn:aws:ec2:" + p.region.name + ":" + p.account() + ":" + k.typ + "/" + id
}

// settled runs look until nothing of what it finds is under way, as far as the
// call may be held, and returns its last answer.
func settled[T any](p *place, underWay func(T) bool, look func() ([]T, *string, error)) ([]T, *string, error) {
	found, next, err := look()
	moving := func() bool {
		for _, t := range found {
			if underWay(t) {
				return true
			}
		}
		return false
	}
	if err != nil || !moving() {
		return found, next, err
	}
	p.call.Hold(func() bool {
		found, next, err = look()
		return err != nil || !moving()
	})
	return look()
}

func read[In, Out any](s *Service, name string, handle func(*place, *In) (*Out, error), fields ...string) service.Operation {
	return service.Read(name, located(s, handle), withDryRun[In](fields)...)
}

func write[In, Out any](s *Service, name string, handle func(*place, *In) (*Out, error), fields ...string) service.Operation {
	return service.Write(name, located(s, handle), withDryRun[In](fields)...)
}

const dryRun = "DryRun"

func withDryRun[In any](fields []string) []string {
	if _, has := reflect.TypeFor[In]().FieldByName(dryRun); has {
		return append(fields, dryRun)
	}
	return fields
}

// located gives the handler the region of the call, and answers dry runs,
// which EC2 ends once it knows that the caller has the permission.
func located[In, Out any](s *Service, handle func(*place, *In) (*Out, error)) func(*service.Call, *In) (*Out, error) {
	return func(c *service.Call, in *In) (*Out, error) {
		p, err := s.at(c.Region, c)
		if err != nil {
			return nil, err
		}
		if field := reflect.ValueOf(in).Elem().FieldByName(dryRun); field.IsValid() {
			if dry, _ := field.Interface().(*bool); dry != nil && *dry {
				return nil, service.RefuseStatus(http.StatusPreconditionFailed, "DryRunOperation",
					"Request would have succeeded, but DryRun flag is set.")
			}
		}
		return handle(p, in)
	}
}
