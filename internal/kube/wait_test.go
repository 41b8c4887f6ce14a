package kube

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestWaitFor(t *testing.T) {
	errFirst, errSecond := errors.New("no replicas"), errors.New("one replica")

	t.Run("checks at once and needs no time when the condition holds", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			err := WaitFor(t.Context(), Condition{Check: func(context.Context) error { return nil }}, WaitOptions{})
			if err != nil || time.Since(start) != 0 {
				t.Errorf("err %v after %s", err, time.Since(start))
			}
		})
	})

	t.Run("reports each reason once", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			reasons := []error{errFirst, errFirst, errSecond, errFirst, nil}
			calls := 0
			var heard []string
			err := WaitFor(t.Context(), Condition{Check: func(context.Context) error {
				calls++
				return reasons[calls-1]
			}}, WaitOptions{Progress: func(reason string) { heard = append(heard, reason) }})
			if err != nil || calls != len(reasons) {
				t.Fatalf("err %v after %d checks", err, calls)
			}
			if diff := cmp.Diff([]string{"no replicas", "one replica", "no replicas"}, heard); diff != "" {
				t.Error(diff)
			}
		})
	})

	t.Run("names the condition and the last reason when the time is over", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			err := WaitFor(ctx, Condition{
				Description: "Deployment a/b to be available",
				Check:       func(context.Context) error { return errSecond },
			}, WaitOptions{})
			var timeout *TimeoutError
			if !errors.As(err, &timeout) || !errors.Is(err, errSecond) || !errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("error %v does not carry timeout, reason and cause", err)
			}
			want := "waited 1m0s for Deployment a/b to be available: context deadline exceeded; last reason: one replica"
			if err.Error() != want {
				t.Errorf("got  %s\nwant %s", err, want)
			}
		})
	})

	t.Run("cuts off a check that hangs and keeps trying", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			calls := 0
			var heard []string
			err := WaitFor(ctx, Condition{Check: func(ctx context.Context) error {
				calls++
				if calls == 1 {
					<-ctx.Done()
					return ctx.Err()
				}
				return nil
			}}, WaitOptions{Attempt: 5 * time.Second, Progress: func(reason string) { heard = append(heard, reason) }})
			if err != nil || calls != 2 {
				t.Fatalf("err %v after %d checks", err, calls)
			}
			if diff := cmp.Diff([]string{"no answer within 5s (context deadline exceeded)"}, heard); diff != "" {
				t.Error(diff)
			}
		})
	})

	t.Run("keeps the last real reason when the end cuts off a check", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			calls := 0
			err := WaitFor(ctx, Condition{Check: func(ctx context.Context) error {
				calls++
				if calls == 1 {
					return errFirst
				}
				<-ctx.Done()
				return ctx.Err()
			}}, WaitOptions{})
			if !errors.Is(err, errFirst) {
				t.Errorf("error %v lost the reason", err)
			}
		})
	})

	t.Run("ends when it is cancelled", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			stopped := errors.New("stopped by the user")
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(10*time.Second, func() { cancel(stopped) })
			err := WaitFor(ctx, Condition{Check: func(context.Context) error { return errFirst }}, WaitOptions{})
			if !errors.Is(err, stopped) {
				t.Errorf("error %v does not carry the cause", err)
			}
		})
	})
}
