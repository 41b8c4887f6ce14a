package environment

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Load reads the environment of that name from the estate's repository at root and checks it against the files that
// it names. What is wrong comes back as Problems, all at once.
func Load(ctx context.Context, root, name string) (*Environment, error) {
	absolute, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("repository %s: %w", root, err)
	}
	data, err := os.ReadFile(filepath.Join(absolute, File))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w in %s: run krops in the checkout of an estate", File, fs.ErrNotExist, absolute)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", File, err)
	}
	doc, err := parse(data)
	if err != nil {
		return nil, err
	}
	section, ok := doc.Environments[name]
	if !ok {
		return nil, Problems{{File: File, Field: "environments." + name, Cause: "does not exist", Fix: declared(doc)}}
	}
	env := section.environment(absolute, name)
	problems := check(env)
	if len(problems) == 0 {
		problems = checkManifests(ctx, env)
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("environment %s: %w", name, err)
	}
	if len(problems) > 0 {
		return nil, problems
	}
	return env, nil
}

func declared(doc document) string {
	names := slices.Sorted(maps.Keys(doc.Environments))
	if len(names) == 0 {
		return "declare it as [environments.<name>]"
	}
	return "name one of " + strings.Join(names, ", ")
}

func (s section) environment(root, name string) *Environment {
	env := &Environment{
		Name:              name,
		Root:              root,
		SyncPath:          s.SyncPath,
		Regions:           s.Regions,
		ManagementCluster: ManagementCluster(s.ManagementCluster),
		Timeouts:          defaultTimeouts(),
		Kubeconfig:        Kubeconfig(s.Kubeconfig),
	}
	for _, provider := range s.Providers {
		env.Providers = append(env.Providers, Provider(provider))
	}
	for _, set := range []struct {
		from duration
		to   *time.Duration
	}{
		{s.Timeouts.BootstrapCluster, &env.Timeouts.BootstrapCluster},
		{s.Timeouts.Providers, &env.Timeouts.Providers},
		{s.Timeouts.ManagementCluster, &env.Timeouts.ManagementCluster},
		{s.Timeouts.Pivot, &env.Timeouts.Pivot},
		{s.Timeouts.Teardown, &env.Timeouts.Teardown},
	} {
		if set.from > 0 {
			*set.to = time.Duration(set.from)
		}
	}
	return env
}
