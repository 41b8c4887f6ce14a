package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/krops-go/krops/internal/bench/process"
)

// killAfter is how long an interrupted rehearsal may take to end in order.
const killAfter = 20 * time.Second

// rehearsal returns the command and its state folder. What it writes is kept
// for the case that it fails.
func rehearsal(ctx context.Context, s subject, folder string) (cmd *exec.Cmd, state string, said *bytes.Buffer) {
	state = filepath.Join(folder, "s")
	cmd = exec.CommandContext(ctx, s.krops(), "rehearse", "aws", "--root", s.root, "--state-dir", state)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = killAfter
	said = &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = said, said
	return cmd, state, said
}

func failed(err error, said *bytes.Buffer) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w\n%s", err, said)
}

// rehearseTime is how long the whole command takes.
func rehearseTime(ctx context.Context, s subject, folder string) (float64, error) {
	cmd, _, said := rehearsal(ctx, s, folder)
	began := time.Now()
	err := cmd.Run()
	return time.Since(began).Seconds(), failed(err, said)
}

const sampleEvery = 100 * time.Millisecond

// rehearseMemory is the most that all processes of a rehearsal take together at
// any time, in millions of bytes.
func rehearseMemory(ctx context.Context, s subject, folder string) (float64, error) {
	cmd, state, said := rehearsal(ctx, s, folder)
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	tick := time.NewTicker(sampleEvery)
	defer tick.Stop()
	var peak int64
	var sampling error
	for {
		select {
		case err := <-ended:
			if err = errors.Join(failed(err, said), sampling); err != nil {
				return 0, err
			}
			return float64(peak) / 1e6, nil
		case <-tick.C:
			now, err := memory(state)
			if err != nil {
				sampling = err
			}
			peak = max(peak, now)
		}
	}
}

// memory sums what the processes of a rehearsal take now.
func memory(state string) (int64, error) {
	processes, err := process.For(state)
	if err != nil {
		return 0, err
	}
	var sum int64
	for _, p := range processes {
		bytes, err := p.Memory()
		if err != nil {
			return 0, fmt.Errorf("memory of process %v: %w", p, err)
		}
		sum += bytes
	}
	return sum, nil
}
