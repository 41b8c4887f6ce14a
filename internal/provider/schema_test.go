package provider

import (
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/krops-go/krops/internal/environment"
	"github.com/krops-go/krops/internal/gitops"
)

// TestManagementClusterFitsSchemas finds misspelt fields and values out of range, as the API server would, in the
// custom objects of the estate.
func TestManagementClusterFitsSchemas(t *testing.T) {
	env, err := environment.Load(t.Context(), filepath.Join("..", ".."), "aws")
	if err != nil {
		t.Fatal(err)
	}
	components, err := Render(t.Context(), env.Root, env.Providers, nil)
	if err != nil {
		t.Fatal(err)
	}
	path := env.ManagementCluster.Path
	objects, err := gitops.Render(t.Context(), env.Root, path, gitops.Options{Origins: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := components.Check(path, objects); err != nil {
		t.Error(err)
	}
	t.Run("finds a misspelt field", func(t *testing.T) {
		for _, object := range objects {
			if object.GetKind() == "AWSManagedMachinePool" {
				if err := unstructured.SetNestedField(object.Object, "t4g.medium", "spec", "instanceTyp"); err != nil {
					t.Fatal(err)
				}
			}
		}
		err := components.Check(path, objects)
		want := path + "/cluster.yaml: AWSManagedMachinePool eu-north-1-management-arm: spec.instanceTyp is not a field"
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	})
}
