package gitops

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Schemas are those of custom kinds, by which objects can be judged before any API server sees them.
type Schemas map[schema.GroupVersionKind]*apiextensions.JSONSchemaProps

// SchemasOf takes the schemas of every served version out of the CustomResourceDefinitions among objects.
func SchemasOf(objects []*unstructured.Unstructured) (Schemas, error) {
	schemas := Schemas{}
	for _, object := range objects {
		if object.GetKind() != "CustomResourceDefinition" {
			continue
		}
		var crd apiextensionsv1.CustomResourceDefinition
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &crd); err != nil {
			return nil, fmt.Errorf("CustomResourceDefinition %s: %w", object.GetName(), err)
		}
		for _, version := range crd.Spec.Versions {
			if !version.Served || version.Schema == nil {
				continue
			}
			var props apiextensions.JSONSchemaProps
			if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(version.Schema.OpenAPIV3Schema, &props, nil); err != nil {
				return nil, fmt.Errorf("CustomResourceDefinition %s, version %s: %w", object.GetName(), version.Name, err)
			}
			schemas[schema.GroupVersionKind{Group: crd.Spec.Group, Version: version.Name, Kind: crd.Spec.Names.Kind}] = &props
		}
	}
	return schemas, nil
}

// Check finds what an API server would refuse in objects of these kinds, and the unknown fields that it would drop
// without a word. path is where the objects were rendered from, with Options.Origins. Objects of kinds that Kubernetes
// serves by itself are not looked at; one of a custom kind that is not among the schemas is an error.
func (s Schemas) Check(path string, objects []*unstructured.Unstructured, builtIn func(schema.GroupVersionKind) bool) error {
	var errs []error
	for _, object := range objects {
		if builtIn(object.GroupVersionKind()) {
			continue
		}
		subject := fmt.Sprintf("%s: %s %s", cmp.Or(Origin(path, object), path), object.GetKind(), object.GetName())
		problems, err := s.problems(object)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", subject, err))
		}
		for _, problem := range problems {
			errs = append(errs, fmt.Errorf("%s: %s", subject, problem))
		}
	}
	return errors.Join(errs...)
}

func (s Schemas) problems(object *unstructured.Unstructured) ([]string, error) {
	kind := object.GroupVersionKind()
	props, ok := s[kind]
	if !ok {
		return nil, fmt.Errorf("no provider of this environment serves %s in %s; correct kind and apiVersion, or add the provider to bootstrap.toml", kind.Kind, kind.GroupVersion())
	}
	structural, err := structuralschema.NewStructural(props)
	if err != nil {
		return nil, err
	}
	var problems []string
	unknown := pruning.PruneWithOptions(object.DeepCopy().Object, structural, true,
		structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	slices.Sort(unknown)
	for _, field := range unknown {
		problems = append(problems, field+" is not a field of this kind; correct or remove it")
	}
	validator, _, err := validation.NewSchemaValidator(props)
	if err != nil {
		return nil, err
	}
	for _, problem := range validation.ValidateCustomResource(nil, object.Object, validator) {
		problems = append(problems, problem.Error())
	}
	return problems, nil
}
