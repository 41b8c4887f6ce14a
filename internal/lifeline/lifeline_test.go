package lifeline_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/krops-go/krops/internal/lifeline"
)

// The test binary plays the processes: a parent that starts a child and says
// its pid, and a child that lives until its line is lost.
func TestMain(m *testing.M) {
	switch os.Getenv("LIFELINE_ROLE") {
	case "parent":
		parent()
	case "child":
		child()
	default:
		os.Exit(m.Run())
	}
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
}

func parent() {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "LIFELINE_ROLE=child")
	cmd.Stdout = os.Stdout // closed when both have ended
	line, err := lifeline.Start(cmd)
	fail(err)
	if os.Getenv("LIFELINE_DETACH") != "" {
		fail(line.Detach())
	}
	select {} // until it is killed
}

func child() {
	fail(lifeline.Watch(func() {
		fmt.Println("lost")
		os.Exit(0)
	}))
	fmt.Println("alive", os.Getpid())
	select {}
}

// family starts a parent with its child and returns the child's pid.
func family(t *testing.T, env ...string) (parent *exec.Cmd, childPID int, output *bufio.Reader) {
	t.Helper()
	parent = exec.Command(os.Args[0])
	parent.Env = append(append(os.Environ(), "LIFELINE_ROLE=parent"), env...)
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	output = bufio.NewReader(out)
	line, err := output.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscanf(line, "alive %d", &childPID); err != nil {
		t.Fatalf("the child said %q: %v", line, err)
	}
	return parent, childPID, output
}

func TestChildEndsWithItsKilledParent(t *testing.T) {
	parent, _, output := family(t)
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	said, err := io.ReadAll(output) // until the child has ended, too
	if err != nil || string(said) != "lost\n" {
		t.Errorf("the child said %q, %v", said, err)
	}
	_ = parent.Wait() // it was killed
}

func TestDetachedChildOutlivesItsParent(t *testing.T) {
	parent, pid, output := family(t, "LIFELINE_DETACH=yes")
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if _, err := parent.Process.Wait(); err != nil {
		t.Fatal(err)
	}
	child, err := os.FindProcess(pid)
	if err != nil {
		t.Fatal(err)
	}
	// Its line would have been lost by now: the parent is reaped.
	if err := child.Kill(); err != nil {
		t.Fatalf("the child is gone: %v", err)
	}
	said := make(chan string, 1)
	go func() {
		text, _ := io.ReadAll(output)
		said <- string(text)
	}()
	select {
	case text := <-said:
		if text != "" {
			t.Errorf("the detached child said %q", text)
		}
	case <-time.After(10 * time.Second):
		t.Error("the killed child still holds its output")
	}
}

func TestWatchWithoutALine(t *testing.T) {
	if err := lifeline.Watch(func() { t.Error("lost") }); err != nil {
		t.Fatal(err)
	}
}
