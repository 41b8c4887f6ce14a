package lifecycle_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"

	"github.com/krops-go/krops/internal/lifecycle"
)

// script runs steps on virtual time and notes what happens.
type script struct{ events []string }

func (s *script) observe(e lifecycle.Event) {
	text := e.Step + " " + string(e.Kind)
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	s.events = append(s.events, text)
}

func takes(d time.Duration) func(context.Context, func(string)) error {
	return func(ctx context.Context, _ func(string)) error {
		select {
		case <-time.After(d):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func step(name string, d time.Duration, needs ...string) lifecycle.Step {
	return lifecycle.Step{Name: name, Needs: needs, Timeout: time.Hour, Run: takes(d)}
}

func execute(ctx context.Context, s *script, steps ...lifecycle.Step) error {
	return lifecycle.Execute(ctx, steps, clock.RealClock{}, s.observe)
}

func TestExecute(t *testing.T) {
	t.Run("runs independent steps at the same time and dependent ones after each other", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var s script
			began := time.Now()
			err := execute(t.Context(), &s, step("a", 3*time.Second), step("b", 2*time.Second), step("c", time.Second, "a", "b"))
			if err != nil {
				t.Fatal(err)
			}
			if got := time.Since(began); got != 4*time.Second {
				t.Errorf("took %s, want 4s", got)
			}
			want := []string{"a started", "b started", "b finished", "a finished", "c started", "c finished"}
			got := slices.Clone(s.events)
			slices.Sort(got[:2]) // both start at once
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	})
	t.Run("does not run a step that is done", func(t *testing.T) {
		var s script
		done := step("a", time.Second)
		done.Done = func(context.Context) (bool, error) { return true, nil }
		done.Run = func(context.Context, func(string)) error { return errors.New("was run") }
		if err := execute(t.Context(), &s, done); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"a started", "a already done"}, s.events); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("fails when it is unknown whether a step is done", func(t *testing.T) {
		var s script
		cause := errors.New("no answer")
		unknown := step("a", time.Second)
		unknown.Done = func(context.Context) (bool, error) { return true, cause }
		unknown.Run = func(context.Context, func(string)) error { t.Error("was run"); return nil }
		if err := execute(t.Context(), &s, unknown); !errors.Is(err, cause) {
			t.Errorf("error %v, want %v", err, cause)
		}
	})
	t.Run("starts nothing after a failure and lets the others finish", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var s script
			cause := errors.New("broken")
			broken := step("a", 0)
			broken.Run = func(context.Context, func(string)) error { return cause }
			err := execute(t.Context(), &s, broken, step("b", time.Second), step("c", 0, "b"))
			var failure *lifecycle.StepError
			if !errors.As(err, &failure) || failure.Step.Name != "a" || !errors.Is(err, cause) {
				t.Errorf("error %v", err)
			}
			if !slices.Contains(s.events, "b finished") || slices.Contains(s.events, "c started") {
				t.Errorf("events %q", s.events)
			}
		})
	})
	t.Run("says what a step waited for when its time is over", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var s script
			slow := lifecycle.Step{Name: "a", Timeout: time.Minute, Run: func(ctx context.Context, waiting func(string)) error {
				waiting("the moon is not up")
				<-ctx.Done()
				return ctx.Err()
			}}
			err := execute(t.Context(), &s, slow)
			if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "not done within 1m0s") {
				t.Errorf("error %v", err)
			}
			if !slices.Contains(s.events, "a waiting: the moon is not up") {
				t.Errorf("events %q", s.events)
			}
		})
	})
	t.Run("reports an interruption as the error although nothing failed", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		cause := errors.New("Ctrl-C")
		var s script
		last := step("a", 0)
		last.Run = func(context.Context, func(string)) error { cancel(cause); return nil }
		if err := execute(ctx, &s, last, step("b", 0, "a")); !errors.Is(err, cause) {
			t.Errorf("error %v, want %v", err, cause)
		}
	})
}

func TestCheck(t *testing.T) {
	for name, test := range map[string]struct {
		steps []lifecycle.Step
		want  string // part of the error; empty for none
	}{
		"a graph":            {[]lifecycle.Step{step("b", 0, "a"), step("a", 0)}, ""},
		"a name twice":       {[]lifecycle.Step{step("a", 0), step("a", 0)}, `"a" stands twice`},
		"a need that is not": {[]lifecycle.Step{step("a", 0, "x")}, `needs "x", which is not a step`},
		"a circle":           {[]lifecycle.Step{step("a", 0, "c"), step("b", 0, "a"), step("c", 0, "b"), step("d", 0)}, "in a circle: a, b, c"},
	} {
		t.Run(name, func(t *testing.T) {
			err := lifecycle.Check(test.steps)
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

func TestJournal(t *testing.T) {
	dir := t.TempDir()
	open := func() *lifecycle.Journal {
		j, err := lifecycle.OpenJournal(dir)
		if err != nil {
			t.Fatal(err)
		}
		return j
	}
	note := func(j *lifecycle.Journal, step string, kind lifecycle.EventKind, elapsed time.Duration) {
		if err := j.Observe(lifecycle.Event{Step: step, Title: "title of " + step, Kind: kind, Elapsed: elapsed}); err != nil {
			t.Fatal(err)
		}
	}
	first := open()
	note(first, "a", lifecycle.Started, 0)
	note(first, "a", lifecycle.Finished, 2*time.Second)
	note(first, "b", lifecycle.Started, 0)
	note(first, "b", lifecycle.Failed, time.Second)

	second := open()
	note(second, "a", lifecycle.Started, 0)
	note(second, "a", lifecycle.AlreadyDone, time.Millisecond)
	want := []lifecycle.Entry{
		{Step: "a", Title: "title of a", Elapsed: 2 * time.Second, Done: true, Attempts: 2},
		{Step: "b", Title: "title of b", Attempts: 1},
	}
	if diff := cmp.Diff(want, second.Entries()); diff != "" {
		t.Error(diff)
	}
	if !second.Begun("b") || second.Begun("c") {
		t.Error("b was begun and c was not")
	}
}
