package provider

import (
	"path/filepath"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/krops-go/krops/internal/environment"
	"github.com/krops-go/krops/internal/gitops"
)

// schemas returns the schema of every kind and served version that the given objects define.
func schemas(t *testing.T, objects []*unstructured.Unstructured) map[schema.GroupVersionKind]*apiextensions.JSONSchemaProps {
	t.Helper()
	found := map[schema.GroupVersionKind]*apiextensions.JSONSchemaProps{}
	for _, object := range objects {
		if object.GetKind() != "CustomResourceDefinition" {
			continue
		}
		var crd apiextensionsv1.CustomResourceDefinition
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &crd); err != nil {
			t.Fatal(err)
		}
		for _, version := range crd.Spec.Versions {
			if !version.Served {
				continue
			}
			var internal apiextensions.JSONSchemaProps
			if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(version.Schema.OpenAPIV3Schema, &internal, nil); err != nil {
				t.Fatal(err)
			}
			found[schema.GroupVersionKind{Group: crd.Spec.Group, Version: version.Name, Kind: crd.Spec.Names.Kind}] = &internal
		}
	}
	return found
}

// TestManagementClusterFitsSchemas finds misspelt fields and values out of range, as the API server would, in the
// custom objects of the estate.
func TestManagementClusterFitsSchemas(t *testing.T) {
	_, rendered := ownEstate(t)
	var definitions, objects []*unstructured.Unstructured
	for _, list := range rendered {
		definitions = append(definitions, list...)
		_, custom := split(list)
		for _, object := range custom {
			if object.GroupVersionKind().Group != certManagerGroup {
				objects = append(objects, object)
			}
		}
	}
	env, err := environment.Load(t.Context(), filepath.Join("..", ".."), "aws")
	if err != nil {
		t.Fatal(err)
	}
	cluster, err := gitops.Render(t.Context(), env.Root, env.ManagementCluster.Path, gitops.Options{})
	if err != nil {
		t.Fatal(err)
	}
	objects = append(objects, cluster...)
	known := schemas(t, definitions)
	for _, object := range objects {
		t.Run(object.GetKind()+" "+object.GetName(), func(t *testing.T) {
			definition, ok := known[object.GroupVersionKind()]
			if !ok {
				t.Fatalf("nothing in the estate defines %s", object.GroupVersionKind())
			}
			structural, err := structuralschema.NewStructural(definition)
			if err != nil {
				t.Fatal(err)
			}
			unknown := pruning.PruneWithOptions(object.DeepCopy().Object, structural, true,
				structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
			if len(unknown) > 0 {
				t.Errorf("unknown fields %q", unknown)
			}
			validator, _, err := validation.NewSchemaValidator(definition)
			if err != nil {
				t.Fatal(err)
			}
			for _, problem := range validation.ValidateCustomResource(nil, object.Object, validator) {
				t.Error(problem)
			}
		})
	}
	if len(objects) != 8 {
		t.Errorf("checked %d objects, want 2 inventory entries, an identity and the 5 objects of the cluster", len(objects))
	}
}
