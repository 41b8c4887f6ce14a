// Package lifeline ties the life of a child process to its parent's: when the
// parent ends in any way, SIGKILL included, the child learns of it at once and
// ends too, so that a killed run leaves no process behind. A parent that wants
// the child to go on detaches it first.
//
// The line is a pipe. The child holds the reading end: end of file means that
// the parent is gone, a byte before it means that the parent let go.
package lifeline

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync"
)

const variable = "KROPS_LIFELINE_FD"

// Line is the parent's end. Dropping it without Detach ends the child.
type Line struct {
	mu sync.Mutex
	w  *os.File
}

// Start starts cmd with a line to it. The caller keeps the Line reachable for
// as long as the child shall live.
func Start(cmd *exec.Cmd) (*Line, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("lifeline: %w", err)
	}
	defer r.Close()
	cmd.ExtraFiles = append(cmd.ExtraFiles, r)
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	// Descriptors 0 to 2 are the standard streams.
	cmd.Env = append(cmd.Env, variable+"="+strconv.Itoa(2+len(cmd.ExtraFiles)))
	if err := cmd.Start(); err != nil {
		w.Close()
		return nil, err
	}
	return &Line{w: w}, nil
}

// Detach lets the child outlive this process. It is safe on a nil Line and to
// call more than once.
func (l *Line) Detach() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.w == nil {
		return nil
	}
	_, err := l.w.Write([]byte{1})
	l.w.Close()
	l.w = nil
	if err != nil {
		return fmt.Errorf("detaching a child process: %w", err)
	}
	return nil
}

// Cut tells the child to end. It is safe on a nil Line and to call more than
// once.
func (l *Line) Cut() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.w != nil {
		l.w.Close()
		l.w = nil
	}
}

// Watch calls lost once, from another goroutine, when the parent ended without
// detaching this process. A process that was started without a line is on its
// own and lost is never called.
func Watch(lost func()) error {
	value, ok := os.LookupEnv(variable)
	if !ok {
		return nil
	}
	// Grandchildren get lines of their own.
	if err := os.Unsetenv(variable); err != nil {
		return err
	}
	fd, err := strconv.Atoi(value)
	if err != nil || fd < 3 {
		return fmt.Errorf("%s=%q is not a file descriptor", variable, value)
	}
	r := os.NewFile(uintptr(fd), "lifeline")
	if r == nil {
		return fmt.Errorf("%s=%q is not an open file", variable, value)
	}
	go func() {
		defer r.Close()
		var b [1]byte
		if n, _ := r.Read(b[:]); n == 0 {
			lost()
		}
	}()
	return nil
}
