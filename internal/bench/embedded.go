package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/krops-go/krops/internal/bench/process"
	"github.com/krops-go/krops/internal/cluster"
)

const upWithin = 2 * time.Minute

// withCluster measures on a cluster of this many nodes, which it removes
// afterwards.
func withCluster(ctx context.Context, s subject, folder string, nodes int, measure func(context.Context, *cluster.Cluster, *rest.Config) (float64, error)) (_ float64, err error) {
	ctx, cancel := context.WithTimeout(ctx, upWithin)
	defer cancel()
	dir := filepath.Join(folder, "c")
	spec := cluster.Spec{Name: "bench"}
	for i := range nodes {
		spec.Nodes = append(spec.Nodes, cluster.Node{Name: "node-" + strconv.Itoa(i), Architecture: runtime.GOARCH, CPUs: 64, MemoryMiB: 64 << 10})
	}
	defer func() { err = errors.Join(err, cluster.Delete(context.WithoutCancel(ctx), dir)) }()
	c, err := cluster.Up(ctx, s.cluster(), dir, spec)
	if err != nil {
		return 0, err
	}
	config, err := clientcmd.BuildConfigFromFlags("", c.Layout().Kubeconfig())
	if err != nil {
		return 0, err
	}
	config.QPS, config.Burst = 1000, 1000
	config.WarningHandler = rest.NoWarnings{} // of older versions of the definitions
	return measure(ctx, c, config)
}

// apiServerReadyAgain is how long a cluster that was stopped takes until its
// API server is ready.
func apiServerReadyAgain(ctx context.Context, s subject, folder string) (float64, error) {
	return withCluster(ctx, s, folder, 0, func(ctx context.Context, c *cluster.Cluster, _ *rest.Config) (float64, error) {
		if err := c.Stop(ctx); err != nil {
			return 0, err
		}
		began := time.Now()
		_, err := cluster.Up(ctx, s.cluster(), c.Dir, c.Spec)
		return time.Since(began).Seconds(), err
	})
}

const sideBySide = 4

// fourReady is how long clusters that start together take until all are ready.
func fourReady(ctx context.Context, s subject, folder string) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, upWithin)
	defer cancel()
	dir := func(i int) string { return filepath.Join(folder, strconv.Itoa(i)) }
	began := time.Now()
	var all errgroup.Group
	for i := range sideBySide {
		all.Go(func() error {
			_, err := cluster.Up(ctx, s.cluster(), dir(i), cluster.Spec{Name: strconv.Itoa(i)})
			return err
		})
	}
	err := all.Wait()
	took := time.Since(began)
	for i := range sideBySide {
		err = errors.Join(err, cluster.Delete(context.WithoutCancel(ctx), dir(i)))
	}
	return took.Seconds(), err
}

// controlPlaneMemory is what the control plane takes with the definitions of
// Cluster API and its AWS provider installed, in millions of bytes.
func controlPlaneMemory(ctx context.Context, s subject, folder string) (float64, error) {
	return withCluster(ctx, s, folder, 1, func(ctx context.Context, c *cluster.Cluster, config *rest.Config) (float64, error) {
		if err := installDefinitions(ctx, config, filepath.Join(s.root, definitions)); err != nil {
			return 0, err
		}
		found, err := process.For(c.Dir)
		if err != nil {
			return 0, err
		}
		for _, p := range found {
			if p.Args[1] == "control-plane" {
				bytes, err := p.Memory()
				return float64(bytes) / 1e6, err
			}
		}
		return 0, fmt.Errorf("no control plane among %v", found)
	})
}

// helpTime is how long krops takes to say what it can do, in milliseconds.
func helpTime(ctx context.Context, s subject, _ string) (float64, error) {
	began := time.Now()
	out, err := exec.CommandContext(ctx, s.krops(), "--help").CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("%w: %s", err, out)
	}
	return float64(time.Since(began).Microseconds()) / 1000, nil
}
