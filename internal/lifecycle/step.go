// Package lifecycle takes an environment from nothing to a management cluster
// that manages itself, and back to nothing.
//
// A run is a graph of steps, which are values: each looks at the live state
// first and acts only when it has to, so that after any interruption the same
// run goes on where the last one stopped. The package knows no cloud: what
// differs between clouds is behind the Cloud interface. It prints nothing;
// progress leaves it as events.
package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Step is one step of a run.
type Step struct {
	// Name is stable: it stands in events, the journal and the output.
	Name string
	// Title says what the step does, for people.
	Title string
	// Needs are the names of the steps that must be done before.
	Needs []string
	// Timeout bounds the step.
	Timeout time.Duration
	// Done looks whether there is nothing to do, changing nothing. An error
	// means that this is unknown, and fails the step. May be nil.
	Done func(ctx context.Context) (bool, error)
	// Run does the work. It may have been begun before, up to any point.
	// waiting is told what the step waits for and why it is not there yet.
	Run func(ctx context.Context, waiting func(reason string)) error
}

// EventKind says what happened to a step.
type EventKind string

const (
	Started EventKind = "started"
	// Waiting comes with a new reason in Detail each time it changes.
	Waiting EventKind = "waiting"
	// Finished: the step did its work.
	Finished EventKind = "finished"
	// AlreadyDone: there was nothing to do.
	AlreadyDone EventKind = "already done"
	Failed      EventKind = "failed"
)

// Event is one thing that happened to a step.
type Event struct {
	Time    time.Time     `json:"time"`
	Step    string        `json:"step"`
	Title   string        `json:"title"`
	Kind    EventKind     `json:"kind"`
	Detail  string        `json:"detail,omitempty"`
	Elapsed time.Duration `json:"elapsedNanoseconds,omitempty"` // since the step started
}

// Observer is told what happens. Calls come one at a time.
type Observer func(Event)

// StepError is the failure of a step.
type StepError struct {
	Step Step
	Err  error
}

func (e *StepError) Error() string { return fmt.Sprintf("%s: %v", e.Step.Name, e.Err) }

// Unwrap returns the cause.
func (e *StepError) Unwrap() error { return e.Err }

// Check reports what is wrong with a graph: names that are not unique, needs
// that do not exist, and circles.
func Check(steps []Step) error {
	var errs []error
	known := map[string]bool{}
	for _, s := range steps {
		if known[s.Name] {
			errs = append(errs, fmt.Errorf("step %q stands twice", s.Name))
		}
		known[s.Name] = true
	}
	for _, s := range steps {
		for _, need := range s.Needs {
			if !known[need] {
				errs = append(errs, fmt.Errorf("step %q needs %q, which is not a step", s.Name, need))
			}
		}
	}
	if len(errs) == 0 {
		if left := circle(steps); len(left) > 0 {
			errs = append(errs, fmt.Errorf("steps need each other in a circle: %s", strings.Join(left, ", ")))
		}
	}
	return errors.Join(errs...)
}

// circle returns the steps that can never start.
func circle(steps []Step) []string {
	done := map[string]bool{}
	for {
		progress := false
		var left []string
		for _, s := range steps {
			switch {
			case done[s.Name]:
			case !slices.ContainsFunc(s.Needs, func(n string) bool { return !done[n] }):
				done[s.Name], progress = true, true
			default:
				left = append(left, s.Name)
			}
		}
		if !progress || len(left) == 0 {
			return left
		}
	}
}
