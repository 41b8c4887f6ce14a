// Package embedded drives clusters that the built krops starts as a person
// does: with kubectl, client-go and Helm.
package embedded

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/krops-go/krops/internal/bench/process"
)

// shared is the cluster of all tests that leave the cluster as it is.
var shared *testCluster

func TestMain(m *testing.M) {
	code, err := runTests(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		code = 1
	}
	os.Exit(code)
}

func runTests(m *testing.M) (code int, err error) {
	if err := checkTools(); err != nil {
		return 1, err
	}
	dir, err := os.MkdirTemp("", "krops-e2e-")
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if shared, err = up(filepath.Join(dir, "clusters"), "shared", "--nodes=2", "--audit"); err != nil {
		return 1, err
	}
	defer func() {
		_, downErr := shared.krops("down", shared.name)
		left, leftErr := process.For(dir)
		if err = errors.Join(err, downErr, leftErr); err == nil && len(left) > 0 {
			err = fmt.Errorf("processes are left: %v", left)
		}
	}()
	return m.Run(), nil
}

func checkTools() error {
	for _, name := range []string{"krops", "krops-cluster"} {
		if _, err := os.Stat(binary(name)); err != nil {
			return fmt.Errorf("%w: run `make build`, or set KROPS_BIN to the folder with the built programs", err)
		}
	}
	if _, err := exec.LookPath("kubectl"); err != nil {
		return fmt.Errorf("%w: install kubectl, or run `make test`, which builds it", err)
	}
	return nil
}

func binary(name string) string {
	return filepath.Join(cmp.Or(os.Getenv("KROPS_BIN"), filepath.Join("..", "..", "bin")), name)
}

// testCluster is a cluster under test.
type testCluster struct {
	registry, name string
}

// up starts a cluster, or starts it again.
func up(registry, name string, flags ...string) (*testCluster, error) {
	c := &testCluster{registry, name}
	_, err := c.krops(append([]string{"up", name}, flags...)...)
	return c, err
}

// newCluster starts a cluster of the test's own, which ends with it.
func newCluster(t *testing.T, flags ...string) *testCluster {
	t.Helper()
	c := &testCluster{t.TempDir(), "own"}
	t.Cleanup(func() { c.mustKrops(t, "down", c.name) })
	c.mustKrops(t, append([]string{"up", c.name}, flags...)...)
	return c
}

func (c *testCluster) dir() string        { return filepath.Join(c.registry, c.name) }
func (c *testCluster) kubeconfig() string { return filepath.Join(c.dir(), "kubeconfig") }

// krops runs a command of krops cluster. The error holds what it said.
func (c *testCluster) krops(args ...string) (string, error) {
	cmd := exec.Command(binary("krops"), append([]string{"cluster", "--dir", c.registry}, args...)...)
	return output(cmd)
}

func (c *testCluster) mustKrops(t *testing.T, args ...string) string {
	t.Helper()
	out, err := c.krops(args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func output(cmd *exec.Cmd) (string, error) {
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("%v: %w: %s", cmd.Args, err, bytes.TrimSpace(errOut.Bytes()))
	}
	return out.String(), nil
}

// kubectl runs kubectl as the administrator.
func (c *testCluster) kubectl(t *testing.T, args ...string) string {
	t.Helper()
	out, err := output(c.kubectlCommand(args...))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (c *testCluster) kubectlCommand(args ...string) *exec.Cmd {
	cmd := exec.Command("kubectl", append([]string{"--kubeconfig", c.kubeconfig()}, args...)...)
	cmd.WaitDelay = settleWithin
	return cmd
}

// apply applies a manifest in a namespace.
func (c *testCluster) apply(t *testing.T, namespace, manifest string) {
	t.Helper()
	cmd := c.kubectlCommand("apply", "-n", namespace, "-f", "-")
	cmd.Stdin = bytes.NewReader([]byte(manifest))
	if _, err := output(cmd); err != nil {
		t.Fatal(err)
	}
}

func (c *testCluster) config(t *testing.T) *rest.Config {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", c.kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	config.QPS, config.Burst = 500, 1000
	return config
}

func (c *testCluster) client(t *testing.T) kubernetes.Interface {
	t.Helper()
	client, err := kubernetes.NewForConfig(c.config(t))
	if err != nil {
		t.Fatal(err)
	}
	return client
}

const (
	lookEvery    = 20 * time.Millisecond
	settleWithin = 40 * time.Second
)

// eventually looks until check returns nil. The last reason is the failure.
func eventually(t *testing.T, check func(ctx context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), settleWithin)
	defer cancel()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		err := check(ctx)
		if err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("not within %s: %v", settleWithin, err)
		}
	}
}
