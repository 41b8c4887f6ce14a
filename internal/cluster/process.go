package cluster

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/krops-go/krops/internal/daemon"
	"github.com/krops-go/krops/internal/dirlock"
)

// HolderPrefix is how the control plane names itself, before the cluster's
// name, where it holds the data directory.
const HolderPrefix = "control plane of "

const readyEvery = 25 * time.Millisecond

// Cluster is a running embedded cluster.
type Cluster struct {
	Dir  string
	Spec Spec

	process *daemon.Process // nil when another process started the cluster
}

// Layout names the files of the cluster.
func (c *Cluster) Layout() Layout { return Layout(c.Dir) }

// CA returns the certificate that the API server's own is checked against, as PEM.
func (c *Cluster) CA() ([]byte, error) { return os.ReadFile(c.Layout().PKI(CACert)) }

// Up starts the cluster in dir, or joins the one that already runs there, and
// returns once its API server is ready. A new dir is filled, a used one is
// taken up with the state it has. binary is the krops-cluster program.
//
// The cluster ends with this process, however that ends, unless Detach is
// called. An error says why the cluster did not come up; nothing runs then.
func Up(ctx context.Context, binary, dir string, spec Spec) (*Cluster, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(Layout(dir).path("log"), 0o700); err != nil {
		return nil, fmt.Errorf("cluster %s: making its folder: %w", spec.Name, err)
	}
	if holder, held, err := dirlock.Find(dir); err != nil {
		return nil, err
	} else if held && holder.PID != 0 && !strings.HasPrefix(holder.What, HolderPrefix) {
		return nil, fmt.Errorf("cluster %s: %w", spec.Name, &dirlock.HeldError{Dir: dir, Holder: holder})
	} else if held {
		return join(ctx, dir)
	}
	if spec, err = settle(dir, spec); err != nil {
		return nil, fmt.Errorf("cluster %s: %w", spec.Name, err)
	}
	if err := ensurePKI(dir, spec); err != nil {
		return nil, fmt.Errorf("cluster %s: its certificates: %w", spec.Name, err)
	}
	if err := writeKubeconfig(dir, spec); err != nil {
		return nil, fmt.Errorf("cluster %s: writing its kubeconfig: %w", spec.Name, err)
	}
	c := &Cluster{Dir: dir, Spec: spec}
	if c.process, err = daemon.Start(binary, []string{"control-plane", "--dir", dir}, dir, c.Layout().Log("control-plane")); err != nil {
		return nil, fmt.Errorf("cluster %s: %w", spec.Name, err)
	}
	if err := c.awaitReady(ctx); err != nil {
		c.process.End()
		return nil, err
	}
	return c, nil
}

// join returns a handle on the cluster that another process started in dir.
func join(ctx context.Context, dir string) (*Cluster, error) {
	spec, err := ReadSpec(dir)
	if err != nil {
		return nil, err
	}
	c := &Cluster{Dir: dir, Spec: spec}
	return c, c.awaitReady(ctx)
}

func (c *Cluster) awaitReady(ctx context.Context) error {
	client, err := c.readinessClient()
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()
	tick := time.NewTicker(readyEvery)
	defer tick.Stop()
	var last error
	for {
		if last = ready(ctx, client, c.Spec.Endpoint()); last == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("cluster %s: waiting for its API server to be ready: %w; last answer: %w; its log is %s",
				c.Spec.Name, context.Cause(ctx), last, c.Layout().Log("control-plane"))
		case <-c.process.Exited():
			return fmt.Errorf("cluster %s: %w", c.Spec.Name, c.process.Failure())
		case <-tick.C:
		}
	}
}

func (c *Cluster) readinessClient() (*http.Client, error) {
	ca, err := c.CA()
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	return &http.Client{
		Timeout:   5 * time.Second,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}},
	}, nil
}

func ready(ctx context.Context, client *http.Client, endpoint string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, endpoint+"/readyz", nil)
	if err != nil {
		return err
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("/readyz says %s", resp.Status)
	}
	return nil
}

// Detach lets the cluster outlive this process.
func (c *Cluster) Detach() error { return c.process.Detach() }

// Stop ends the processes of the cluster, whoever started them, and keeps its
// state. It returns when they are gone. The state needs no farewell: the
// store's files are whole at every moment.
func (c *Cluster) Stop(ctx context.Context) error { return Stop(ctx, c.Dir) }

// Stop ends whatever runs in dir and keeps the state. An absent dir is success.
func Stop(ctx context.Context, dir string) error {
	return daemon.Stop(ctx, dir, Layout(dir).Pods())
}

// Delete ends whatever runs in dir and removes the directory. An absent one is
// success.
func Delete(ctx context.Context, dir string) error {
	if err := Stop(ctx, dir); err != nil {
		return err
	}
	// The name goes at once, so that an interrupted removal leaves nothing that
	// looks like a cluster; its remains go with the next removal.
	gone := dir + ".removed"
	if err := os.RemoveAll(gone); err != nil {
		return fmt.Errorf("removing the cluster's folder: %w", err)
	}
	if err := os.Rename(dir, gone); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("removing the cluster's folder: %w", err)
	}
	if err := os.RemoveAll(gone); err != nil {
		return fmt.Errorf("removing the cluster's folder: %w", err)
	}
	return nil
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("looking for a free port: %w", err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
