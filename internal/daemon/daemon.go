// Package daemon starts and ends processes of ours that may outlive the
// command that started them: one for each folder, which it holds while it runs.
// By default a daemon ends with its starter, see package lifeline.
package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/krops-go/krops/internal/dirlock"
	"github.com/krops-go/krops/internal/lifeline"
)

const (
	stopWithin = 10 * time.Second
	lookEvery  = 20 * time.Millisecond
)

// Process is a daemon that this process started.
type Process struct {
	dir, log string
	line     *lifeline.Line
	exited   chan struct{}
}

// failureFile holds why a daemon gave up, as one message for people.
func failureFile(dir string) string { return filepath.Join(dir, "failure") }

// Start runs binary with args in dir. Its output is appended to log. The
// daemon is expected to hold dir with package dirlock and, when it gives up, to
// say why with Fail.
func Start(binary string, args []string, dir, log string) (*Process, error) {
	if err := os.Remove(failureFile(dir)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	out, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	cmd := exec.Command(binary, args...)
	cmd.Dir = dir
	cmd.Stdout, cmd.Stderr = out, out
	// A session of its own keeps the terminal's Ctrl-C from the daemon: who
	// started it decides when it ends.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	p := &Process{dir: dir, log: log, exited: make(chan struct{})}
	if p.line, err = lifeline.Start(cmd); err != nil {
		return nil, fmt.Errorf("starting %s: %w", binary, err)
	}
	go func() {
		// The reason is in the failure file and the log; the exit code says less.
		_ = cmd.Wait()
		close(p.exited)
	}()
	return p, nil
}

// Exited is closed when the daemon has ended. It is nil, which never is ready,
// for a nil Process.
func (p *Process) Exited() <-chan struct{} {
	if p == nil {
		return nil
	}
	return p.exited
}

// Failure is why the daemon ended by itself.
func (p *Process) Failure() error {
	reason, err := LastFailure(p.dir)
	if err != nil || reason == "" {
		return fmt.Errorf("its process ended unexpectedly; its log is %s", p.log)
	}
	return errors.New(reason)
}

// LastFailure is why the daemon of dir gave up when it last ran, or "" when it
// did not.
func LastFailure(dir string) (string, error) {
	reason, err := os.ReadFile(failureFile(dir))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	return strings.TrimSpace(string(reason)), nil
}

// Detach lets the daemon outlive this process. A nil Process is fine.
func (p *Process) Detach() error {
	if p == nil {
		return nil
	}
	return p.line.Detach()
}

// End ends the daemon and waits until it has ended. A nil Process is fine.
func (p *Process) End() {
	if p == nil {
		return
	}
	p.line.Cut()
	<-p.exited
}

// reserveFile keeps some of the disk for Fail.
func reserveFile(dir string) string { return filepath.Join(dir, "reserve") }

const reserveBytes = 16 << 10

// Reserve sees to it, in the daemon itself, that Fail works on a full disk, too.
func Reserve(dir string) error {
	return os.WriteFile(reserveFile(dir), bytes.Repeat([]byte{'.'}, reserveBytes), 0o600)
}

// Fail records, in the daemon itself, why it gives up.
func Fail(dir string, reason error) error {
	if err := os.Remove(reserveFile(dir)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.WriteFile(failureFile(dir), []byte(reason.Error()+"\n"), 0o600)
}

// Stop ends the daemons that hold the dirs, whoever started them, and returns
// when they have let go. A folder that nobody holds, or that does not exist, is
// success.
func Stop(ctx context.Context, dirs ...string) error {
	for _, dir := range dirs {
		if err := stop(ctx, dir); err != nil {
			return err
		}
	}
	return nil
}

func stop(ctx context.Context, dir string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, stopWithin, fmt.Errorf("it did not end within %s", stopWithin))
	defer cancel()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for signalled := 0; ; {
		holder, held, err := dirlock.Find(dir)
		if err != nil || !held {
			return err
		}
		if holder.PID > 0 && holder.PID != signalled {
			signalled = holder.PID
			if err := syscall.Kill(holder.PID, syscall.SIGTERM); err != nil && !errors.Is(err, syscall.ESRCH) {
				return fmt.Errorf("ending process %d (%s): %w", holder.PID, holder.What, err)
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("ending process %d (%s), which holds %s: %w", holder.PID, holder.What, dir, context.Cause(ctx))
		case <-tick.C:
		}
	}
}
