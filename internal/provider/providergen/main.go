// Command providergen writes the Cluster API provider manifests of the estate from the modules that this
// repository builds against, so that the manifests in Git and the code linked into krops cannot drift apart.
//
// For each provider it renders the module's own config/default, names the released image, and adds the label that
// clusterctl adds when it installs a provider. Schema descriptions are removed: they are more than half of each
// file, every dry-run would send them, and people read the API reference instead. Variables of the release
// manifests (${...}) stay as they are; the kustomization.yaml beside the generated files gives them their values.
//
//	providergen -out mgmt/aws/capi-providers
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"sort"
)

func main() {
	out := flag.String("out", "", "folder that holds one sub-folder per provider")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *out); err != nil {
		fmt.Fprintln(os.Stderr, "providergen:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, out string) error {
	if out == "" {
		return fmt.Errorf("-out is required: name the folder that holds capi-system and capa-system")
	}
	for _, r := range releases() {
		files, err := r.generate(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", r.folder, err)
		}
		names := make([]string, 0, len(files))
		for name := range files {
			names = append(names, name)
		}
		sort.Strings(names)
		for _, name := range names {
			path := filepath.Join(out, r.folder, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(path, files[name], 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}
