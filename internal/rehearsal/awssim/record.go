package awssim

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// Report is what happened in the account since it was made, restarts
// included, and what there is now.
type Report struct {
	// MutatingCalls counts calls that succeeded and change the account.
	MutatingCalls int `json:"mutatingCalls"`
	// Calls is sorted by service and operation.
	Calls []OperationCalls `json:"calls"`
	// Refused is what was asked for and is not modelled, sorted.
	Refused []Refusal `json:"refused"`
	// Created and Deleted count objects by kind. What a new account has from
	// the start was not created.
	Created map[string]int `json:"created"`
	Deleted map[string]int `json:"deleted"`
	// Existing is what the services list now.
	Existing []service.Object `json:"existing"`
	// Actions are the IAM actions that were asked for, sorted by principal and
	// action: what a policy for the principal would have to allow.
	Actions []ActionUse `json:"actions,omitempty"`
}

// ActionUse counts how often a principal took an action.
type ActionUse struct {
	Principal string `json:"principal"` // ARN of the user or role
	Action    string `json:"action"`    // such as "ec2:CreateVpc"
	Allowed   int    `json:"allowed,omitempty"`
	Denied    int    `json:"denied,omitempty"`
}

// OperationCalls counts the calls of one operation.
type OperationCalls struct {
	Service   string         `json:"service"` // as the SDK names its package
	Operation string         `json:"operation"`
	Mutating  bool           `json:"mutating"`
	Count     int            `json:"count"`            // all, failed included
	Failed    map[string]int `json:"failed,omitempty"` // by error code
}

// Refusal is something that is not modelled and how often it was asked for.
type Refusal struct {
	Service   string `json:"service"`
	Operation string `json:"operation"`
	What      string `json:"what"`
	Count     int    `json:"count"`
}

// Outcome is one call as remembered: no parameters, no signature.
type Outcome struct {
	// Number counts the calls of this process from one, in the order in which
	// they ended.
	Number    uint64    `json:"number"`
	At        time.Time `json:"at"` // on the account's clock, when the call ended
	Region    string    `json:"region,omitempty"`
	Principal string    `json:"principal,omitempty"` // ARN of the user or the role's session
	Service   string    `json:"service"`
	Operation string    `json:"operation"`
	Code      string    `json:"code,omitempty"` // of the error; empty for success
	// Fault is set when a fault rule made the call fail.
	Fault bool `json:"fault,omitempty"`
}

const (
	maxRecent  = 1000 // calls remembered one by one
	maxRefused = 1000 // distinct refusals remembered
)

// record is what is remembered of calls. Its JSON form is part of the state file.
type record struct {
	MutatingCalls int              `json:"-"` // saved with the account
	Calls         []OperationCalls `json:"calls"`
	Refused       []Refusal        `json:"refused"`
	Created       map[string]int   `json:"created"`
	Deleted       map[string]int   `json:"deleted"`
	Uses          actionUses       `json:"actions,omitempty"`

	recent   []Outcome // oldest first
	number   uint64
	awaiting int           // who waits for a call
	called   chan struct{} // closed and replaced for them
}

// actionUses are by principal and action.
type actionUses map[string]map[string]*ActionUse

func (u actionUses) list() []ActionUse {
	var out []ActionUse
	for _, principal := range slices.Sorted(maps.Keys(u)) {
		for _, action := range slices.Sorted(maps.Keys(u[principal])) {
			out = append(out, *u[principal][action])
		}
	}
	return out
}

func newRecord() record { return record{}.orEmpty() }

func (r record) orEmpty() record {
	if r.Created == nil {
		r.Created = map[string]int{}
	}
	if r.Deleted == nil {
		r.Deleted = map[string]int{}
	}
	if r.Uses == nil {
		r.Uses = actionUses{}
	}
	r.called = make(chan struct{})
	return r
}

func (s *Server) rememberLocked(o Outcome) {
	r := &s.record
	r.number++
	o.Number, o.At = r.number, s.clock.Now().UTC()
	if len(r.recent) == maxRecent {
		r.recent = slices.Delete(r.recent, 0, maxRecent/2)
	}
	r.recent = append(r.recent, o)
	s.calls.add(o)
	if r.awaiting > 0 {
		close(r.called)
		r.called = make(chan struct{})
	}
}

// used counts an action that a principal asked for.
func (r *record) used(principal, action string, allowed bool) {
	byAction := r.Uses[principal]
	if byAction == nil {
		byAction = map[string]*ActionUse{}
		r.Uses[principal] = byAction
	}
	use := byAction[action]
	if use == nil {
		use = &ActionUse{Principal: principal, Action: action}
		byAction[action] = use
	}
	if allowed {
		use.Allowed++
	} else {
		use.Denied++
	}
}

// count counts a call of a modelled operation.
func (r *record) count(o Outcome, mutating bool) {
	at, found := slices.BinarySearchFunc(r.Calls, o, func(c OperationCalls, o Outcome) int {
		return cmp.Or(cmp.Compare(c.Service, o.Service), cmp.Compare(c.Operation, o.Operation))
	})
	if !found {
		r.Calls = slices.Insert(r.Calls, at, OperationCalls{Service: o.Service, Operation: o.Operation, Mutating: mutating})
	}
	count := &r.Calls[at]
	count.Count++
	if o.Code != "" {
		if count.Failed == nil {
			count.Failed = map[string]int{}
		}
		count.Failed[o.Code]++
	} else if mutating {
		r.MutatingCalls++
	}
}

// refused counts something that is not modelled.
func (r *record) refused(service, operation, what string) {
	want := Refusal{Service: service, Operation: operation, What: what}
	at, found := slices.BinarySearchFunc(r.Refused, want, func(a, b Refusal) int {
		return cmp.Or(cmp.Compare(a.Service, b.Service), cmp.Compare(a.Operation, b.Operation), cmp.Compare(a.What, b.What))
	})
	if !found {
		if len(r.Refused) >= maxRefused {
			return
		}
		r.Refused = slices.Insert(r.Refused, at, want)
	}
	r.Refused[at].Count++
}

// Report returns what happened so far and what exists. It may be called after
// Close.
func (s *Server) Report() Report {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.settleLocked()
	}
	s.noteLocked(s.members)
	report := Report{
		MutatingCalls: s.record.MutatingCalls,
		Calls:         slices.Clone(s.record.Calls),
		Refused:       slices.Clone(s.record.Refused),
		Created:       maps.Clone(s.record.Created),
		Deleted:       maps.Clone(s.record.Deleted),
		Existing:      s.objectsLocked(),
		Actions:       s.record.Uses.list(),
	}
	for i := range report.Calls {
		report.Calls[i].Failed = maps.Clone(report.Calls[i].Failed)
	}
	return report
}

// MutatingCalls is Report's number of that name, cheaply.
func (s *Server) MutatingCalls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.record.MutatingCalls
}

// Recent returns the latest calls of this process, oldest first, at least the
// last 500.
func (s *Server) Recent() []Outcome {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.record.recent)
}

// AwaitCall waits until a call that matches has ended, and returns it: the
// first one among those that Recent still has and those to come. Outcome.Number
// tells calls of before apart. match is called with the account's lock held.
func (s *Server) AwaitCall(ctx context.Context, match func(Outcome) bool) (Outcome, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := &s.record
	r.awaiting++
	defer func() { r.awaiting-- }()
	var seen uint64
	for {
		for _, o := range r.recent {
			if o.Number > seen && match(o) {
				return o, nil
			}
		}
		seen = r.number
		called := r.called
		s.mu.Unlock()
		var err error
		select {
		case <-called:
		case <-ctx.Done():
			err = fmt.Errorf("waiting for a call: %w", context.Cause(ctx))
		case <-s.life.Done():
			err = fmt.Errorf("waiting for a call: %w", errClosed)
		}
		s.mu.Lock()
		if err != nil {
			return Outcome{}, err
		}
	}
}
