package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEstateIsGenerated(t *testing.T) {
	for _, r := range releases() {
		t.Run(r.folder, func(t *testing.T) {
			files, err := r.generate(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for name, want := range files {
				path := filepath.Join("..", "..", "..", "mgmt", "aws", "capi-providers", r.folder, name)
				got, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if string(got) != string(want) {
					t.Errorf("%s differs from what its module gives: run `go generate ./internal/provider`", path)
				}
			}
			if len(files[crdsFile]) < 100_000 || len(files[componentsFile]) < 10_000 {
				t.Errorf("generated %d bytes of definitions and %d of components, which is too little to be true",
					len(files[crdsFile]), len(files[componentsFile]))
			}
		})
	}
}

func TestStripDescriptions(t *testing.T) {
	text := func(more map[string]any) map[string]any {
		schema := map[string]any{"type": "string", "description": "to be removed"}
		for key, value := range more {
			schema[key] = value
		}
		return schema
	}
	crd := map[string]any{"spec": map[string]any{"versions": []any{map[string]any{
		"additionalPrinterColumns": []any{map[string]any{"description": "stays"}},
		"schema": map[string]any{"openAPIV3Schema": text(map[string]any{"properties": map[string]any{
			"description": text(nil),
			"items":       map[string]any{"type": "array", "items": text(nil)},
			"map":         map[string]any{"additionalProperties": text(nil)},
			"open":        map[string]any{"additionalProperties": true},
			"either":      map[string]any{"oneOf": []any{text(nil)}, "not": text(nil)},
		}})},
	}}}}
	stripDescriptions(crd)
	plain := map[string]any{"type": "string"}
	want := map[string]any{"spec": map[string]any{"versions": []any{map[string]any{
		"additionalPrinterColumns": []any{map[string]any{"description": "stays"}},
		"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "string", "properties": map[string]any{
			"description": plain,
			"items":       map[string]any{"type": "array", "items": plain},
			"map":         map[string]any{"additionalProperties": plain},
			"open":        map[string]any{"additionalProperties": true},
			"either":      map[string]any{"oneOf": []any{plain}, "not": plain},
		}}},
	}}}}
	if diff := cmp.Diff(want, crd); diff != "" {
		t.Error(diff)
	}
}
