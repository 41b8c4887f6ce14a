package awssim

import (
	"context"
	"time"

	"github.com/krops-go/krops/internal/rehearsal/awssim/faults"
	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// fault is what happens to a call beside what the service does.
type fault struct {
	call          faults.Call
	before, after bool // the connection is cut
	refusal       *service.Error
	hide          time.Duration // what the call makes
}

// faultLocked decides what befalls the call, and holds it back where it is to
// be late. It lets go of the lock meanwhile.
func (s *Server) faultLocked(ctx context.Context, v *invocation, c service.Credential) fault {
	f := fault{call: faults.Call{
		Service: v.outcome.Service, Operation: v.op.Name, Region: v.outcome.Region, Principal: subjectARN(c.Principal),
	}}
	if s.faults == nil {
		return f
	}
	var late time.Duration
	for _, rule := range s.faults.Decide(f.call) {
		v.outcome.Fault = true
		switch rule.Kind {
		case faults.CutBefore:
			f.before = true
		case faults.CutAfter:
			f.after = true
		case faults.Slow:
			late += time.Duration(rule.Delay)
		case faults.Eventual:
			f.hide = max(f.hide, time.Duration(rule.Delay))
		default:
			f.refusal = rule.Refusal(f.call)
		}
	}
	if f.before {
		v.outcome.Code = cutCode
		s.record.count(v.outcome, v.op.Mutates)
		s.rememberLocked(v.outcome)
		return f
	}
	s.mu.Unlock()
	defer s.mu.Lock()
	if s.faults.Pass(ctx, f.call) == nil && late > 0 {
		timer := s.clock.NewTimer(late)
		defer timer.Stop()
		select {
		case <-timer.C():
		case <-ctx.Done():
		}
	}
	f.before = ctx.Err() != nil // nobody waits for the answer any more
	return f
}

// cutCode stands in the record for the error of a call that was cut off.
const cutCode = "(connection cut)"
