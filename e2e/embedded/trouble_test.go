package embedded

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/krops-go/krops/internal/dirlock"
)

// refuses fails unless up of the cluster gives one message that says all this.
func (c *testCluster) refuses(t *testing.T, parts ...string) {
	t.Helper()
	_, err := c.krops("up", c.name)
	if err == nil {
		t.Error("the cluster came up")
		c.mustKrops(t, "down", c.name)
		return
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("up says %q, want that it says %q", err, part)
		}
	}
	c.awaitNoProcess(t)
}

func TestTakenPort(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	c := &testCluster{t.TempDir(), "taken"}
	_, err = c.krops("up", c.name, fmt.Sprintf("--port=%d", port))
	if want := fmt.Sprintf("port %d, on which the API server answers, is taken by another process", port); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
	c.mustKrops(t, "down", c.name)
}

func TestForeignLock(t *testing.T) {
	t.Parallel()
	c := &testCluster{t.TempDir(), "held"}
	if err := os.MkdirAll(c.dir(), 0o700); err != nil {
		t.Fatal(err)
	}
	lock, err := dirlock.Acquire(c.dir(), "a test of krops")
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release()
	c.refusesForeign(t)
}

func (c *testCluster) refusesForeign(t *testing.T) {
	t.Helper()
	_, err := c.krops("up", c.name)
	if want := fmt.Sprintf("is in use by process %d (a test of krops)", os.Getpid()); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}

// TestDamage stops a cluster, damages one file after the other, and puts each
// back.
func TestDamage(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "--nodes=0")
	kill(t, c.processes(t)["control-plane"])
	c.awaitNoProcess(t)
	for _, file := range []string{"cluster.json", "pki/ca.crt", "pki/server.key", "pki/sa.key", "etcd/member/snap/db"} {
		path := filepath.Join(c.dir(), file)
		sound, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, bytes.Repeat([]byte("rot "), len(sound)/4+1), 0o600); err != nil {
			t.Fatal(err)
		}
		c.refuses(t, "damaged", "remove the folder "+c.dir())
		if err := os.WriteFile(path, sound, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c.mustKrops(t, "up", c.name)
}

// TestFullDisk runs a cluster on a small file system of its own. The program
// starts itself again where it may mount one.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	const marker = "KROPS_E2E_SMALL_DISK"
	if dir := os.Getenv(marker); dir != "" {
		fullDisk(t, dir)
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cmd := exec.Command("unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
		`mount -t tmpfs -o size=500m krops-e2e "$1" && shift && exec "$@"`, "sh", dir, self, "-test.run=^TestFullDisk$", "-test.v")
	cmd.Env = append(os.Environ(), marker+"="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func fullDisk(t *testing.T, dir string) {
	c, err := up(dir, "small", "--nodes=0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.mustKrops(t, "down", c.name) })
	c.kubectl(t, "create", "configmap", "kept", "--from-literal=key=value")
	free := fill(t, dir)
	big := filepath.Join(t.TempDir(), "big")
	if err := os.WriteFile(big, bytes.Repeat([]byte("x"), 900_000), 0o600); err != nil {
		t.Fatal(err)
	}
	deadline := time.After(settleWithin)
	for i := 0; len(c.processes(t)) > 0; i++ {
		// It fails when the disk is full, which is the point.
		_, _ = output(c.kubectlCommand("create", "configmap", fmt.Sprintf("big-%d", i), "--from-file="+big, "--request-timeout=5s"))
		select {
		case <-deadline:
			t.Fatal("the cluster goes on on a full disk")
		default:
		}
	}
	if l := c.list(t); l.Running || !strings.Contains(l.Failure, "is full, so the cluster's state cannot be written; free some space") {
		t.Errorf("the cluster is listed as %+v, want that its disk is full", l)
	}
	free()
	c.mustKrops(t, "up", c.name)
	if out := c.kubectl(t, "get", "configmap", "kept", "-o", "jsonpath={.data.key}"); out != "value" {
		t.Errorf("with space again: the object has %q, want value", out)
	}
}

// fill takes all space of the file system until the function it returns is
// called.
func fill(t *testing.T, dir string) (free func()) {
	t.Helper()
	path := filepath.Join(dir, "filler")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	block := make([]byte, 64<<10)
	for err == nil {
		_, err = f.Write(block)
	}
	return func() {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}
