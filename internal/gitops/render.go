// Package gitops renders the estate's Kubernetes manifests the way Flux does, with Flux's own library, so that what
// bootstrap applies before Flux runs is what Flux will find unchanged when it takes over.
package gitops

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"

	fluxkustomize "github.com/fluxcd/pkg/apis/kustomize"
	"github.com/fluxcd/pkg/kustomize"
	securefs "github.com/fluxcd/pkg/kustomize/filesys"
	"github.com/fluxcd/pkg/ssa/utils"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Patch is a strategic merge or JSON 6902 patch with an optional target, as in a Flux Kustomization's spec.patches.
type Patch = fluxkustomize.Patch

// Selector chooses the objects that a Patch changes.
type Selector = fluxkustomize.Selector

// Options change what Render returns without a change in the tree.
type Options struct {
	// Patches are applied after those of the tree. A patch whose target selects nothing in the result is an error,
	// where Flux would silently go on: whoever hands in a patch relies on its effect. It follows that such a patch
	// cannot delete its target.
	Patches []Patch
	// Origins adds the annotation OriginAnnotation to every object.
	Origins bool
}

// Render builds the folder at path, which is relative to root, and returns its objects in kustomize's order. Without
// a kustomization file the folder's manifests are collected as Flux does. Nothing outside root is read, nothing is
// fetched from the network and nothing below root is written.
func Render(ctx context.Context, root, path string, opts Options) ([]*unstructured.Unstructured, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("render %s: %w", path, err)
	}
	tree, err := openTree(root, path)
	if err != nil {
		return nil, err
	}
	if err := tree.checkReferences(); err != nil {
		return nil, err
	}
	generated, err := tree.kustomization(opts)
	if err != nil {
		return nil, err
	}
	disk, err := securefs.MakeFsOnDiskSecure(tree.root)
	if err != nil {
		return nil, fmt.Errorf("render %s: %w", path, err)
	}
	built, err := kustomize.Build(overlay{FileSystem: disk, file: generated.file, data: generated.data}, tree.dir)
	if err != nil {
		return nil, fmt.Errorf("render %s: %s", path, tree.relative(err))
	}
	for i, patch := range opts.Patches {
		if err := checkTarget(built, patch); err != nil {
			return nil, fmt.Errorf("render %s: patch %d of %d handed in: %w", path, i+1, len(opts.Patches), err)
		}
	}
	// Through YAML and back, as Flux does: this is where scalars get the types that the API server will see.
	data, err := built.AsYaml()
	if err != nil {
		return nil, fmt.Errorf("render %s: %w", path, err)
	}
	objects, err := utils.ReadObjects(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("render %s: %w", path, err)
	}
	return objects, ctx.Err()
}

// Origin returns the file that an object rendered with Options.Origins came from, relative to the estate's root, or
// the rendered folder itself when kustomize does not say.
func Origin(path string, object *unstructured.Unstructured) string {
	var origin struct {
		Path string `json:"path"`
	}
	if err := decode([]byte(object.GetAnnotations()[OriginAnnotation]), &origin); err != nil || origin.Path == "" {
		return path
	}
	return filepath.Join(path, origin.Path)
}

// OriginAnnotation is where kustomize notes the file that an object came from.
const OriginAnnotation = "config.kubernetes.io/origin"
