package gitops_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/krops-go/krops/internal/gitops"
)

const thingsYAML = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.test.io}
spec:
  group: test.io
  names: {kind: Thing, listKind: ThingList, plural: things, singular: thing}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [size]
            properties: {size: {type: integer, maximum: 3}, name: {type: string}}
  - {name: v0, served: false, storage: false, schema: {openAPIV3Schema: {type: object}}}
`

func TestSchemasCheck(t *testing.T) {
	for name, test := range map[string]struct {
		object string
		want   []string // parts of the error; none for no error
	}{
		"fits":                {"apiVersion: test.io/v1\nkind: Thing\nmetadata: {name: a}\nspec: {size: 1}\n", nil},
		"an unknown field":    {"apiVersion: test.io/v1\nkind: Thing\nmetadata: {name: a}\nspec: {size: 1, nmae: x}\n", []string{"p/a.yaml: Thing a: spec.nmae is not a field"}},
		"a missing field":     {"apiVersion: test.io/v1\nkind: Thing\nmetadata: {name: a}\nspec: {}\n", []string{"p/a.yaml: Thing a: spec.size: Required value"}},
		"a value too large":   {"apiVersion: test.io/v1\nkind: Thing\nmetadata: {name: a}\nspec: {size: 4}\n", []string{"spec.size: Invalid value"}},
		"two at once":         {"apiVersion: test.io/v1\nkind: Thing\nmetadata: {name: a}\nspec: {size: x, b: 1}\n", []string{"spec.b is not a field", "spec.size: Invalid value"}},
		"an unserved version": {"apiVersion: test.io/v0\nkind: Thing\nmetadata: {name: a}\n", []string{"no provider of this environment serves Thing in test.io/v0"}},
		"a built-in kind":     {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\nwhatever: 1\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			write(t, root, "crd/things.yaml", thingsYAML)
			write(t, root, "p/a.yaml", test.object)
			definitions, err := gitops.Render(t.Context(), root, "crd", gitops.Options{})
			if err != nil {
				t.Fatal(err)
			}
			schemas, err := gitops.SchemasOf(definitions)
			if err != nil {
				t.Fatal(err)
			}
			objects, err := gitops.Render(t.Context(), root, "p", gitops.Options{Origins: true})
			if err != nil {
				t.Fatal(err)
			}
			err = schemas.Check("p", objects, func(kind schema.GroupVersionKind) bool { return kind.Group == "" })
			if (err == nil) != (len(test.want) == 0) {
				t.Fatalf("error %v, want %q", err, test.want)
			}
			for _, part := range test.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error %v, want %q", err, part)
				}
			}
		})
	}
}

func write(t *testing.T, root, name, text string) {
	t.Helper()
	path := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
