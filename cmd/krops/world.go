package main

import (
	"github.com/spf13/cobra"

	"github.com/krops-go/krops/internal/daemon"
	"github.com/krops-go/krops/internal/rehearsal/world"
)

const worldCommand = "simulated-cloud"

func newWorldCommand() *cobra.Command {
	return &cobra.Command{
		Use:    worldCommand + " DIR",
		Short:  "Run the simulated cloud of a rehearsal's folder (started by rehearse)",
		Args:   cobra.ExactArgs(1),
		Hidden: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			binary, err := beside("krops-cluster")
			if err == nil {
				err = world.Serve(cmd.Context(), args[0], binary)
			}
			if err != nil && cmd.Context().Err() == nil {
				if failErr := daemon.Fail(args[0], err); failErr != nil {
					return failErr
				}
			}
			return err
		},
	}
}
