package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"k8s.io/utils/clock"
)

// Execute runs the steps, each as soon as what it needs is done, independent
// ones at the same time. After a failure nothing new is started; what runs is
// let finish. The error joins a *StepError for each step that failed.
func Execute(ctx context.Context, steps []Step, clk clock.PassiveClock, observe Observer) error {
	if err := Check(steps); err != nil {
		return err
	}
	x := &execution{clock: clk, observe: observe}
	results := make(chan result)
	done := map[string]bool{}
	started := map[string]bool{}
	running := 0
	var failures []error
	for {
		if len(failures) == 0 && ctx.Err() == nil {
			for _, s := range steps {
				if started[s.Name] || slices.ContainsFunc(s.Needs, func(n string) bool { return !done[n] }) {
					continue
				}
				started[s.Name] = true
				running++
				go func() { results <- result{s, x.step(ctx, s)} }()
			}
		}
		if running == 0 {
			break
		}
		r := <-results
		running--
		if r.err != nil {
			failures = append(failures, &StepError{r.step, r.err})
			continue
		}
		done[r.step.Name] = true
	}
	if len(failures) == 0 && len(done) < len(steps) {
		return context.Cause(ctx)
	}
	return errors.Join(failures...)
}

type result struct {
	step Step
	err  error
}

type execution struct {
	clock   clock.PassiveClock
	mu      sync.Mutex // serialises observe
	observe Observer
}

func (x *execution) step(ctx context.Context, s Step) error {
	ctx, cancel := context.WithTimeoutCause(ctx, s.Timeout, fmt.Errorf("not done within %s", s.Timeout))
	defer cancel()
	began := x.clock.Now()
	emit := func(kind EventKind, detail string) {
		x.mu.Lock()
		defer x.mu.Unlock()
		now := x.clock.Now()
		x.observe(Event{Time: now, Step: s.Name, Title: s.Title, Kind: kind, Detail: detail, Elapsed: now.Sub(began)})
	}
	emit(Started, "")
	if s.Done != nil {
		done, err := s.Done(ctx)
		if err != nil {
			err = fmt.Errorf("looking whether it is done: %w", err)
			emit(Failed, err.Error())
			return err
		}
		if done {
			emit(AlreadyDone, "")
			return nil
		}
	}
	if err := s.Run(ctx, func(reason string) { emit(Waiting, reason) }); err != nil {
		if cause := context.Cause(ctx); cause != nil && !errors.Is(err, cause) {
			err = fmt.Errorf("%w: %w", cause, err)
		}
		emit(Failed, err.Error())
		return err
	}
	emit(Finished, "")
	return nil
}
