package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/krops-go/krops/internal/cluster"
)

// clusterOptions are those of all cluster commands.
type clusterOptions struct{ dir string }

func (o *clusterOptions) AddFlags(f *pflag.FlagSet) {
	f.StringVar(&o.dir, "dir", "", "folder that holds the clusters (default ~/.krops/clusters)")
}

func (o *clusterOptions) registry() (cluster.Registry, error) {
	if o.dir != "" {
		return cluster.Registry(o.dir), nil
	}
	return cluster.DefaultRegistry()
}

func newClusterCommand() *cobra.Command {
	var o clusterOptions
	command := &cobra.Command{
		Use:   "cluster",
		Short: "Run Kubernetes clusters on this machine, without a container engine",
		Long: `Cluster runs Kubernetes clusters for trying things out: a real API server with
its controllers, which needs no container engine, no privileges and no network.

Its nodes run programs instead of containers. A pod whose image no program
stands for is said to be running and does nothing; an annotation and an event
of the pod say so.`,
		Example: `  krops cluster up demo
  export KUBECONFIG=~/.krops/clusters/demo/kubeconfig
  kubectl get nodes
  krops cluster down demo`,
	}
	o.AddFlags(command.PersistentFlags())
	command.AddCommand(
		newClusterUpCommand(&o),
		newClusterListCommand(&o),
		newClusterKubeconfigCommand(&o),
		newClusterLogsCommand(&o),
		newClusterDownCommand(&o),
	)
	return command
}

func newClusterKubeconfigCommand(o *clusterOptions) *cobra.Command {
	return &cobra.Command{
		Use:   "kubeconfig NAME",
		Short: "Print the administrator's kubeconfig of a cluster",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			layout, err := findCluster(o, args[0])
			if err != nil {
				return err
			}
			return printFile(cmd.OutOrStdout(), layout.Kubeconfig())
		},
	}
}

func newClusterLogsCommand(o *clusterOptions) *cobra.Command {
	part := "control-plane"
	command := &cobra.Command{
		Use:   "logs NAME",
		Short: "Print the log of a cluster's own processes (pods have kubectl logs)",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			layout, err := findCluster(o, args[0])
			if err != nil {
				return err
			}
			path := ""
			switch part {
			case "control-plane", "node":
				path = layout.Log(part)
			case "audit":
				path = layout.Audit()
			default:
				return fmt.Errorf("--of=%s: it is control-plane, node or audit", part)
			}
			err = printFile(cmd.OutOrStdout(), path)
			if part == "audit" && errors.Is(err, os.ErrNotExist) {
				return fmt.Errorf("cluster %s has no audit log; krops cluster up %s --audit has it written", args[0], args[0])
			}
			return err
		},
	}
	command.Flags().StringVar(&part, "of", part, "which log: control-plane, node or audit")
	return command
}

func newClusterDownCommand(o *clusterOptions) *cobra.Command {
	return &cobra.Command{
		Use:   "down NAME",
		Short: "End a cluster and remove all of it",
		Long:  "Down ends the processes of a cluster and removes its folder. A cluster that is not there is no error.",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			registry, err := o.registry()
			if err != nil {
				return err
			}
			dir, err := registry.Dir(args[0])
			if err != nil {
				return err
			}
			if err := cluster.Delete(cmd.Context(), dir); err != nil {
				return err
			}
			fmt.Fprintln(cmd.ErrOrStderr(), "The cluster is gone:", dir)
			return nil
		},
	}
}

func findCluster(o *clusterOptions, name string) (cluster.Layout, error) {
	registry, err := o.registry()
	if err != nil {
		return "", err
	}
	return registry.Find(name)
}

func printFile(out io.Writer, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(out, f)
	return err
}
