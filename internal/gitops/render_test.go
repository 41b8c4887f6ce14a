package gitops

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"errors"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// writeTree makes a repository from file names and contents and returns its root.
func writeTree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func configMap(name, data string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: " + name + "\n  namespace: team\ndata:\n" + data
}

func names(objects []*unstructured.Unstructured) []string {
	var out []string
	for _, object := range objects {
		out = append(out, object.GetKind()+"/"+object.GetName())
	}
	return out
}

func snapshot(t *testing.T, root string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		files[name] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestRender(t *testing.T) {
	deployment := "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: controller\n  namespace: team\nspec:\n" +
		"  template:\n    spec:\n      containers:\n      - name: manager\n        image: registry.test/manager:v1\n"

	t.Run("builds a kustomization that reaches other folders of the repository", func(t *testing.T) {
		root := writeTree(t, map[string]string{
			"apps/kustomization.yaml":     "resources: [a.yaml, ../base]\n",
			"apps/a.yaml":                 configMap("a", "  k: v\n"),
			"base/kustomization.yaml":     "resources: [b.yaml]\n",
			"base/b.yaml":                 configMap("b", "  k: v\n"),
			"apps/ignored-by-listing.yml": configMap("c", "  k: v\n"),
		})
		objects, err := Render(t.Context(), root, "apps", Options{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"ConfigMap/a", "ConfigMap/b"}, names(objects)); diff != "" {
			t.Error(diff)
		}
	})

	t.Run("collects manifests where there is no kustomization file and leaves the tree untouched", func(t *testing.T) {
		root := writeTree(t, map[string]string{
			"apps/a.yaml":                 configMap("a", "  k: v\n"),
			"apps/deep/b.yml":             configMap("b", "  k: v\n"),
			"apps/sub/kustomization.yaml": "namePrefix: sub-\nresources: [c.yaml]\n",
			"apps/sub/c.yaml":             configMap("c", "  k: v\n"),
			"apps/notes.txt":              "not a manifest",
		})
		before := snapshot(t, root)
		objects, err := Render(t.Context(), root, "apps", Options{Patches: []Patch{{
			Target: &Selector{Kind: "ConfigMap", Name: "a"},
			Patch:  `[{"op": "add", "path": "/data/added", "value": "yes"}]`,
		}}})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"ConfigMap/a", "ConfigMap/b", "ConfigMap/sub-c"}, names(objects)); diff != "" {
			t.Error(diff)
		}
		if value, _, _ := unstructured.NestedString(objects[0].Object, "data", "added"); value != "yes" {
			t.Errorf("data.added = %q, want the patch's value", value)
		}
		if diff := cmp.Diff(before, snapshot(t, root)); diff != "" {
			t.Errorf("the repository changed:\n%s", diff)
		}
	})

	t.Run("merges a handed-in patch after those of the tree", func(t *testing.T) {
		root := writeTree(t, map[string]string{
			"apps/kustomization.yaml": "resources: [d.yaml]\npatches:\n- patch: |\n    apiVersion: apps/v1\n    kind: Deployment\n" +
				"    metadata: {name: controller, namespace: team}\n    spec: {replicas: 2}\n",
			"apps/d.yaml": deployment,
		})
		objects, err := Render(t.Context(), root, "apps", Options{Patches: []Patch{{
			Target: &Selector{Group: "apps", Version: "v1", Kind: "Deployment", Name: "controller", Namespace: "team"},
			Patch: "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: controller}\nspec:\n  replicas: 3\n  template:\n    spec:\n" +
				"      containers:\n      - name: manager\n        env: [{name: ENDPOINT, value: \"http://127.0.0.1:1\"}]\n",
		}}})
		if err != nil {
			t.Fatal(err)
		}
		if replicas, _, _ := unstructured.NestedInt64(objects[0].Object, "spec", "replicas"); replicas != 3 {
			t.Errorf("replicas = %d, want 3", replicas)
		}
		containers, _, _ := unstructured.NestedSlice(objects[0].Object, "spec", "template", "spec", "containers")
		want := []any{map[string]any{"name": "manager", "image": "registry.test/manager:v1",
			"env": []any{map[string]any{"name": "ENDPOINT", "value": "http://127.0.0.1:1"}}}}
		if diff := cmp.Diff(want, containers); diff != "" {
			t.Error(diff)
		}
	})

	t.Run("keeps words that YAML 1.1 takes for booleans as text", func(t *testing.T) {
		root := writeTree(t, map[string]string{
			"apps/a.yaml": configMap("a", "  answer: no\n  short: y\n  switch: \"on\"\n  number: \"0123\"\n"),
		})
		objects, err := Render(t.Context(), root, "apps", Options{})
		if err != nil {
			t.Fatal(err)
		}
		data, _, err := unstructured.NestedStringMap(objects[0].Object, "data")
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{"answer": "no", "short": "y", "switch": "on", "number": "0123"}
		if diff := cmp.Diff(want, data); diff != "" {
			t.Error(diff)
		}
	})

	t.Run("takes an empty folder for an empty build", func(t *testing.T) {
		root := writeTree(t, map[string]string{"apps/README.md": "nothing yet"})
		objects, err := Render(t.Context(), root, "apps", Options{})
		if err != nil || len(objects) != 0 {
			t.Errorf("got %v, %v; want no objects and no error", names(objects), err)
		}
	})

	t.Run("says which file an object came from", func(t *testing.T) {
		root := writeTree(t, map[string]string{
			"apps/kustomization.yaml": "resources: [sub]\n", "apps/sub/kustomization.yaml": "resources: [a.yaml]\n",
			"apps/sub/a.yaml": configMap("a", "  k: v\n"),
		})
		objects, err := Render(t.Context(), root, "apps", Options{Origins: true})
		if err != nil {
			t.Fatal(err)
		}
		if got := Origin("apps", objects[0]); got != filepath.Join("apps", "sub", "a.yaml") {
			t.Errorf("Origin = %q", got)
		}
	})
}

func TestRenderRefuses(t *testing.T) {
	repository := map[string]string{
		"apps/a.yaml":                    configMap("a", "  k: v\n"),
		"broken/a.yaml":                  "kind: [unclosed\n",
		"nameless/a.yaml":                "apiVersion: v1\nkind: ConfigMap\n",
		"missing/kustomization.yaml":     "resources: [nowhere.yaml]\n",
		"remote/kustomization.yaml":      "resources: ['https://example.test/org/repo//config?ref=v1']\n",
		"outer/kustomization.yaml":       "resources: [../remote]\n",
		"collect/sub/kustomization.yaml": "resources: [gone.yaml]\n",
	}
	tests := []struct {
		name, path string
		patches    []Patch
		want       []string
	}{
		{name: "a file in place of a folder", path: "apps/a.yaml", want: []string{"apps/a.yaml", "name the folder"}},
		{name: "a folder that is not there", path: "nothing", want: []string{"render nothing", "no such folder"}},
		{name: "a path out of the repository", path: "../x", want: []string{"../x", "inside"}},
		{name: "a manifest that is not YAML", path: "broken", want: []string{"broken/a.yaml"}},
		{name: "a manifest without a name", path: "nameless", want: []string{"nameless/a.yaml"}},
		{name: "a resource that is not there", path: "missing", want: []string{"missing/kustomization.yaml", `"nowhere.yaml"`, "correct the path"}},
		{name: "a remote base", path: "remote", want: []string{"remote/kustomization.yaml", "remote bases are not fetched"}},
		{name: "a remote base further down", path: "outer", want: []string{"remote/kustomization.yaml", "remote bases are not fetched"}},
		{name: "a resource missing in a collected folder", path: "collect", want: []string{"collect/sub/kustomization.yaml", `"gone.yaml"`}},
		{name: "a handed-in patch without an object to change", path: "apps",
			patches: []Patch{{Target: &Selector{Kind: "Deployment"}, Patch: `[{"op":"remove","path":"/spec"}]`}},
			want:    []string{"render apps", "patch 1 of 1", "Deployment"}},
	}
	root := writeTree(t, repository)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := Render(t.Context(), root, test.path, Options{Patches: test.patches})
			if err == nil {
				t.Fatal("no error")
			}
			for _, part := range test.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error %q does not say %q", err, part)
				}
			}
			if strings.Contains(err.Error(), os.TempDir()+string(filepath.Separator)) {
				t.Errorf("error %q names a path of this machine", err)
			}
		})
	}

	t.Run("a folder that is not there, recognisably", func(t *testing.T) {
		if _, err := Render(t.Context(), root, "nothing", Options{}); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v is not fs.ErrNotExist", err)
		}
	})

	t.Run("a file outside the repository", func(t *testing.T) {
		outside := t.TempDir()
		inner := filepath.Join(outside, "repository")
		if err := os.MkdirAll(filepath.Join(inner, "apps"), 0o755); err != nil {
			t.Fatal(err)
		}
		for name, content := range map[string]string{
			filepath.Join(outside, "elsewhere.yaml"):           configMap("x", "  k: v\n"),
			filepath.Join(inner, "apps", "kustomization.yaml"): "resources: [../../elsewhere.yaml]\n",
		} {
			if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if objects, err := Render(t.Context(), inner, "apps", Options{}); err == nil {
			t.Errorf("rendered %v from outside the repository", names(objects))
		}
	})
}
