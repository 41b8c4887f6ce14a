// Package quotasim is Service Quotas: what a region of the account may have,
// and requests for more. A request waits until AWS decides, which here is
// Approve or Deny; what is approved is in force from then on. The quotas of
// EC2 are those that the simulated EC2 enforces; of the others, the values are
// AWS's defaults.
package quotasim

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/servicequotas/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/ec2sim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// Network is what enforces the quotas of EC2 and VPC.
type Network interface {
	QuotaIn(region string, q ec2sim.Quota) int
	SetQuota(region string, q ec2sim.Quota, limit int)
	HasRegion(name string) bool
}

// Service is Service Quotas for one account. The account's lock guards it.
type Service struct {
	account string
	network Network
	state   state
}

var (
	_ service.Service   = (*Service)(nil)
	_ service.Contained = (*Service)(nil)
)

type state struct {
	Requests map[string]*request           // by id
	Raised   map[string]map[string]float64 // by region and quota code; of quotas that nothing enforces
}

type request struct {
	ID, Region, Code, Requester string
	Case                        string
	Desired                     float64
	Status                      types.RequestStatus
	CreatedAt, UpdatedAt        time.Time
}

// New returns Service Quotas without requests.
func New(account string, network Network) *Service {
	return &Service{account: account, network: network, state: state{Requests: map[string]*request{}, Raised: map[string]map[string]float64{}}}
}

// Name is "servicequotas".
func (s *Service) Name() string { return "servicequotas" }

// Reaches implements service.Contained.
func (s *Service) Reaches() []string { return []string{"ec2"} }

// State is all requests and what was approved.
func (s *Service) State() any { return &s.state }

// Settle does nothing: AWS's decisions come from outside.
func (s *Service) Settle(time.Time) time.Time { return time.Time{} }

// Objects is empty: a request for more is nothing that exists.
func (s *Service) Objects() []service.Object { return nil }

// Request is a request for a raised quota that AWS has not decided on.
type Request struct {
	ID, Region, QuotaCode string
	Desired               float64
}

// Open lists the requests that wait for a decision, oldest first. The
// account's lock must be held, as in awssim.Server.Do.
func (s *Service) Open() []Request {
	var all []Request
	for _, r := range s.sorted() {
		if r.open() {
			all = append(all, Request{ID: r.ID, Region: r.Region, QuotaCode: r.Code, Desired: r.Desired})
		}
	}
	return all
}

// Approve grants a request, from now on. The account's lock must be held.
func (s *Service) Approve(id string, now time.Time) error {
	r, err := s.decide(id, types.RequestStatusApproved, now)
	if err != nil {
		return err
	}
	q, _ := quotaByCode(r.Code)
	if q.enforced != "" {
		s.network.SetQuota(r.Region, q.enforced, int(r.Desired))
		return nil
	}
	if s.state.Raised[r.Region] == nil {
		s.state.Raised[r.Region] = map[string]float64{}
	}
	s.state.Raised[r.Region][r.Code] = r.Desired
	return nil
}

// Deny refuses a request. The account's lock must be held.
func (s *Service) Deny(id string, now time.Time) error {
	_, err := s.decide(id, types.RequestStatusDenied, now)
	return err
}

func (s *Service) decide(id string, status types.RequestStatus, now time.Time) (*request, error) {
	r := s.state.Requests[id]
	if r == nil {
		return nil, fmt.Errorf("there is no request %q for a raised quota", id)
	}
	if !r.open() {
		return nil, fmt.Errorf("the request %q for a raised quota is %s and waits for no decision", id, r.Status)
	}
	r.Status, r.UpdatedAt = status, now
	return r, nil
}

func (r *request) open() bool {
	return r.Status == types.RequestStatusPending || r.Status == types.RequestStatusCaseOpened
}

// sorted lists all requests, oldest first.
func (s *Service) sorted() []*request {
	return slices.SortedFunc(maps.Values(s.state.Requests), func(a, b *request) int {
		if order := a.CreatedAt.Compare(b.CreatedAt); order != 0 {
			return order
		}
		if a.ID < b.ID {
			return -1
		}
		return 1
	})
}

// value is what is in force.
func (s *Service) value(region string, q quota) float64 {
	if q.enforced != "" {
		return float64(s.network.QuotaIn(region, q.enforced))
	}
	if raised, ok := s.state.Raised[region][q.code]; ok {
		return raised
	}
	return q.standard
}
