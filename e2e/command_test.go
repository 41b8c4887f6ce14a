package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// commandWithin bounds one run of krops, on a machine that is busy.
const commandWithin = 4 * time.Minute

// command is a krops that runs, and later what became of it.
type command struct {
	t      *testing.T
	cmd    *exec.Cmd
	lines  chan line // wide enough that krops never waits for the test
	ended  chan struct{}
	events []event
	report *report

	// What it wrote, whole once it ended.
	stdout, stderr bytes.Buffer
	err            error // of its end
}

// line is an event, or the report.
type line struct {
	event
	Report *report `json:"report"`
}

// start starts krops with args and the environment variables.
func start(t *testing.T, env []string, args ...string) *command {
	t.Helper()
	krops, err := kropsBinary()
	if err != nil {
		t.Fatal(err)
	}
	return startProgram(t, env, krops, args...)
}

func startProgram(t *testing.T, env []string, program string, args ...string) *command {
	t.Helper()
	c := &command{t: t, cmd: exec.Command(program, args...), lines: make(chan line, 4096), ended: make(chan struct{})}
	c.cmd.Env = append(os.Environ(), env...)
	c.cmd.Stderr = &c.stderr
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(c.ended)
		defer close(c.lines)
		scanner := bufio.NewScanner(out)
		scanner.Buffer(nil, 16<<20)
		for scanner.Scan() {
			c.stdout.Write(append(scanner.Bytes(), '\n'))
			var l line
			if json.Unmarshal(scanner.Bytes(), &l) == nil {
				c.lines <- l
			}
		}
		c.err = errors.Join(scanner.Err(), c.cmd.Wait())
	}()
	return c
}

// await returns once an event matches. It is an error of the test when krops
// ends without.
func (c *command) await(what string, match func(event) bool) {
	c.t.Helper()
	if !c.reached(match) {
		c.t.Fatalf("krops ended (%v) without %s\n%s", c.err, what, c.story())
	}
}

// reached returns whether an event matched before krops ended.
func (c *command) reached(match func(event) bool) bool {
	c.t.Helper()
	deadline := time.After(commandWithin)
	for {
		select {
		case l, more := <-c.lines:
			if !more {
				<-c.ended
				return false
			}
			if c.take(l); l.Report == nil && match(l.event) {
				return true
			}
		case <-deadline:
			c.stop()
			c.t.Fatalf("krops took longer than %s\n%s", commandWithin, c.story())
		}
	}
}

func (c *command) take(l line) {
	if l.Report != nil {
		c.report = l.Report
		return
	}
	c.events = append(c.events, l.event)
}

// wait returns when krops has ended.
func (c *command) wait() {
	c.t.Helper()
	c.reached(func(event) bool { return false })
}

// succeed waits for the end, which must be a good one, and returns the report.
func (c *command) succeed() *report {
	c.t.Helper()
	if c.wait(); c.err != nil {
		c.t.Fatalf("krops failed: %v\n%s", c.err, c.story())
	}
	if c.report == nil {
		c.t.Fatalf("krops wrote no report\n%s", c.story())
	}
	return c.report
}

// fail waits for the end, which must be a bad one whose message contains all
// the parts, and returns the message.
func (c *command) fail(parts ...string) string {
	c.t.Helper()
	c.wait()
	var exit *exec.ExitError
	if !errors.As(c.err, &exit) || exit.ExitCode() != 1 {
		c.t.Fatalf("krops ended with %v, want exit code 1\n%s", c.err, c.story())
	}
	message := c.stderr.String()
	for _, part := range parts {
		if !strings.Contains(message, part) {
			c.t.Errorf("the message does not say %q:\n%s", part, message)
		}
	}
	return message
}

// signal sends krops alone a signal.
func (c *command) signal(s syscall.Signal) {
	c.t.Helper()
	if err := c.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		c.t.Fatal(err)
	}
}

// kill ends krops alone, without a chance to do anything about it.
func (c *command) kill() {
	c.t.Helper()
	c.signal(syscall.SIGKILL)
	c.wait()
}

// stop is kill for ends of tests, where nothing is said any more.
func (c *command) stop() {
	_ = c.cmd.Process.Kill()
	for range c.lines {
	}
	<-c.ended
}

// story is what krops said, for failures. It must have ended.
func (c *command) story() string {
	var b strings.Builder
	for _, e := range c.events[max(0, len(c.events)-12):] {
		b.WriteString(e.String() + "\n")
	}
	return b.String() + c.stderr.String()
}

// did returns the steps that ended well, in order.
func (c *command) did() []string {
	var steps []string
	for _, e := range c.events {
		if done(e.Step)(e) {
			steps = append(steps, e.Step)
		}
	}
	return slices.Compact(steps)
}
