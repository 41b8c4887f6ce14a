package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is stamped by the build.
var version = "dev"

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "krops",
		Short:         "From an empty cloud account to a GitOps-managed Kubernetes estate, and back",
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       versionText(),
	}
	root.AddCommand(
		newRehearseCommand(),
		newClusterCommand(),
		newEKSTokenCommand(),
		newWorldCommand(),
	)
	return root
}

func versionText() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return fmt.Sprintf("%s (%s)", version, info.GoVersion)
	}
	return version
}

// beside returns the path of a program in the folder of this one.
func beside(name string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("finding %s: %w", name, err)
	}
	path := filepath.Join(filepath.Dir(self), name)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("finding %s, which belongs beside krops: %w; `make build` builds both", name, err)
	}
	return path, nil
}
