package awssim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// saving writes the account to its file from one goroutine. Calls that change
// the account wait until what they changed is written; all that wait at the
// same time are served by one write.
type saving struct {
	// The account's lock guards the members. Each change of the account gets
	// the next number.
	want   uint64    // the last change
	done   uint64    // the last change that is in the file
	failed uint64    // the last change that a failed write was to hold
	err    error     // of that write
	counts [2]uint64 // ids and mutating calls in the file
	ended  bool
	wake   *sync.Cond // something above changed
	over   chan struct{}
}

func (s *saving) init(mu *sync.Mutex) {
	s.wake = sync.NewCond(mu)
	s.over = make(chan struct{})
}

// end lets the goroutine finish and waits for it.
func (s *saving) end() {
	s.wake.L.Lock()
	s.ended = true
	s.wake.Broadcast()
	s.wake.L.Unlock()
	<-s.over
}

// keepSaving writes the account whenever it changed, until saving ends.
func (s *Server) keepSaving() {
	defer close(s.saving.over)
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		for s.saving.want == s.saving.done && !s.saving.ended {
			s.saving.wake.Wait()
		}
		if s.saving.ended {
			return
		}
		change := s.saving.want
		data, err := s.encodeLocked(false)
		if err == nil && data != nil {
			s.mu.Unlock()
			err = s.write(data)
			s.mu.Lock()
		}
		if err != nil {
			s.log.Error("save the account", "error", err)
			s.saving.failed, s.saving.err = change, err
			for _, m := range s.members {
				m.unsaved, m.encoded = true, nil
			}
		}
		s.saving.done = change
		s.saving.wake.Broadcast()
		if err == nil && s.saving.want == change {
			for _, m := range s.members {
				if keeper, ok := m.Service.(service.Keeper); ok {
					keeper.Saved()
				}
			}
		}
	}
}

// awaitSavedLocked waits until the account is written as it is now. It lets go
// of the lock meanwhile.
func (s *Server) awaitSavedLocked() error {
	if s.stateFile == "" {
		return nil
	}
	change := s.saving.want
	for s.saving.done < change && !s.saving.ended {
		s.saving.wake.Wait()
	}
	if s.saving.failed >= change && s.saving.err != nil {
		return s.saving.err
	}
	return nil
}

// saveAllLocked writes the account, changed or not.
func (s *Server) saveAllLocked() error {
	data, err := s.encodeLocked(true)
	if err != nil || data == nil {
		return err
	}
	return s.write(data)
}

// encodeLocked returns the file's content, or nil when there is no file or,
// unless always is set, when it would be as it was. Only services that changed
// are encoded anew.
func (s *Server) encodeLocked(always bool) ([]byte, error) {
	if s.stateFile == "" {
		return nil, nil
	}
	s.noteLocked(s.members)
	counts := [2]uint64{s.ids, uint64(s.record.MutatingCalls)}
	changed := always || counts != s.saving.counts
	for _, m := range s.members {
		if !m.unsaved {
			continue
		}
		state, err := json.Marshal(m.State())
		if err != nil {
			return nil, fmt.Errorf("service %s: encode its state: %w", m.Name(), err)
		}
		m.unsaved = false
		if !bytes.Equal(state, m.encoded) {
			m.encoded, changed = state, true
		}
	}
	if !changed {
		return nil, nil
	}
	s.saving.counts = counts
	record, err := json.Marshal(s.record)
	if err != nil {
		return nil, fmt.Errorf("encode the record: %w", err)
	}
	// Put together by hand: what was encoded need not be read again.
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"state":{"account":%s,"ids":%d,"mutatingCalls":%d,"services":{`, strconv.Quote(s.account), s.ids, s.record.MutatingCalls)
	for i, m := range s.members {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Quote(m.Name()) + ":")
		b.Write(m.encoded)
	}
	b.WriteString(`}},"record":`)
	b.Write(record)
	b.WriteByte('}')
	return b.Bytes(), nil
}

func (s *Server) write(data []byte) error {
	if err := replaceFile(s.stateFile, data); err != nil {
		return fmt.Errorf("save the account to %s: %w", s.stateFile, err)
	}
	return nil
}
