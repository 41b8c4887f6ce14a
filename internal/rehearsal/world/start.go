package world

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/krops-go/krops/internal/cluster"
	"github.com/krops-go/krops/internal/daemon"
	"github.com/krops-go/krops/internal/dirlock"
	"github.com/krops-go/krops/internal/rehearsal/awssim"
)

const lookEvery = 20 * time.Millisecond

// World is a running world, seen from the command that rehearses.
type World struct {
	Dir      string
	Settings Settings
	process  *daemon.Process // nil when another process started it
}

// Start starts the world in dir, or joins the one that runs there, and returns
// once it answers. command is the program with the arguments that make it call
// Serve for the folder. The world ends with this process unless Detach is
// called.
func Start(ctx context.Context, command []string, dir string) (*World, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	w := &World{Dir: dir}
	if w.Settings, err = Prepare(dir); err != nil {
		return nil, err
	}
	_, held, err := dirlock.Find(dir)
	if err != nil {
		return nil, err
	}
	if !held {
		if w.process, err = daemon.Start(command[0], command[1:], dir, Layout(dir).Log()); err != nil {
			return nil, fmt.Errorf("simulated cloud: %w", err)
		}
	}
	if err := w.awaitReady(ctx); err != nil {
		w.process.End()
		return nil, fmt.Errorf("simulated cloud: %w", err)
	}
	return w, nil
}

func (w *World) awaitReady(ctx context.Context) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		_, err := w.Report(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for it to answer: %w; last answer: %w", context.Cause(ctx), err)
		case <-w.process.Exited():
			return w.process.Failure()
		case <-tick.C:
		}
	}
}

// Report returns what happened in the world's AWS account and what is in it.
func (w *World) Report(ctx context.Context) (awssim.Report, error) {
	var report awssim.Report
	client := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialShort(ctx, filepath.Join(w.Dir, controlSocket))
		},
	}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://world/report", nil)
	if err != nil {
		return report, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return report, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return report, fmt.Errorf("asking for the report: %s", resp.Status)
	}
	return report, json.NewDecoder(resp.Body).Decode(&report)
}

// dialShort connects to a unix socket by a path of any length: the kernel
// allows about 100 bytes, so a longer one goes through the folder's descriptor.
func dialShort(ctx context.Context, path string) (net.Conn, error) {
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	var d net.Dialer
	return d.DialContext(ctx, "unix", fmt.Sprintf("/proc/self/fd/%d/%s", folder.Fd(), filepath.Base(path)))
}

// Exited is closed when the world ended by itself. It is nil, which never is
// ready, for a world that another process started.
func (w *World) Exited() <-chan struct{} { return w.process.Exited() }

// Detach lets the world outlive this process.
func (w *World) Detach() error { return w.process.Detach() }

// Stop ends the world with all its clusters, whoever started it, and keeps
// what it knows.
func (w *World) Stop(ctx context.Context) error { return Stop(ctx, w.Dir) }

// Stop ends the world of a folder, if there is one, with all its clusters.
func Stop(ctx context.Context, dir string) error {
	if err := daemon.Stop(ctx, dir); err != nil {
		return err
	}
	// The clusters end with the world; wait until they have.
	folders, err := filepath.Glob(filepath.Join(Layout(dir).clusters(), "*", "*"))
	if err != nil {
		return err
	}
	var errs []error
	for _, folder := range folders {
		errs = append(errs, cluster.Stop(ctx, folder))
	}
	return errors.Join(errs...)
}
