// Package controlplane is a Kubernetes control plane in one process: etcd, the
// API server and those controllers of the controller manager that a cluster
// without kubelets of the usual kind needs. It serves one cluster for the life
// of the process, since Kubernetes keeps much of its state in globals.
package controlplane

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"

	logsapi "k8s.io/component-base/logs/api/v1"

	"github.com/krops-go/krops/internal/cluster"
)

// neededBytes is what a control plane writes in its first seconds: most of it
// is etcd's preallocated log.
const neededBytes = 300 << 20

// Run runs the control plane of the data directory, which must be the working
// directory, until ctx ends or a part of it fails. A failure that cannot be
// returned goes to giveUp, which must end the process.
func Run(ctx context.Context, dir string, giveUp func(error)) error {
	spec, err := cluster.ReadSpec(dir)
	if err != nil {
		return err
	}
	if err := check(dir, spec); err != nil {
		return err
	}
	go tuneCollector(ctx)
	// Two Kubernetes commands in one process: the second may set up logging
	// again as long as it asks for the same.
	logsapi.ReapplyHandling = logsapi.ReapplyHandlingIgnoreUnchanged

	store, err := startStore(dir, spec, giveUp)
	if err != nil {
		return err
	}
	defer store.Close()
	if err := writeEgress(); err != nil {
		return err
	}
	if spec.Audit {
		if err := writeAuditPolicy(); err != nil {
			return err
		}
	}
	if spec.TokenWebhook != "" {
		if err := writeTokenWebhook(spec.TokenWebhook); err != nil {
			return err
		}
	}
	failed := make(chan error, 3)
	go func() { failed <- fmt.Errorf("etcd failed: %w", <-store.Err()) }()
	go func() { failed <- runAPIServer(ctx, spec) }()
	go func() {
		if err := awaitReady(ctx, spec); err != nil {
			return // ctx ended, and with it everything else
		}
		if err := establish(ctx); err != nil {
			failed <- err
			return
		}
		failed <- runControllers(ctx)
	}()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case err := <-failed:
		return err
	}
}

// check finds what would otherwise fail deep inside etcd or the API server
// with a message that helps nobody.
func check(dir string, spec cluster.Spec) error {
	address := fmt.Sprintf("127.0.0.1:%d", spec.Port)
	l, err := net.Listen("tcp", address)
	if err != nil {
		if errors.Is(err, syscall.EADDRINUSE) {
			return fmt.Errorf("port %d, on which the API server answers, is taken by another process; end it (ss -ltnp 'sport = :%d' shows which it is) and run the command again", spec.Port, spec.Port)
		}
		return fmt.Errorf("listening on %s: %w", address, err)
	}
	if err := l.Close(); err != nil {
		return err
	}
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return fmt.Errorf("looking how much space is left in %s: %w", dir, err)
	}
	free := fs.Bavail * uint64(fs.Bsize)
	if _, err := os.Stat(cluster.Layout(dir).Etcd()); errors.Is(err, os.ErrNotExist) && free < neededBytes {
		return fmt.Errorf("%s has %d MiB of disk space left and a cluster needs %d MiB; free some and run the command again", dir, free>>20, uint64(neededBytes)>>20)
	}
	return nil
}
