package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/krops-go/krops/internal/cluster"
	"github.com/krops-go/krops/internal/lifeline"
)

// A node process that ends is started again: a program that crashed in a
// goroutine of its own takes it along. One that ends sooner than steadyAfter
// so many times in a row is given up.
const (
	steadyAfter   = 10 * time.Second
	hastyAllowed  = 10
	nodeRestartIn = 200 * time.Millisecond
)

// nodeKeeper keeps a node process running beside the control plane.
type nodeKeeper struct {
	failed chan error // receives why it gave up
	stop   context.CancelFunc
	ended  chan struct{}
}

func keepNode(ctx context.Context, dir string) *nodeKeeper {
	ctx, stop := context.WithCancel(ctx)
	k := &nodeKeeper{failed: make(chan error, 1), stop: stop, ended: make(chan struct{})}
	go func() {
		defer close(k.ended)
		if err := keep(ctx, dir); err != nil {
			k.failed <- err
		}
	}()
	return k
}

// end ends the node and returns when it has.
func (k *nodeKeeper) end() {
	k.stop()
	<-k.ended
}

// keep returns nil when ctx ended, and with it the node.
func keep(ctx context.Context, dir string) error {
	for hasty := 0; ; {
		began := time.Now()
		err := runNodeProcess(ctx, dir)
		if ctx.Err() != nil {
			return nil
		}
		if time.Since(began) > steadyAfter {
			hasty = 0
		}
		log := cluster.Layout(dir).Log("node")
		if hasty++; hasty > hastyAllowed {
			return fmt.Errorf("the node process ended %d times in a row, at last with: %v; its log is %s", hasty, err, log)
		}
		fmt.Fprintf(os.Stderr, "The node process ended (%v) and is started again; its log is %s\n", err, log)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(nodeRestartIn):
		}
	}
}

// runNodeProcess runs the node until it ends by itself or ctx does.
func runNodeProcess(ctx context.Context, dir string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	log, err := os.OpenFile(cluster.Layout(dir).Log("node"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(self, "node", "--dir", dir)
	cmd.Stdout, cmd.Stderr = log, log
	line, err := lifeline.Start(cmd)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, line.Cut)
	defer stop()
	err = cmd.Wait()
	line.Cut()
	return err
}
