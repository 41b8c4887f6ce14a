package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/krops-go/krops/internal/cluster"
)

func newClusterListCommand(o *clusterOptions) *cobra.Command {
	output := "text"
	command := &cobra.Command{
		Use:   "list",
		Short: "List the clusters of this machine",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if output != "text" && output != "json" {
				return fmt.Errorf("--output=%s: it is text or json", output)
			}
			registry, err := o.registry()
			if err != nil {
				return err
			}
			list, err := registry.List()
			show := printClusters
			if output == "json" {
				show = printClustersJSON
			}
			return errors.Join(show(cmd.OutOrStdout(), list), err)
		},
	}
	command.Flags().StringVar(&output, "output", output, "text or json")
	return command
}

func printClustersJSON(out io.Writer, list []cluster.Status) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(map[string][]cluster.Status{"clusters": list})
}

func printClusters(out io.Writer, list []cluster.Status) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tSTATE\tNODES\tAPI SERVER\tKUBECONFIG")
	for _, c := range list {
		state := "stopped"
		if c.Running {
			state = "running"
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\n", c.Name, state, c.Nodes, c.Endpoint, c.Kubeconfig)
	}
	for _, c := range list {
		if c.Failure != "" {
			fmt.Fprintf(w, "\n%s ended by itself: %s\n", c.Name, c.Failure)
		}
	}
	return w.Flush()
}
