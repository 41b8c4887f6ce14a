package gitops

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/fluxcd/pkg/kustomize"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/resmap"
	kustypes "sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// tree is one folder of the estate that is about to be built. All paths but path are absolute and free of symlinks.
type tree struct {
	root string
	path string
	dir  string
}

func openTree(root, path string) (tree, error) {
	if !filepath.IsLocal(path) {
		return tree{}, fmt.Errorf("render %q: the path must be relative to the repository and stay inside it", path)
	}
	absolute, err := filepath.Abs(root)
	if err != nil {
		return tree{}, fmt.Errorf("render %s: %w", path, err)
	}
	if absolute, err = filepath.EvalSymlinks(absolute); err != nil {
		return tree{}, fmt.Errorf("render %s: repository root: %w", path, err)
	}
	dir, err := filepath.EvalSymlinks(filepath.Join(absolute, path))
	if errors.Is(err, fs.ErrNotExist) {
		return tree{}, fmt.Errorf("render %s: %w: there is no such folder in the repository", path, fs.ErrNotExist)
	}
	if err != nil {
		return tree{}, fmt.Errorf("render %s: %w", path, err)
	}
	inside, err := filepath.Rel(absolute, dir)
	if err != nil || !filepath.IsLocal(inside) {
		return tree{}, fmt.Errorf("render %s: a symbolic link leads out of the repository: replace it by the folder itself", path)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return tree{}, fmt.Errorf("render %s: %w", path, err)
	}
	if !info.IsDir() {
		return tree{}, fmt.Errorf("render %s: is a file: name the folder that holds it, Flux builds folders only", path)
	}
	return tree{root: absolute, path: path, dir: dir}, nil
}

// relative turns the absolute paths in an error of the kustomize libraries into paths below the repository.
func (t tree) relative(err error) string {
	return strings.ReplaceAll(err.Error(), t.root+string(filepath.Separator), "")
}

type generatedFile struct {
	file string
	data []byte
}

// kustomization returns the kustomization file that Flux would build from: the folder's own one, or a generated one,
// with the patches added. Flux's generator rewrites the folder on disk, so it works on a copy of what it reads.
func (t tree) kustomization(opts Options) (generatedFile, error) {
	copied, err := os.MkdirTemp("", "krops-render-")
	if err != nil {
		return generatedFile{}, fmt.Errorf("render %s: %w", t.path, err)
	}
	defer os.RemoveAll(copied)
	if copied, err = filepath.EvalSymlinks(copied); err != nil {
		return generatedFile{}, fmt.Errorf("render %s: %w", t.path, err)
	}
	if err := copyManifests(copied, t.dir); err != nil {
		return generatedFile{}, fmt.Errorf("render %s: %w", t.path, err)
	}
	spec, err := fluxSpec(opts.Patches)
	if err != nil {
		return generatedFile{}, fmt.Errorf("render %s: %w", t.path, err)
	}
	if _, err := kustomize.NewGenerator(copied, spec).WriteFile(copied); err != nil {
		return generatedFile{}, fmt.Errorf("render %s: %s", t.path,
			strings.ReplaceAll(err.Error(), copied+string(filepath.Separator), filepath.ToSlash(t.path)+"/"))
	}
	name, err := kustomizationName(copied)
	if err != nil {
		return generatedFile{}, fmt.Errorf("render %s: %w", t.path, err)
	}
	data, err := os.ReadFile(filepath.Join(copied, name))
	if err != nil {
		return generatedFile{}, fmt.Errorf("render %s: %w", t.path, err)
	}
	if opts.Origins {
		if data, err = withOrigins(data); err != nil {
			return generatedFile{}, fmt.Errorf("render %s: %w", t.path, err)
		}
	}
	return generatedFile{file: filepath.Join(t.dir, name), data: data}, nil
}

// kustomizationName returns the folder's kustomization file, or fs.ErrNotExist.
func kustomizationName(dir string) (string, error) {
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		info, err := os.Stat(filepath.Join(dir, name))
		if err == nil && !info.IsDir() {
			return name, nil
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return "", fmt.Errorf("kustomization file: %w", fs.ErrNotExist)
}

// copyManifests copies the files that Flux's generator looks at.
func copyManifests(target, source string) error {
	return filepath.WalkDir(source, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(source, name)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return os.MkdirAll(filepath.Join(target, relative), 0o700)
		}
		switch extension := filepath.Ext(name); {
		case !entry.Type().IsRegular():
			return nil
		case extension != ".yaml" && extension != ".yml" && entry.Name() != "Kustomization":
			return nil
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(target, relative), data, 0o600)
	})
}

// fluxSpec is the part of a Flux Kustomization object that its generator reads.
func fluxSpec(patches []Patch) (unstructured.Unstructured, error) {
	list := make([]any, 0, len(patches))
	for _, patch := range patches {
		entry, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&patch)
		if err != nil {
			return unstructured.Unstructured{}, err
		}
		list = append(list, entry)
	}
	spec := map[string]any{}
	if len(list) > 0 {
		spec["patches"] = list
	}
	return unstructured.Unstructured{Object: map[string]any{"spec": spec}}, nil
}

func withOrigins(data []byte) ([]byte, error) {
	var file kustypes.Kustomization
	if err := yaml.Unmarshal(data, &file); err != nil {
		return nil, err
	}
	file.BuildMetadata = []string{kustypes.OriginAnnotations}
	return yaml.Marshal(file)
}

func decode(data []byte, into any) error { return yaml.Unmarshal(data, into) }

func checkTarget(built resmap.ResMap, patch Patch) error {
	if patch.Target == nil {
		return nil // kustomize itself refuses a patch without a target that matches nothing
	}
	selector := kustypes.Selector{
		LabelSelector:      patch.Target.LabelSelector,
		AnnotationSelector: patch.Target.AnnotationSelector,
	}
	selector.Group, selector.Version, selector.Kind = patch.Target.Group, patch.Target.Version, patch.Target.Kind
	selector.Name, selector.Namespace = patch.Target.Name, patch.Target.Namespace
	selected, err := built.Select(selector)
	if err != nil {
		return err
	}
	if len(selected) == 0 {
		return fmt.Errorf("its target selects no object (kind %q, namespace %q, name %q): name an object of this folder",
			patch.Target.Kind, patch.Target.Namespace, patch.Target.Name)
	}
	return nil
}

// overlay is a file system with the content of one file replaced.
type overlay struct {
	filesys.FileSystem
	file string
	data []byte
}

func (o overlay) ReadFile(path string) ([]byte, error) {
	if path == o.file {
		return o.data, nil
	}
	return o.FileSystem.ReadFile(path)
}

func (o overlay) Exists(path string) bool { return path == o.file || o.FileSystem.Exists(path) }
