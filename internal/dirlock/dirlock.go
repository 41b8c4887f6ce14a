// Package dirlock gives a directory to one process at a time and tells who
// holds it. The lock ends with its process, however that ends.
package dirlock

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

const file = "lock"

// Holder is the process that holds a directory.
type Holder struct {
	PID  int    `json:"pid"`
	What string `json:"what"` // what it is, for people: "control plane of mgmt"
}

// HeldError reports that another process holds the directory.
type HeldError struct {
	Dir string
	Holder
}

func (e *HeldError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("%s is in use by another process; end that process first", e.Dir)
	}
	return fmt.Sprintf("%s is in use by process %d (%s); end that process first", e.Dir, e.PID, e.What)
}

// Lock is a held directory.
type Lock struct{ f *flock.Flock }

// Acquire takes dir, which must exist, for this process. It does not wait: a
// directory that is taken gives a *HeldError.
func Acquire(dir, what string) (*Lock, error) {
	path := filepath.Join(dir, file)
	f := flock.New(path, flock.SetPermissions(0o600))
	got, err := f.TryLock()
	if err != nil {
		return nil, fmt.Errorf("locking %s: %w", dir, err)
	}
	if !got {
		return nil, &HeldError{Dir: dir, Holder: read(path)}
	}
	text, err := json.Marshal(Holder{PID: os.Getpid(), What: what})
	if err == nil {
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("locking %s: %w", dir, err), f.Unlock())
	}
	return &Lock{f}, nil
}

// Release gives the directory back.
func (l *Lock) Release() error { return l.f.Unlock() }

// Find returns who holds dir. The result is false when nobody does or dir does
// not exist.
func Find(dir string) (Holder, bool, error) {
	path := filepath.Join(dir, file)
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return Holder{}, false, nil
	}
	f := flock.New(path, flock.SetFlag(os.O_RDONLY))
	got, err := f.TryRLock()
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return Holder{}, false, nil
		}
		return Holder{}, false, fmt.Errorf("looking who holds %s: %w", dir, err)
	}
	if got {
		return Holder{}, false, f.Unlock()
	}
	return read(path), true, nil
}

// read returns what the holder wrote, or nothing when it has not yet.
func read(path string) Holder {
	var h Holder
	if text, err := os.ReadFile(path); err == nil {
		if json.Unmarshal(text, &h) != nil {
			return Holder{}
		}
	}
	return h
}
