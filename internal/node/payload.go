package node

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// payload is the content of a volume that is made of objects: files by their
// path within it.
type payload map[string]payloadFile

type payloadFile struct {
	content []byte
	mode    os.FileMode
}

func (p payload) equal(q payload) bool {
	return maps.EqualFunc(p, q, func(a, b payloadFile) bool { return a.mode == b.mode && bytes.Equal(a.content, b.content) })
}

// The names that a kubelet uses, which programs that watch such volumes know.
const (
	dataLink   = "..data"
	dataPrefix = "..gen-"
)

// writePayload makes the folder's files those of p, all at once: they are
// links through one link to a folder of this generation, which is replaced by
// a rename.
func writePayload(folder string, generation int, p payload) error {
	current := dataPrefix + strconv.Itoa(generation)
	if err := os.RemoveAll(filepath.Join(folder, current)); err != nil {
		return err
	}
	if err := os.Mkdir(filepath.Join(folder, current), 0o700); err != nil {
		return err
	}
	top := map[string]bool{}
	for name, f := range p {
		if !filepath.IsLocal(name) || strings.HasPrefix(name, "..") {
			return fmt.Errorf("path %q leaves the volume", name)
		}
		target := filepath.Join(folder, current, name)
		if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(target, f.content, f.mode); err != nil {
			return err
		}
		first, _, _ := strings.Cut(filepath.Clean(name), "/")
		top[first] = true
	}
	if err := relink(current, filepath.Join(folder, dataLink)); err != nil {
		return err
	}
	for name := range top {
		if err := relink(filepath.Join(dataLink, name), filepath.Join(folder, name)); err != nil {
			return err
		}
	}
	return removeStale(folder, current, top)
}

// relink makes path a link to target, replacing what is there at once.
func relink(target, path string) error {
	if old, err := os.Readlink(path); err == nil && old == target {
		return nil
	}
	fresh := filepath.Join(filepath.Dir(path), "..new")
	if err := os.Remove(fresh); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.Symlink(target, fresh); err != nil {
		return err
	}
	return os.Rename(fresh, path)
}

// removeStale removes earlier generations and the links to files that are no
// more.
func removeStale(folder, current string, top map[string]bool) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		if name := e.Name(); name != dataLink && name != current && !top[name] {
			errs = append(errs, os.RemoveAll(filepath.Join(folder, name)))
		}
	}
	return errors.Join(errs...)
}
