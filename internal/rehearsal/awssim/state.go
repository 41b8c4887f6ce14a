package awssim

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// account is what a change of it means that the file must be written anew.
type account struct {
	Account       string                     `json:"account"`
	IDs           uint64                     `json:"ids"`
	MutatingCalls int                        `json:"mutatingCalls"`
	Services      map[string]json.RawMessage `json:"services"`
}

// stateFile is the account with the record, which changes with every call and
// is only written along.
type stateFile struct {
	State  json.RawMessage `json:"state"`
	Record record          `json:"record"`
}

type objectKey struct{ kind, region, id string }

// loadLocked fills the services from the file, if there is one.
func (s *Server) loadLocked() error {
	if s.stateFile != "" {
		if err := s.readLocked(); err != nil {
			return fmt.Errorf("load the account from %s: %w", s.stateFile, err)
		}
	}
	s.known = objectKeys(s.objectsLocked())
	state, err := s.marshalLocked()
	if err != nil {
		return err
	}
	s.saved = state
	return nil
}

func (s *Server) readLocked() error {
	data, err := os.ReadFile(s.stateFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var file stateFile
	var acc account
	if err := json.Unmarshal(data, &file); err != nil {
		return err
	}
	if err := json.Unmarshal(file.State, &acc); err != nil {
		return err
	}
	if acc.Account != s.account {
		return fmt.Errorf("it holds account %s, not %s: use another file", acc.Account, s.account)
	}
	for _, svc := range s.services {
		state, ok := acc.Services[svc.Name()]
		if !ok {
			continue
		}
		if err := json.Unmarshal(state, svc.State()); err != nil {
			return fmt.Errorf("service %s: %w", svc.Name(), err)
		}
		delete(acc.Services, svc.Name())
	}
	if len(acc.Services) > 0 {
		return fmt.Errorf("it holds services that are not there and would be lost: %v", slices.Sorted(maps.Keys(acc.Services)))
	}
	s.ids = acc.IDs
	s.record = file.Record.orEmpty()
	s.record.MutatingCalls = acc.MutatingCalls
	return nil
}

// commitLocked notes and saves what changed since it was last called, and
// wakes whoever awaits. It does nothing when nothing changed.
func (s *Server) commitLocked() error {
	state, err := s.marshalLocked()
	if err != nil {
		return err
	}
	if bytes.Equal(state, s.saved) {
		return nil
	}
	s.noteObjectsLocked()
	s.wakeLocked()
	if err := s.writeLocked(state); err != nil {
		return err
	}
	s.saved = state
	return nil
}

func (s *Server) marshalLocked() ([]byte, error) {
	acc := account{Account: s.account, IDs: s.ids, MutatingCalls: s.record.MutatingCalls, Services: map[string]json.RawMessage{}}
	for _, svc := range s.services {
		state, err := json.Marshal(svc.State())
		if err != nil {
			return nil, fmt.Errorf("service %s: encode its state: %w", svc.Name(), err)
		}
		acc.Services[svc.Name()] = state
	}
	return json.Marshal(acc)
}

// writeLocked replaces the file, if there is to be one, in one step.
func (s *Server) writeLocked(state []byte) error {
	if s.stateFile == "" {
		return nil
	}
	data, err := json.Marshal(stateFile{State: state, Record: s.record})
	if err != nil {
		return fmt.Errorf("save the account: %w", err)
	}
	if err := replaceFile(s.stateFile, data); err != nil {
		return fmt.Errorf("save the account to %s: %w", s.stateFile, err)
	}
	return nil
}

// replaceFile writes beside the file and renames, so that a reader sees the
// old content or the new. The new file is readable by its owner only.
func replaceFile(path string, data []byte) error {
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = temp.Write(data)
	if closeErr := temp.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	return nil
}

func (s *Server) objectsLocked() []service.Object {
	var all []service.Object
	for _, svc := range s.services {
		all = append(all, svc.Objects()...)
	}
	return all
}

func objectKeys(objects []service.Object) map[objectKey]struct{} {
	keys := make(map[objectKey]struct{}, len(objects))
	for _, o := range objects {
		keys[objectKey{o.Kind, o.Region, o.ID}] = struct{}{}
	}
	return keys
}

// noteObjectsLocked counts what came and went since it was last called.
func (s *Server) noteObjectsLocked() {
	now := objectKeys(s.objectsLocked())
	for key := range now {
		if _, had := s.known[key]; !had {
			s.record.Created[key.kind]++
		}
	}
	for key := range s.known {
		if _, has := now[key]; !has {
			s.record.Deleted[key.kind]++
		}
	}
	s.known = now
}
