// Package progress shows a lifecycle's events to people and programs: as a live
// tree on a terminal, as plain lines elsewhere, and as JSON lines.
package progress

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/krops-go/krops/internal/lifecycle"
)

// Renderer shows events. Close ends the display and may be called once.
type Renderer interface {
	Observe(lifecycle.Event)
	Close() error
}

// ForTerminal returns a live tree when out is a terminal and plain lines
// otherwise. steps are all that will be observed, in order.
func ForTerminal(out *os.File, steps []lifecycle.Step) Renderer {
	if term.IsTerminal(int(out.Fd())) && os.Getenv("TERM") != "dumb" {
		return newTree(out, steps)
	}
	return &lines{out: out}
}

// JSON writes each event as a line of JSON.
func JSON(out io.Writer) Renderer { return &jsonLines{json.NewEncoder(out)} }

type jsonLines struct{ *json.Encoder }

// Observe writes the event. An output that is gone is noticed by its owner.
func (j *jsonLines) Observe(e lifecycle.Event) { _ = j.Encode(e) }
func (j *jsonLines) Close() error              { return nil }

// calm is how long a step's reasons for waiting are kept to one line.
const calm = 2 * time.Second

// lines writes a line for each thing that happens; of the reasons why a step
// waits, one every other second.
type lines struct {
	out   io.Writer
	start time.Time
	said  map[string]time.Time // by step
}

func (l *lines) Observe(e lifecycle.Event) {
	if l.start.IsZero() {
		l.start, l.said = e.Time, map[string]time.Time{}
	}
	if e.Kind == lifecycle.Waiting && e.Time.Sub(l.said[e.Step]) < calm {
		return
	}
	l.said[e.Step] = e.Time
	text := string(e.Kind)
	switch e.Kind {
	case lifecycle.Started:
		text = e.Title
	case lifecycle.Waiting:
		text = "… " + e.Detail
	case lifecycle.Finished:
		text = "done in " + seconds(e.Elapsed)
	case lifecycle.Failed:
		text = "FAILED: " + e.Detail
	}
	fmt.Fprintf(l.out, "%7s  %-20s %s\n", seconds(e.Time.Sub(l.start)), e.Step, text)
}

func (l *lines) Close() error { return nil }

func seconds(d time.Duration) string { return fmt.Sprintf("%.1fs", d.Seconds()) }
