package ekssim_test

import (
	"context"
	"fmt"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// world is an account without a lock: everything happens in the test's own
// goroutine. Work in the background is kept until somebody waits for it, and
// time passes only while nothing else is left to wait for.
type world struct {
	clock    *clocktesting.FakeClock
	ids      int
	work     []background
	services []service.Service
}

type background struct {
	work   func(context.Context) error
	finish func(error)
}

func newWorld() *world {
	return &world{clock: clocktesting.NewFakeClock(time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC))}
}

func (w *world) Now() time.Time { return w.clock.Now() }

func (w *world) NewID(prefix string, n int) string {
	w.ids++
	return prefix + fmt.Sprintf("%0*x", n, w.ids)
}

func (w *world) Async(work func(context.Context) error, finish func(error)) {
	w.work = append(w.work, background{work, finish})
}

func (w *world) settle() (next time.Time) {
	for _, s := range w.services {
		if due := s.Settle(w.Now()); !due.IsZero() && (next.IsZero() || due.Before(next)) {
			next = due
		}
	}
	return next
}

// step lets one thing happen, and reports whether there was any.
func (w *world) step() bool {
	next := w.settle()
	switch {
	case len(w.work) > 0:
		b := w.work[0]
		w.work = w.work[1:]
		b.finish(b.work(context.Background()))
	case next.After(w.Now()):
		w.clock.SetTime(next)
	default:
		return false
	}
	w.settle()
	return true
}

func (w *world) Await(ctx context.Context, _ time.Duration, done func() bool) bool {
	for !done() {
		if ctx.Err() != nil || !w.step() {
			return false
		}
	}
	return true
}

// quiet lets everything happen that is under way.
func (w *world) quiet() {
	for w.step() {
	}
}
