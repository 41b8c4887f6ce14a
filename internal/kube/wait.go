package kube

import (
	"context"
	"fmt"
	"time"
)

// Condition is something that becomes true in time.
type Condition struct {
	// Description says what is waited for, to be read after "waiting for": "Deployment a/b to be available".
	Description string
	// Check returns nil when the condition holds and otherwise an error that says why not yet. It may be called any
	// number of times and must not change anything.
	Check func(ctx context.Context) error
}

// WaitOptions tune WaitFor. The zero value is ready to use.
type WaitOptions struct {
	// Interval between the end of one check and the begin of the next; half a second if zero.
	Interval time.Duration
	// Attempt is how long one check may take, so that one hung request cannot use up the whole budget; 15 seconds if
	// zero.
	Attempt time.Duration
	// Progress is told why the condition does not hold, each time the reason changes. May be nil.
	Progress func(reason string)
}

const (
	defaultInterval = 500 * time.Millisecond
	defaultAttempt  = 15 * time.Second
)

// TimeoutError is returned by WaitFor when its context ends first. It unwraps to the context's cause and to the
// reason of the last check.
type TimeoutError struct {
	// Description is that of the condition.
	Description string
	// After is how long it was waited for.
	After time.Duration
	// Last is why the condition did not hold, nil if not a single check ended.
	Last error
	// Cause is why the wait ended.
	Cause error
}

func (e *TimeoutError) Error() string {
	if e.Last == nil {
		return fmt.Sprintf("waited %s for %s: %v", e.After.Round(time.Second), e.Description, e.Cause)
	}
	return fmt.Sprintf("waited %s for %s: %v; last reason: %v", e.After.Round(time.Second), e.Description, e.Cause, e.Last)
}

// Unwrap returns the causes that are set.
func (e *TimeoutError) Unwrap() []error {
	causes := []error{e.Cause}
	if e.Last != nil {
		causes = append(causes, e.Last)
	}
	return causes
}

// WaitFor returns nil as soon as the condition holds and a *TimeoutError when ctx ends before that. The budget is
// the context's: give it a deadline.
func WaitFor(ctx context.Context, condition Condition, opts WaitOptions) error {
	if opts.Interval <= 0 {
		opts.Interval = defaultInterval
	}
	if opts.Attempt <= 0 {
		opts.Attempt = defaultAttempt
	}
	start := time.Now()
	report := changes(opts.Progress)
	var last error
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		if ctx.Err() != nil {
			return &TimeoutError{Description: condition.Description, After: time.Since(start), Last: last, Cause: context.Cause(ctx)}
		}
		err := attempt(ctx, condition, opts.Attempt)
		if err == nil {
			return nil
		}
		// A check that was cut off by the end of the wait does not know better than the one before.
		if ctx.Err() == nil || last == nil {
			last = err
		}
		if ctx.Err() == nil {
			report(err.Error())
		}
		timer.Reset(opts.Interval)
	}
}

func attempt(ctx context.Context, condition Condition, limit time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("no answer within %s", limit))
	defer cancel()
	err := condition.Check(ctx)
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("%w (%w)", context.Cause(ctx), err)
	}
	return err
}

// changes wraps a callback so that it hears each text once in a row.
func changes(callback func(string)) func(string) {
	var previous string
	return func(text string) {
		if callback != nil && text != previous {
			previous = text
			callback(text)
		}
	}
}
