package gitops

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"
)

// checkReferences follows the kustomization files from the folder on and makes sure that all they name is in the
// repository. kustomize would take a missing path for the address of a remote base and try to fetch it.
func (t tree) checkReferences() error {
	return t.checkFolder(t.dir, map[string]bool{})
}

func (t tree) checkFolder(dir string, seen map[string]bool) error {
	if seen[dir] {
		return nil
	}
	seen[dir] = true
	name, err := kustomizationName(dir)
	if errors.Is(err, fs.ErrNotExist) && dir == t.dir {
		return t.checkCollected(dir, seen)
	}
	file := t.below(filepath.Join(dir, name))
	if err != nil {
		return fmt.Errorf("%s: %w", t.below(dir), err)
	}
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	var named struct {
		Resources  []string `json:"resources"`
		Bases      []string `json:"bases"`
		Components []string `json:"components"`
	}
	if err := yaml.Unmarshal(data, &named); err != nil {
		return fmt.Errorf("%s: is not a kustomization file: %w", file, err)
	}
	for _, list := range [][]string{named.Resources, named.Bases, named.Components} {
		for _, entry := range list {
			if err := t.checkEntry(dir, file, entry, seen); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t tree) checkEntry(dir, file, entry string, seen map[string]bool) error {
	target := filepath.Join(dir, entry)
	info, err := os.Stat(target)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: names %q, which is not in the repository: correct the path, or add the file "+
			"(remote bases are not fetched: vendor them)", file, entry)
	case err != nil:
		return fmt.Errorf("%s: %q: %w", file, entry, err)
	case info.IsDir():
		return t.checkFolder(target, seen)
	}
	return nil
}

// checkCollected looks into the sub-folders that Flux adds as a whole when a folder has no kustomization file.
func (t tree) checkCollected(dir string, seen map[string]bool) error {
	return filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("%s: %w", t.below(name), err)
		}
		if !entry.IsDir() || name == dir {
			return nil
		}
		if _, err := kustomizationName(name); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err := t.checkFolder(name, seen); err != nil {
			return err
		}
		return fs.SkipDir
	})
}

// below returns a path as people know it: relative to the repository.
func (t tree) below(path string) string {
	relative, err := filepath.Rel(t.root, path)
	if err != nil {
		return path
	}
	return filepath.ToSlash(relative)
}
