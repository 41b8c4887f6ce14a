package awssim

// Do runs change with the account's lock held and saves what it changed. It is
// for what happens to an account without its owner calling an API, such as
// that AWS approves a raised quota.
func (s *Server) Do(change func()) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errClosed
	}
	s.settleLocked()
	s.noteLocked(s.members)
	change()
	s.touchLocked(s.members)
	return s.awaitSavedLocked()
}
