package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/krops-go/krops/internal/bench/process"
)

// rehearsal is a rehearsal's folder with the commands that act on it. What a
// test leaves of it is removed at the test's end.
type rehearsal struct {
	t    *testing.T
	root string // the estate
	dir  string // the state
	// home and temp stand for the user's folders, where nothing may be left.
	home, temp string
}

func newRehearsal(t *testing.T) *rehearsal {
	t.Helper()
	root, err := filepath.Abs(estateRoot)
	if err != nil {
		t.Fatal(err)
	}
	base, err := os.MkdirTemp("", "krops")
	if err != nil {
		t.Fatal(err)
	}
	r := &rehearsal{t: t, root: root, dir: filepath.Join(base, "s"), home: filepath.Join(base, "home"), temp: filepath.Join(base, "tmp")}
	for _, folder := range []string{r.home, r.temp} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		r.killAll()
		if t.Failed() {
			t.Logf("the rehearsal's files are kept in %s", base)
			return
		}
		if err := os.RemoveAll(base); err != nil {
			t.Error(err)
		}
	})
	return r
}

// start starts `krops rehearse aws` with more arguments.
func (r *rehearsal) start(args ...string) *command {
	r.t.Helper()
	c := start(r.t, r.env(), r.args(args...)...)
	r.t.Cleanup(c.stop)
	return c
}

func (r *rehearsal) env() []string {
	return []string{"HOME=" + r.home, "XDG_CONFIG_HOME=", "XDG_CACHE_HOME=", "TMPDIR=" + r.temp}
}

func (r *rehearsal) args(more ...string) []string {
	return append([]string{"rehearse", "aws", "--output", "json", "--root", r.root, "--state-dir", r.dir}, more...)
}

// discard throws the rehearsal away.
func (r *rehearsal) discard() {
	r.t.Helper()
	c := r.start("--discard")
	if c.wait(); c.err != nil {
		r.t.Fatalf("discarding: %v\n%s", c.err, c.story())
	}
}

func (r *rehearsal) path(elem ...string) string {
	return filepath.Join(append([]string{r.dir}, elem...)...)
}

func (r *rehearsal) bootstrapCluster(file string) string { return r.path("bootstrap-cluster", file) }
func (r *rehearsal) managementCluster(file string) string {
	return r.path("world", "clusters", "eu-north-1", "eu-north-1-management", file)
}

// worldSettings is where the simulated AWS keeps how it is reached.
type worldSettings struct {
	Port            int    `json:"port"`
	AccessKeyID     string `json:"accessKeyID"`
	SecretAccessKey string `json:"secretAccessKey"`
}

func (r *rehearsal) world() worldSettings {
	r.t.Helper()
	var s worldSettings
	readJSON(r.t, r.path("world", "world.json"), &s)
	return s
}

func (r *rehearsal) worldPort() int { r.t.Helper(); return r.world().Port }

// clusterPort is the port of the API server whose settings are in a file.
func (r *rehearsal) clusterPort(file string) int {
	r.t.Helper()
	var s struct {
		Port int `json:"port"`
	}
	readJSON(r.t, file, &s)
	return s.Port
}

func readJSON(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// cloud asks the simulated AWS, which must run, what happened in it so far.
func (r *rehearsal) cloud() cloudReport {
	r.t.Helper()
	report, err := r.askCloud()
	if err != nil {
		r.t.Fatalf("asking the simulated AWS: %v", err)
	}
	return report
}

func (r *rehearsal) askCloud() (cloudReport, error) {
	var report cloudReport
	client := http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", r.path("world", "control.sock"))
		},
	}}
	resp, err := client.Get("http://world/report")
	if err != nil {
		return report, err
	}
	defer resp.Body.Close()
	return report, json.NewDecoder(resp.Body).Decode(&report)
}

// processes are all that belong to the rehearsal.
func (r *rehearsal) processes() []process.Process {
	r.t.Helper()
	found, err := process.For(r.dir)
	if err != nil {
		r.t.Fatal(err)
	}
	return found
}

// killAll ends all processes of the rehearsal at once, as a crash of the
// machine would, and returns when they are gone.
func (r *rehearsal) killAll() {
	r.t.Helper()
	for _, p := range r.processes() {
		if err := syscall.Kill(p.PID, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			r.t.Error(err)
		}
	}
	r.awaitNoProcess()
}

// readFolder returns the names in a folder; none if it is absent.
func readFolder(t *testing.T, path string) []string {
	t.Helper()
	entries, err := os.ReadDir(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
