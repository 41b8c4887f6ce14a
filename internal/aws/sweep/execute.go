package sweep

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// ErrExecuted is returned by the second execution of a plan: the account has
// changed since it was made.
var ErrExecuted = errors.New("sweep: this plan was executed already; take a new inventory")

// Options are how patient and how busy an execution is. The zero value suits
// real AWS.
type Options struct {
	// Observer is told of progress; nil means nobody.
	Observer Observer
	// Clock measures waits; nil means the real one.
	Clock clock.Clock
	// Concurrency bounds the calls to AWS at one time; 0 means 12.
	Concurrency int
	// Poll is the first pause between two looks at an item; it grows to
	// MaxPoll. 0 means 1 s and 15 s.
	Poll, MaxPoll time.Duration
	// Timeout bounds one step; 0 means 45 minutes, twice what EKS may take.
	Timeout time.Duration
	// Patience bounds the time for which a step makes no progress, because it
	// is refused, held or throttled; 0 means 15 minutes, in which AWS lets go
	// of the interfaces of deleted load balancers.
	Patience time.Duration
	// CallTimeout bounds one call with its retries; 0 means 3 minutes.
	CallTimeout time.Duration
}

func (o Options) withDefaults() Options {
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.Concurrency <= 0 {
		o.Concurrency = 12
	}
	for _, d := range []struct {
		value    *time.Duration
		fallback time.Duration
	}{
		{&o.Poll, time.Second},
		{&o.MaxPoll, 15 * time.Second},
		{&o.Timeout, 45 * time.Minute},
		{&o.Patience, 15 * time.Minute},
		{&o.CallTimeout, 3 * time.Minute},
	} {
		if *d.value <= 0 {
			*d.value = d.fallback
		}
	}
	return o
}

// Execute runs the plan and returns what became of every step, in the plan's
// order, whether or not there was an error. The error is nil only if every
// step succeeded and no listing had failed; otherwise it lists what is left
// with reasons. When ctx ends, nothing new is asked of AWS.
func (p *Plan) Execute(ctx context.Context, cloud Cloud, opts Options) ([]Outcome, error) {
	if !p.executed.CompareAndSwap(false, true) {
		return nil, ErrExecuted
	}
	opts = opts.withDefaults()
	x := &execution{
		plan:     p,
		cloud:    cloud,
		opts:     opts,
		slots:    make(chan struct{}, opts.Concurrency),
		finished: make([]chan struct{}, len(p.Steps)),
		outcomes: make([]Outcome, len(p.Steps)),
	}
	for i := range x.finished {
		x.finished[i] = make(chan struct{})
	}
	var steps sync.WaitGroup
	for i := range p.Steps {
		steps.Go(func() {
			defer close(x.finished[i])
			x.outcomes[i] = x.follow(ctx, i)
			x.tell(p.Steps[i], Finished, x.outcomes[i].Reason, x.outcomes[i].Result)
		})
	}
	steps.Wait()
	return x.outcomes, leftovers(p, x.outcomes)
}

// execution is one run of a plan.
type execution struct {
	plan  *Plan
	cloud Cloud
	opts  Options
	// slots holds one entry per call under way.
	slots chan struct{}
	// finished[i] is closed once outcomes[i] is written.
	finished []chan struct{}
	outcomes []Outcome

	observing sync.Mutex
}

// follow waits for what step i depends on, then runs it.
func (x *execution) follow(ctx context.Context, i int) Outcome {
	step := x.plan.Steps[i]
	blockers := slices.Clone(step.Blocked)
	for _, j := range step.After {
		<-x.finished[j]
		if before := x.outcomes[j]; before.leftover() {
			blockers = append(blockers, before.Step.String()+" "+string(before.Result))
		}
	}
	if err := ctx.Err(); err != nil {
		return interrupted(step, err)
	}
	if len(blockers) > 0 {
		return Outcome{Step: step, Result: Blocked, Reason: strings.Join(blockers, "; ")}
	}
	x.tell(step, Started, "", "")
	run := &stepRun{execution: x, step: step, started: x.opts.Clock.Now()}
	return run.do(ctx)
}

func (x *execution) tell(step Step, kind EventKind, detail string, result Result) {
	if x.opts.Observer == nil {
		return
	}
	x.observing.Lock()
	defer x.observing.Unlock()
	x.opts.Observer.Observe(Event{
		Time: x.opts.Clock.Now(), Step: step, Kind: kind, Detail: detail, Result: result,
	})
}

// call makes one call to AWS within the limits on concurrency and time.
func (x *execution) call(ctx context.Context, do func(context.Context) error) error {
	select {
	case x.slots <- struct{}{}:
		defer func() { <-x.slots }()
	case <-ctx.Done():
		return ctx.Err()
	}
	attempt, cancel := context.WithTimeout(ctx, x.opts.CallTimeout)
	defer cancel()
	return do(attempt)
}

func interrupted(step Step, err error) Outcome {
	return Outcome{Step: step, Result: Failed, Reason: "interrupted: " + err.Error(), Err: err}
}
