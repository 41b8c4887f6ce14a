package process

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// start runs a shell that waits for the end of its input and has arg among its
// arguments. It has started when start returns.
func start(t *testing.T, arg string) int {
	t.Helper()
	cmd := exec.Command("sh", "-c", "echo; read line", "sh", arg)
	cmd.Env = []string{"MARK=here"}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		_ = cmd.Wait() // read fails at the end of its input
	})
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	return cmd.Process.Pid
}

func TestFor(t *testing.T) {
	folder := t.TempDir()
	want := []int{
		start(t, folder),
		start(t, filepath.Join(folder, "inside")),
		start(t, "--dir="+folder),
	}
	slices.Sort(want)
	start(t, folder+"-other")
	start(t, "--note="+folder+"-other")

	found, err := For(folder)
	if err != nil {
		t.Fatal(err)
	}
	var got []int
	for _, p := range found {
		got = append(got, p.PID)
	}
	if !slices.Equal(got, want) {
		t.Errorf("found %v, want %v", found, want)
	}
}

func TestEnviron(t *testing.T) {
	env, err := Process{PID: start(t, "x")}.Environ()
	if err != nil || !slices.Equal(env, []string{"MARK=here"}) {
		t.Errorf("got %q, %v", env, err)
	}
}

func TestMemory(t *testing.T) {
	t.Run("of a process that runs", func(t *testing.T) {
		got, err := Process{PID: os.Getpid()}.Memory()
		if err != nil || got < 1<<20 {
			t.Errorf("got %d bytes, %v", got, err)
		}
	})
	t.Run("of one that ended is nothing", func(t *testing.T) {
		cmd := exec.Command("true")
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
		got, err := Process{PID: cmd.Process.Pid}.Memory()
		if err != nil || got != 0 {
			t.Errorf("got %d bytes, %v", got, err)
		}
	})
}
