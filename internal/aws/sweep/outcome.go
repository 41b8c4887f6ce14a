package sweep

import (
	"errors"
	"fmt"
	"strings"
)

// Result is how a step ended.
type Result string

const (
	// Deleted: this execution removed it, and AWS says it does not exist.
	Deleted Result = "deleted"
	// Gone: it went without this execution asking.
	Gone Result = "gone"
	// Failed: it was tried and is, or may be, still there.
	Failed Result = "failed"
	// Blocked: it was not tried, because something before it did not succeed.
	Blocked Result = "blocked"
)

// Outcome is what became of one step.
type Outcome struct {
	Step   Step
	Result Result
	// Reason explains Failed and Blocked; otherwise it is empty.
	Reason string
	// Err is the cause of Failed where there is one.
	Err error
}

func (o Outcome) leftover() bool { return o.Result == Failed || o.Result == Blocked }

// LeftoverError says which steps did not succeed, and why.
type LeftoverError struct {
	Leftovers []Outcome
}

func (e *LeftoverError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "sweep incomplete, %d steps did not succeed; run it again once the causes are removed", len(e.Leftovers))
	for _, o := range e.Leftovers {
		fmt.Fprintf(&b, "\n  %s: %s: %s", o.Step, o.Result, o.Reason)
	}
	return b.String()
}

// Unwrap gives the causes to errors.Is and errors.As.
func (e *LeftoverError) Unwrap() []error {
	var errs []error
	for _, o := range e.Leftovers {
		if o.Err != nil {
			errs = append(errs, o.Err)
		}
	}
	return errs
}

// leftovers is the error of an execution, nil if every step succeeded and
// every listing the plan came from did.
func leftovers(p *Plan, outcomes []Outcome) error {
	var errs []error
	var left []Outcome
	for _, o := range outcomes {
		if o.leftover() {
			left = append(left, o)
		}
	}
	if len(left) > 0 {
		errs = append(errs, &LeftoverError{Leftovers: left})
	}
	for _, listing := range p.Unknown {
		errs = append(errs, listing)
	}
	return errors.Join(errs...)
}
