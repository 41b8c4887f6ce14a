package lifecycle

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/krops-go/krops/internal/wholefile"
)

// Journal remembers across runs which steps were begun and how long they took.
// It decides nothing that the live state can tell: a lost journal costs time
// only.
type Journal struct {
	path string

	mu      sync.Mutex
	entries []Entry
}

// Entry is what is remembered of one step.
type Entry struct {
	Step  string `json:"step"`
	Title string `json:"title"`
	// Elapsed is how long the run took that did the work; zero while there was none.
	Elapsed time.Duration `json:"elapsedNanoseconds"`
	Done    bool          `json:"done"`
	// Attempts counts the runs that began the step.
	Attempts int `json:"attempts"`
}

// OpenJournal reads the journal of a state folder. An absent or damaged one is
// empty: nothing depends on it.
func OpenJournal(dir string) (*Journal, error) {
	j := &Journal{path: filepath.Join(dir, "journal.json")}
	text, err := os.ReadFile(j.path)
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("reading the journal: %w", err)
	default:
		if json.Unmarshal(text, &j.entries) != nil {
			j.entries = nil
		}
	}
	return j, nil
}

// Observe records what an event says and stores it.
func (j *Journal) Observe(event Event) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	e := j.entryLocked(event)
	switch event.Kind {
	case Started:
		e.Attempts++
	case Finished:
		e.Elapsed, e.Done = event.Elapsed, true
	case AlreadyDone:
		e.Done = true
	default:
		return nil
	}
	text, err := json.MarshalIndent(j.entries, "", "  ")
	if err != nil {
		return err
	}
	if err := wholefile.Write(j.path, text); err != nil {
		return fmt.Errorf("writing the journal: %w", err)
	}
	return nil
}

func (j *Journal) entryLocked(event Event) *Entry {
	for i := range j.entries {
		if j.entries[i].Step == event.Step {
			return &j.entries[i]
		}
	}
	j.entries = append(j.entries, Entry{Step: event.Step, Title: event.Title})
	return &j.entries[len(j.entries)-1]
}

// Begun reports whether any run began the step.
func (j *Journal) Begun(step string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, e := range j.entries {
		if e.Step == step {
			return e.Attempts > 0
		}
	}
	return false
}

// Entries returns what is remembered, in the order in which steps first began.
func (j *Journal) Entries() []Entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	return append([]Entry(nil), j.entries...)
}
