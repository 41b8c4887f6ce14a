package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/krops-go/krops/internal/cluster"
)

type clusterUpOptions struct {
	*clusterOptions
	port, nodes, cpus, memoryMiB int
	issuer, accountKeyFile       string
	audit, durable               bool
	timeout                      time.Duration
}

func (o *clusterUpOptions) AddFlags(f *pflag.FlagSet) {
	f.IntVar(&o.port, "port", 0, "port of the API server on 127.0.0.1 (default any free one, the same ever after)")
	f.IntVar(&o.nodes, "nodes", 1, "number of nodes")
	f.IntVar(&o.cpus, "cpus", 8, "CPUs that each node says it has")
	f.IntVar(&o.memoryMiB, "memory", 16<<10, "memory that each node says it has, in MiB")
	f.BoolVar(&o.audit, "audit", false, "note each request to the API server (krops cluster logs NAME --of=audit)")
	f.StringVar(&o.issuer, "issuer", "", "issuer of service account tokens (default the API server's URL)")
	f.StringVar(&o.accountKeyFile, "account-key", "", "PEM file with the private key that signs service account tokens (default one of the cluster's own)")
	f.BoolVar(&o.durable, "durable", false, "write every change through to the disk, so that it survives a power cut")
	f.DurationVar(&o.timeout, "timeout", time.Minute, "how long to wait for the API server")
}

func newClusterUpCommand(shared *clusterOptions) *cobra.Command {
	o := clusterUpOptions{clusterOptions: shared}
	command := &cobra.Command{
		Use:   "up NAME",
		Short: "Start a cluster, new or not, and leave it running",
		Long: `Up starts a cluster and returns when its API server is ready. A cluster that was
stopped, by a reboot for example, goes on with the state it has. Settings that
are not given stay as they are; a running cluster whose settings change is
started again.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runClusterUp(cmd.Context(), args[0], o, cmd.Flags().Changed, cmd.OutOrStdout())
		},
	}
	o.AddFlags(command.Flags())
	return command
}

func runClusterUp(ctx context.Context, name string, o clusterUpOptions, given func(flag string) bool, out io.Writer) error {
	if o.port < 0 || o.port > 65535 {
		return fmt.Errorf("--port=%d: it is a number up to 65535", o.port)
	}
	if o.nodes < 0 || o.cpus < 1 || o.memoryMiB < 1 {
		return fmt.Errorf("--nodes=%d, --cpus=%d, --memory=%d: a node needs at least one of each", o.nodes, o.cpus, o.memoryMiB)
	}
	registry, err := o.registry()
	if err != nil {
		return err
	}
	binary, err := beside("krops-cluster")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, o.timeout, fmt.Errorf("it took longer than %s (--timeout)", o.timeout))
	defer cancel()
	up, err := registry.Change(ctx, binary, name, func(s *cluster.Spec) { o.apply(s, given) })
	if err != nil {
		return err
	}
	if err := up.Detach(); err != nil {
		return err
	}
	fmt.Fprintf(out, `Cluster %s runs at %s.

  export KUBECONFIG=%s
  kubectl --context %s get nodes,pods -A

To look into it:  krops cluster logs %s
To remove it:     krops cluster down %s
`, name, up.Spec.Endpoint(), up.Layout().Kubeconfig(), name, name, name)
	return nil
}

// apply puts what was given on the command line into the settings. A new
// cluster has no nodes yet and gets them from the defaults.
func (o *clusterUpOptions) apply(s *cluster.Spec, given func(flag string) bool) {
	if given("port") {
		s.Port = o.port
	}
	if given("audit") {
		s.Audit = o.audit
	}
	if given("issuer") {
		s.Issuer = o.issuer
	}
	if given("account-key") {
		s.AccountKeyFile = o.accountKeyFile
	}
	if given("durable") {
		s.Durable = o.durable
	}
	if s.Nodes == nil || given("nodes") || given("cpus") || given("memory") {
		s.Nodes = []cluster.Node{}
		for i := range o.nodes {
			s.Nodes = append(s.Nodes, cluster.Node{
				Name: "node-" + strconv.Itoa(i+1), Architecture: runtime.GOARCH, CPUs: o.cpus, MemoryMiB: o.memoryMiB,
			})
		}
	}
}
