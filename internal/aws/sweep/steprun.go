package sweep

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/krops-go/krops/internal/aws/awserr"
)

// stepRun is the run of one step: look, ask, look again until AWS says that
// the item does not exist.
type stepRun struct {
	*execution
	step    Step
	started time.Time

	// asked is whether AWS accepted a deletion from this run.
	asked bool
	// stuckSince is since when nothing moves; zero while something does.
	stuckSince time.Time
	// reason and cause are why the item was still there at the last look, and
	// told is what the observer knows of it.
	reason string
	cause  error
	told   string
	pause  time.Duration
}

func (r *stepRun) do(ctx context.Context) Outcome {
	for {
		outcome, again := r.attempt(ctx)
		if outcome != nil {
			return *outcome
		}
		if again {
			// What was just accepted is looked at without a pause, because
			// most kinds are gone at once.
			continue
		}
		if outcome := r.outOfTime(); outcome != nil {
			return *outcome
		}
		if err := r.sleep(ctx); err != nil {
			return interrupted(r.step, err)
		}
	}
}

// attempt looks at the item and asks for its deletion if that makes sense. It
// returns the outcome if there is one, or whether to look again at once.
func (r *stepRun) attempt(ctx context.Context) (outcome *Outcome, again bool) {
	if r.step.Action == Revoke {
		err := r.call(ctx, func(ctx context.Context) error { return r.cloud.Revoke(ctx, r.step.Item) })
		if err == nil || awserr.NotFound(err) {
			return &Outcome{Step: r.step, Result: Deleted}, false
		}
		return r.refused(ctx, "", err), false
	}

	state, err := r.state(ctx)
	switch {
	case err != nil:
		return r.refused(ctx, "unknown whether it still exists: ", err), false
	case state.Phase == Absent:
		return r.absent(), false
	case state.Phase == Deleting:
		r.moving("being deleted")
		return nil, false
	case state.Phase == Held:
		r.stuck(state.Detail, nil)
		return nil, false
	}

	err = r.call(ctx, func(ctx context.Context) error { return r.cloud.Delete(ctx, r.step.Item) })
	switch {
	case err == nil:
		first := !r.asked
		r.asked = true
		if first {
			r.tell(r.step, Requested, "", "")
			return nil, true
		}
		// It is still there after an accepted request; Detail says why, for
		// kinds whose deletion can fail later.
		r.stuck(orElse(state.Detail, "still there after an accepted deletion"), nil)
		return nil, false
	case r.passes(ctx, err):
		r.stuck(err.Error(), err)
		return nil, false
	}
	// The last word is a look: "not found" may be about something the item was
	// attached to, and not every service says it in a way one can tell from a
	// real refusal.
	if state, lookErr := r.state(ctx); lookErr == nil && state.Phase == Absent {
		return r.absent(), false
	}
	if awserr.NotFound(err) {
		r.stuck(err.Error(), err)
		return nil, false
	}
	return r.refused(ctx, "", err), false
}

func (r *stepRun) state(ctx context.Context) (State, error) {
	var state State
	err := r.call(ctx, func(ctx context.Context) (err error) {
		state, err = r.cloud.State(ctx, r.step.Item)
		return err
	})
	return state, err
}

func (r *stepRun) absent() *Outcome {
	result := Gone
	if r.asked {
		result = Deleted
	}
	return &Outcome{Step: r.step, Result: result}
}

// refused ends the step unless the error passes with time.
func (r *stepRun) refused(ctx context.Context, prefix string, err error) *Outcome {
	if ctx.Err() != nil {
		outcome := interrupted(r.step, ctx.Err())
		return &outcome
	}
	if r.passes(ctx, err) {
		r.stuck(prefix+err.Error(), err)
		return nil
	}
	return &Outcome{Step: r.step, Result: Failed, Reason: prefix + err.Error(), Err: err}
}

// passes reports errors that the same call may not meet again: AWS is busy or
// throttles, or one attempt ran out of its own time.
func (r *stepRun) passes(ctx context.Context, err error) bool {
	return ctx.Err() == nil &&
		(awserr.Busy(err) || awserr.Transient(err) || errors.Is(err, context.DeadlineExceeded))
}

// moving notes that the deletion is under way.
func (r *stepRun) moving(reason string) {
	r.stuckSince = time.Time{}
	r.note(reason, nil)
}

// stuck notes that the item is still there and nothing happens to it.
func (r *stepRun) stuck(reason string, cause error) {
	if r.stuckSince.IsZero() {
		r.stuckSince = r.opts.Clock.Now()
	}
	r.note(reason, cause)
}

func (r *stepRun) note(reason string, cause error) {
	// The same refusal reads differently each time, because of its request id.
	if key := orElse(awserr.Code(cause), reason); key != r.told {
		r.told = key
		r.tell(r.step, Waiting, reason, "")
	}
	r.reason, r.cause = reason, cause
}

func (r *stepRun) outOfTime() *Outcome {
	now := r.opts.Clock.Now()
	limit, waited := r.opts.Timeout, now.Sub(r.started)
	if !r.stuckSince.IsZero() && now.Sub(r.stuckSince) >= r.opts.Patience {
		limit, waited = r.opts.Patience, now.Sub(r.stuckSince)
	}
	if waited < limit {
		return nil
	}
	return &Outcome{
		Step: r.step, Result: Failed,
		Reason: fmt.Sprintf("gave up after %s: %s", limit, r.reason), Err: r.cause,
	}
}

// sleep pauses before the next look, each time half as long again.
func (r *stepRun) sleep(ctx context.Context) error {
	if r.pause == 0 {
		r.pause = r.opts.Poll
	} else {
		r.pause = min(r.pause+r.pause/2, r.opts.MaxPoll)
	}
	timer := r.opts.Clock.NewTimer(r.pause)
	defer timer.Stop()
	select {
	case <-timer.C():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func orElse(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}
