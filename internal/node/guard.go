package node

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/krops-go/krops/internal/program"
)

// panicError is a program's panic.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v\n%s", e.value, e.stack) }

// guarded runs a program and all it starts with Pod.Go. The first panic in any
// of them ends the others and is the error.
func guarded(ctx context.Context, prog program.Program, pod *program.Pod) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		all   sync.WaitGroup
		once  sync.Once
		crash *panicError
	)
	protect := func(f func()) {
		defer func() {
			if v := recover(); v != nil {
				once.Do(func() { crash = &panicError{v, debug.Stack()} })
				cancel()
			}
		}()
		f()
	}
	pod.Go = func(f func()) { all.Go(func() { protect(f) }) }
	var err error
	protect(func() { err = prog(ctx, pod) })
	// What the program started has nothing to run for any more.
	cancel()
	all.Wait()
	if crash != nil {
		return crash
	}
	return err
}
