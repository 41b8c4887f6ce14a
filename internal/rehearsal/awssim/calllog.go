package awssim

import (
	"bufio"
	"encoding/json"
	"io"
)

// callLog writes outcomes from a goroutine of its own, so that calls do not
// wait for a disk unless it falls far behind.
type callLog struct {
	outcomes chan Outcome
	over     chan struct{}
	ended    bool
}

func newCallLog(w io.Writer) *callLog {
	l := &callLog{outcomes: make(chan Outcome, 4096), over: make(chan struct{})}
	go l.keepWriting(w)
	return l
}

// keepWriting flushes whenever it has caught up.
func (l *callLog) keepWriting(w io.Writer) {
	defer close(l.over)
	buffered := bufio.NewWriterSize(w, 64<<10)
	encoder := json.NewEncoder(buffered)
	for o := range l.outcomes {
		// A log that cannot be written must not end the account; the record
		// keeps what counts.
		_ = encoder.Encode(o)
		if len(l.outcomes) == 0 {
			_ = buffered.Flush()
		}
	}
	_ = buffered.Flush()
}

// add takes the outcome. The account's lock is held, which keeps the order.
func (l *callLog) add(o Outcome) {
	if l != nil && !l.ended {
		l.outcomes <- o
	}
}

// end writes what is left. The account's lock is held; it may be called again.
func (l *callLog) end() {
	if l != nil && !l.ended {
		l.ended = true
		close(l.outcomes)
		<-l.over
	}
}
