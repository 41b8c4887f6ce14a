package main

import "sigs.k8s.io/kustomize/kyaml/resid"

func deploymentID() resid.ResId {
	return resid.ResId{Gvk: resid.Gvk{Group: "apps", Version: "v1", Kind: "Deployment"}}
}

// label sets one label of a decoded object.
func label(object map[string]any, key, value string) {
	metadata := child(object, "metadata")
	labels, ok := metadata["labels"].(map[string]any)
	if !ok {
		labels = map[string]any{}
		metadata["labels"] = labels
	}
	labels[key] = value
}

// stripDescriptions removes the descriptions of every schema of a CustomResourceDefinition.
func stripDescriptions(crd map[string]any) {
	versions, _ := child(crd, "spec")["versions"].([]any)
	for _, entry := range versions {
		version, _ := entry.(map[string]any)
		stripSchema(child(version, "schema")["openAPIV3Schema"])
	}
}

// stripSchema follows the structure of a schema, because a property may itself be called "description".
func stripSchema(node any) {
	schema, ok := node.(map[string]any)
	if !ok {
		return
	}
	delete(schema, "description")
	for _, property := range child(schema, "properties") {
		stripSchema(property)
	}
	for _, key := range []string{"items", "additionalProperties", "not"} {
		stripSchema(schema[key])
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		list, _ := schema[key].([]any)
		for _, entry := range list {
			stripSchema(entry)
		}
	}
}

// child returns the map under key, or an empty map that is not linked into the parent.
func child(parent map[string]any, key string) map[string]any {
	if m, ok := parent[key].(map[string]any); ok {
		return m
	}
	return map[string]any{}
}
