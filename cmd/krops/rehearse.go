package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/krops-go/krops/internal/environment"
	"github.com/krops-go/krops/internal/lifecycle"
	"github.com/krops-go/krops/internal/progress"
	"github.com/krops-go/krops/internal/rehearsal"
)

type rehearseOptions struct {
	root, stateDir, output, until string
	keep, discard                 bool
}

func (o *rehearseOptions) AddFlags(f *pflag.FlagSet) {
	f.StringVar(&o.root, "root", ".", "the estate's repository, the folder with "+environment.File)
	f.StringVar(&o.stateDir, "state-dir", "", "folder of the rehearsal (default <root>/.krops/rehearsal/<environment>)")
	f.StringVar(&o.output, "output", "text", "text or json: how progress and report are written")
	f.BoolVar(&o.keep, "keep", false, "stop before the teardown and let everything run, to look around")
	f.StringVar(&o.until, "until", "", "stop after the step of this name and let everything run")
	f.BoolVar(&o.discard, "discard", false, "end an unfinished or kept rehearsal and remove all of it")
}

// again is the command that takes the same rehearsal up.
func (o *rehearseOptions) again(name string) string {
	command := "krops rehearse " + name
	if o.root != "." {
		command += " --root " + o.root
	}
	if o.stateDir != "" {
		command += " --state-dir " + o.stateDir
	}
	return command
}

// lastBeforeTeardown is the step after which --keep stops.
const lastBeforeTeardown = lifecycle.StepBootstrapDelete

func newRehearseCommand() *cobra.Command {
	var o rehearseOptions
	command := &cobra.Command{
		Use:   "rehearse ENVIRONMENT",
		Short: "Live an environment's whole life on this machine, against a simulated cloud",
		Long: `Rehearse builds the environment's management cluster in a simulated cloud with
the real controllers, moves Cluster API into it, tears everything down, and
checks that the account is empty.

It needs no account, no container engine and no network. An interrupted
rehearsal goes on where it stopped when the same command is run again.`,
		Example: `  krops rehearse aws
  krops rehearse aws --keep      # stop before the teardown and look around
  krops rehearse aws             # then finish it
  krops rehearse aws --discard   # or throw it away`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runRehearse(cmd.Context(), args[0], o, os.Stdout, os.Stderr)
		},
	}
	o.AddFlags(command.Flags())
	return command
}

func runRehearse(ctx context.Context, name string, o rehearseOptions, stdout, stderr *os.File) error {
	if o.output != "text" && o.output != "json" {
		return fmt.Errorf("--output=%s: it is text or json", o.output)
	}
	if o.keep && o.until != "" {
		return errors.New("--keep and --until: give one of them; --keep is --until=" + lastBeforeTeardown)
	}
	if o.keep {
		o.until = lastBeforeTeardown
	}
	again := o.again(name)
	if o.stateDir == "" {
		o.stateDir = filepath.Join(o.root, ".krops", "rehearsal", name)
	}
	if o.discard {
		if err := rehearsal.Discard(ctx, o.stateDir); err != nil {
			return err
		}
		fmt.Fprintln(stderr, "The rehearsal is gone:", o.stateDir)
		return nil
	}
	env, err := environment.Load(ctx, o.root, name)
	if err != nil {
		return err
	}
	opts, err := rehearsalOptions(env, o)
	if err != nil {
		return err
	}
	var show progress.Renderer
	opts.Observe = func(e lifecycle.Event) { show.Observe(e) }
	r, err := rehearsal.New(opts)
	if err != nil {
		return err
	}
	if o.output == "json" {
		show = progress.JSON(stdout)
	} else {
		show = progress.ForTerminal(stderr, r.Steps())
	}
	report, err := r.Run(ctx)
	err = errors.Join(err, show.Close())
	switch {
	case o.output == "json" && report != nil:
		err = errors.Join(err, printReportJSON(stdout, report))
	case err == nil:
		printReport(stdout, report, o.until == "")
	}
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = fmt.Errorf("interrupted: %w", cause)
		}
		return fmt.Errorf("%w\nRun the same command again to go on from here, or add --discard to throw the rehearsal away.\nLogs are below %s", err, opts.StateDir)
	}
	if o.until != "" && o.output == "text" {
		printKept(stdout, again, r)
	}
	return nil
}

func rehearsalOptions(env *environment.Environment, o rehearseOptions) (rehearsal.Options, error) {
	krops, err := os.Executable()
	if err != nil {
		return rehearsal.Options{}, err
	}
	cluster, err := beside("krops-cluster")
	if err != nil {
		return rehearsal.Options{}, err
	}
	return rehearsal.Options{
		Environment: env, StateDir: o.stateDir, Until: o.until,
		Krops: krops, ClusterBinary: cluster, WorldCommand: []string{krops, worldCommand},
	}, nil
}
