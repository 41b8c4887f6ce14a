package awssim

import (
	"cmp"
	"maps"
	"slices"

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
	Service   string `json:"service"`
	Operation string `json:"operation"`
	Code      string `json:"code,omitempty"` // of the error; empty for success
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

	recent []Outcome // oldest first
}

func newRecord() record { return record{}.orEmpty() }

func (r record) orEmpty() record {
	if r.Created == nil {
		r.Created = map[string]int{}
	}
	if r.Deleted == nil {
		r.Deleted = map[string]int{}
	}
	return r
}

func (r *record) remember(o Outcome) {
	if len(r.recent) == maxRecent {
		r.recent = slices.Delete(r.recent, 0, maxRecent/2)
	}
	r.recent = append(r.recent, o)
}

// called counts a call of a modelled operation.
func (r *record) called(o Outcome, mutating bool) {
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
		if err := s.commitLocked(); err != nil {
			s.log.Error("save the account before a report", "error", err)
		}
	}
	report := Report{
		MutatingCalls: s.record.MutatingCalls,
		Calls:         slices.Clone(s.record.Calls),
		Refused:       slices.Clone(s.record.Refused),
		Created:       maps.Clone(s.record.Created),
		Deleted:       maps.Clone(s.record.Deleted),
		Existing:      s.objectsLocked(),
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
