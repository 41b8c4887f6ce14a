package awssim

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
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

// loadLocked fills the services from the file, if there is one.
func (s *Server) loadLocked() error {
	if s.stateFile != "" {
		if err := s.readLocked(); err != nil {
			return fmt.Errorf("load the account from %s: %w", s.stateFile, err)
		}
	}
	for _, m := range s.members {
		m.known = objectKeys(m.Objects())
	}
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
