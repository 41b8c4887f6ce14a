package awssim

import "time"

// settlePasses bounds how often one service's transition may make another's
// due at the same instant.
const settlePasses = 100

// settleLocked applies every transition that is due. It costs next to nothing
// when none is.
func (s *Server) settleLocked() {
	now := s.clock.Now().UTC()
	for range settlePasses {
		s.due = s.hidden.Settle(now)
		again := false
		for _, m := range s.members {
			wasDue := !m.due.IsZero() && !m.due.After(now)
			if wasDue {
				s.noteLocked(m.reach)
			}
			if wasDue || m.unsettled {
				m.unsettled = false
				m.due = m.Settle(now)
			}
			if wasDue {
				s.touchLocked(m.reach)
				again = true
			}
			if !m.due.IsZero() && (s.due.IsZero() || m.due.Before(s.due)) {
				s.due = m.due
			}
		}
		if !again && (s.due.IsZero() || s.due.After(now)) {
			return
		}
	}
	s.log.Error("transitions stay due", "since", s.due)
	s.due = now.Add(time.Second) // a service's fault must not keep the machine busy
}

// keepSettling applies transitions when they fall due, so that the account
// moves on while nobody calls, and wakes whoever awaits.
func (s *Server) keepSettling() {
	for s.life.Err() == nil {
		s.mu.Lock()
		s.settleLocked()
		changed, due := s.changed, s.due
		s.mu.Unlock()
		if s.sleep(changed, due) {
			s.mu.Lock()
			s.settleLocked()
			s.wakeLocked()
			s.mu.Unlock()
		}
	}
}

// sleep waits for a change or for due, and reports whether it fell due.
func (s *Server) sleep(changed <-chan struct{}, due time.Time) bool {
	if due.IsZero() {
		select {
		case <-changed:
		case <-s.life.Done():
		}
		return false
	}
	now := s.clock.Now()
	if !now.Before(due) {
		return true
	}
	timer := s.clock.NewTimer(due.Sub(now))
	defer timer.Stop()
	if s.clock.Since(now) > time.Millisecond {
		return false // time went on before the timer was set, which is late by that
	}
	select {
	case <-timer.C():
		return true
	case <-changed:
	case <-s.life.Done():
	}
	return false
}
