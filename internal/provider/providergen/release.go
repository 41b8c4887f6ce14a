package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	kustypes "sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

const (
	crdsFile       = "crds.yaml"
	componentsFile = "components.yaml"
	inventoryFile  = "clusterctl-crds.yaml"

	clusterctlLabel     = "clusterctl.cluster.x-k8s.io"
	clusterctlCoreLabel = "clusterctl.cluster.x-k8s.io/core"
)

// release describes how one provider's release manifests come out of its module.
type release struct {
	// folder is the provider's namespace and the name of its folder in the estate.
	folder string
	// module is the Go module whose version in go.mod decides what is generated.
	module string
	// stagingImage is the image that the module's manifests name, releaseImage what a release names instead.
	stagingImage, releaseImage string
	// inventory is the file inside the module with clusterctl's inventory CRD, empty for none.
	inventory string
}

func releases() []release {
	return []release{
		{
			folder:       "capi-system",
			module:       "sigs.k8s.io/cluster-api",
			stagingImage: "gcr.io/k8s-staging-cluster-api/cluster-api-controller",
			releaseImage: "registry.k8s.io/cluster-api/cluster-api-controller",
			inventory:    "cmd/clusterctl/config/manifest/clusterctl-api.yaml",
		},
		{
			folder:       "capa-system",
			module:       "sigs.k8s.io/cluster-api-provider-aws/v2",
			stagingImage: "gcr.io/k8s-staging-cluster-api-aws/cluster-api-aws-controller",
			releaseImage: "registry.k8s.io/cluster-api-aws/cluster-api-aws-controller",
		},
	}
}

// generate returns the provider's files by name, each deterministic for a given module version.
func (r release) generate(ctx context.Context) (map[string][]byte, error) {
	mod, err := locate(ctx, r.module)
	if err != nil {
		return nil, err
	}
	built, err := r.build(mod)
	if err != nil {
		return nil, err
	}
	var crds, components []map[string]any
	for _, res := range built.Resources() {
		object, err := res.Map()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", res.CurId(), err)
		}
		label(object, clusterctlLabel, "")
		if res.GetKind() == "CustomResourceDefinition" {
			stripDescriptions(object)
			crds = append(crds, object)
		} else {
			components = append(components, object)
		}
	}
	files := map[string][]byte{}
	if files[crdsFile], err = encode(mod, crds); err != nil {
		return nil, err
	}
	if files[componentsFile], err = encode(mod, components); err != nil {
		return nil, err
	}
	if r.inventory != "" {
		if files[inventoryFile], err = inventory(mod, r.inventory); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// build renders config/default of the module the way its release does: released image, no forced pull.
func (r release) build(mod module) (resmap.ResMap, error) {
	// The module cache is read-only and kustomize wants one tree, so the tree is copied into memory.
	memory := filesys.MakeFsInMemory()
	source := os.DirFS(mod.Dir)
	err := fs.WalkDir(source, "config", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(source, name)
		if err != nil {
			return err
		}
		return memory.WriteFile(path.Join("/module", name), data)
	})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", r.module, err)
	}
	wrapper := kustypes.Kustomization{
		Resources: []string{"../module/config/default"},
		Images:    []kustypes.Image{{Name: r.stagingImage, NewName: r.releaseImage, NewTag: mod.Version}},
		Patches: []kustypes.Patch{{
			Patch:  `[{"op": "replace", "path": "/spec/template/spec/containers/0/imagePullPolicy", "value": "IfNotPresent"}]`,
			Target: &kustypes.Selector{ResId: deploymentID()},
		}},
	}
	data, err := yaml.Marshal(wrapper)
	if err != nil {
		return nil, err
	}
	if err := memory.WriteFile("/release/kustomization.yaml", data); err != nil {
		return nil, err
	}
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(memory, "/release")
	if err != nil {
		return nil, fmt.Errorf("render config/default of %s %s: %w", r.module, mod.Version, err)
	}
	return built, nil
}

// inventory returns clusterctl's inventory CRD with the label by which clusterctl recognises it. It does not get
// the label of provider components: `clusterctl move` lists every kind that carries that one.
func inventory(mod module, file string) ([]byte, error) {
	data, err := os.ReadFile(path.Join(mod.Dir, file))
	if err != nil {
		return nil, err
	}
	var crd map[string]any
	if err := yaml.Unmarshal(data, &crd); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	stripDescriptions(crd)
	label(crd, clusterctlCoreLabel, "inventory")
	return encode(mod, []map[string]any{crd})
}

// module is what `go list -m` says about a module.
type module struct {
	Path, Version, Dir string
}

func locate(ctx context.Context, path string) (module, error) {
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", "list", "-m", "-json", path)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return module{}, fmt.Errorf("go list -m %s: %w: %s", path, err, bytes.TrimSpace(stderr.Bytes()))
	}
	var mod module
	if err := json.Unmarshal(out, &mod); err != nil {
		return module{}, fmt.Errorf("go list -m %s: %w", path, err)
	}
	if mod.Dir == "" {
		return module{}, fmt.Errorf("module %s %s is not in the module cache: run `go mod download %s`", path, mod.Version, path)
	}
	return mod, nil
}

func encode(mod module, objects []map[string]any) ([]byte, error) {
	var out bytes.Buffer
	fmt.Fprintf(&out, "# Code generated by internal/provider/providergen from %s %s (Apache-2.0). DO NOT EDIT.\n", mod.Path, mod.Version)
	for _, object := range objects {
		data, err := yaml.Marshal(object)
		if err != nil {
			return nil, err
		}
		out.WriteString("---\n")
		out.Write(data)
	}
	return out.Bytes(), nil
}
