package progress

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"github.com/krops-go/krops/internal/lifecycle"
)

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func event(after time.Duration, step string, kind lifecycle.EventKind, detail string) lifecycle.Event {
	return lifecycle.Event{Time: epoch.Add(after), Step: step, Title: "title of " + step, Kind: kind, Detail: detail, Elapsed: time.Second}
}

func TestLines(t *testing.T) {
	var out bytes.Buffer
	l := &lines{out: &out}
	for _, e := range []lifecycle.Event{
		event(0, "a", lifecycle.Started, ""),
		event(3*time.Second, "a", lifecycle.Waiting, "first reason"),
		event(4*time.Second, "a", lifecycle.Waiting, "too soon after it"),
		event(5*time.Second, "a", lifecycle.Waiting, "second reason"),
		event(6*time.Second, "a", lifecycle.Finished, ""),
		event(6*time.Second, "b", lifecycle.Started, ""),
		event(7*time.Second, "b", lifecycle.Failed, "the cause"),
	} {
		l.Observe(e)
	}
	want := `   0.0s  a                    title of a
   3.0s  a                    … first reason
   5.0s  a                    … second reason
   6.0s  a                    done in 1.0s
   6.0s  b                    title of b
   7.0s  b                    FAILED: the cause
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

func TestTree(t *testing.T) {
	m := model{width: 40, now: epoch.Add(3 * time.Second)}
	for _, name := range []string{"a", "b", "c", "d"} {
		m.rows = append(m.rows, row{name: name, title: "title of " + name})
	}
	for _, e := range []lifecycle.Event{
		event(0, "a", lifecycle.Started, ""),
		event(time.Second, "a", lifecycle.Finished, ""),
		event(time.Second, "b", lifecycle.Started, ""),
		event(2*time.Second, "b", lifecycle.Waiting, "something that takes more room than there is"),
		event(time.Second, "c", lifecycle.Started, ""),
		event(2*time.Second, "c", lifecycle.Failed, "the cause"),
	} {
		next, _ := m.Update(e)
		m = next.(model)
	}
	want := `  ✓ title of a 1.0s
  ⠋ title of b 2.0s
    something that takes more room than…
  ✗ title of c 1.0s
  · title of d
`
	if diff := cmp.Diff(want, ansi.Strip(m.View())); diff != "" {
		t.Error(diff)
	}
}

func TestJSON(t *testing.T) {
	var out bytes.Buffer
	JSON(&out).Observe(event(0, "a", lifecycle.Waiting, "why"))
	want := `{"time":"2026-01-02T03:04:05Z","step":"a","title":"title of a","kind":"waiting","detail":"why","elapsedNanoseconds":1000000000}`
	if got := strings.TrimSpace(out.String()); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
