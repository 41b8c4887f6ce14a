// Command krops-cluster is one embedded Kubernetes cluster: its control plane
// and its node, each a process of its own. People use it through krops.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/krops-go/krops/internal/cluster"
	"github.com/krops-go/krops/internal/controlplane"
	"github.com/krops-go/krops/internal/daemon"
	"github.com/krops-go/krops/internal/dirlock"
	"github.com/krops-go/krops/internal/lifeline"
	"github.com/krops-go/krops/internal/node"
	"github.com/krops-go/krops/internal/program"
	"github.com/krops-go/krops/internal/program/capa"
	"github.com/krops-go/krops/internal/program/capi"
	"github.com/krops-go/krops/internal/program/demo"
)

// catalog maps image repositories to the programs that stand for them.
var catalog = program.Catalog{
	"registry.k8s.io/cluster-api/cluster-api-controller":         capi.Run,
	"registry.k8s.io/cluster-api-aws/cluster-api-aws-controller": capa.Run,
	demo.Image: demo.Run,
}

var errParent = errors.New("the process that started the cluster ended")

func main() {
	ctx, cancel := context.WithCancelCause(context.Background())
	if err := lifeline.Watch(func() { cancel(errParent) }); err != nil {
		fatal(err)
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	go func() { cancel(fmt.Errorf("signal %s", <-signals)) }()

	root := &cobra.Command{Use: "krops-cluster", Short: "One embedded Kubernetes cluster (started by krops)", SilenceUsage: true, SilenceErrors: true}
	root.AddCommand(
		processCommand("control-plane", "Run the control plane and the node of a data directory", runControlPlane),
		processCommand("node", "Run the node of a data directory (started by control-plane)", runNode),
	)
	if err := root.ExecuteContext(ctx); err != nil {
		fatal(err)
	}
}

func fatal(err error) {
	fmt.Fprintln(os.Stderr, "krops-cluster:", err)
	os.Exit(1)
}

// processCommand returns the command of a process that holds its folder while
// it runs. It ends by os.Exit as soon as ctx does: Kubernetes' own farewell
// takes a minute, and nothing needs it.
func processCommand(name, short string, run func(ctx context.Context, dir string) error) *cobra.Command {
	var dir string
	command := &cobra.Command{Use: name, Short: short, Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return err
		}
		if err := os.Chdir(abs); err != nil {
			return err
		}
		return run(cmd.Context(), abs)
	}}
	command.Flags().StringVar(&dir, "dir", "", "data directory of the cluster")
	if err := command.MarkFlagRequired("dir"); err != nil {
		fatal(err)
	}
	return command
}

func runControlPlane(ctx context.Context, dir string) error {
	spec, err := cluster.ReadSpec(dir)
	if err != nil {
		return err
	}
	lock, err := dirlock.Acquire(dir, cluster.HolderPrefix+spec.Name)
	if err != nil {
		return err
	}
	// The lock lives as long as the process.
	defer lock.Release()
	giveUp := func(err error) { fatal(errors.Join(err, daemon.Fail(dir, err))) }
	if err := daemon.Reserve(dir); err != nil {
		giveUp(err)
	}
	nodes := keepNode(ctx, dir)
	failed := make(chan error, 1)
	go func() { failed <- controlplane.Run(ctx, dir, giveUp) }()
	select {
	case <-ctx.Done():
	case err = <-failed:
	case err = <-nodes.failed:
	}
	nodes.end()
	if ctx.Err() == nil {
		giveUp(err)
	}
	os.Exit(0)
	return nil
}

func runNode(ctx context.Context, dir string) error {
	if err := os.MkdirAll(cluster.Layout(dir).Pods(), 0o700); err != nil {
		return err
	}
	lock, err := dirlock.Acquire(cluster.Layout(dir).Pods(), "node of the cluster in "+dir)
	if err != nil {
		return err
	}
	defer lock.Release()
	return node.Run(ctx, dir, catalog)
}
