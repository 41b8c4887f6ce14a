package awssim

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// world is the account as its services see it. All methods but Now are called
// with the account's lock held.
type world struct{ s *Server }

var _ service.World = world{}

func (w world) Now() time.Time { return w.s.clock.Now().UTC() }

func (w world) NewID(prefix string, n int) string {
	w.s.ids++
	var digits string
	for block := 0; len(digits) < n; block++ {
		sum := sha256.Sum256(fmt.Appendf(nil, "%d/%d/%d", w.s.seed, w.s.ids, block))
		digits += hex.EncodeToString(sum[:])
	}
	return prefix + digits[:n]
}

// Async implements service.World. Work that ends because the server does is
// not finished: whoever started it resumes it in the next process.
func (w world) Async(work func(ctx context.Context) error, finish func(err error)) {
	s := w.s
	if s.closed {
		return
	}
	s.running.Go(func() {
		err := work(s.life)
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.life.Err() != nil {
			return
		}
		s.settleLocked()
		s.noteLocked(s.members)
		finish(err)
		s.touchLocked(s.members)
		s.settleLocked()
	})
}

func (w world) Await(ctx context.Context, limit time.Duration, done func() bool) bool {
	s := w.s
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for !done() {
		changed := s.changed
		s.mu.Unlock()
		given := false
		select {
		case <-changed:
		case <-timer.C:
			given = true
		case <-ctx.Done():
			given = true
		case <-s.life.Done():
			given = true
		}
		s.mu.Lock()
		if given {
			return done()
		}
		s.settleLocked()
	}
	return true
}

// wakeLocked makes whoever awaits look again.
func (s *Server) wakeLocked() {
	close(s.changed)
	s.changed = make(chan struct{})
}
