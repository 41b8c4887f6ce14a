package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestTablesAreUpToDate(t *testing.T) {
	for _, a := range modelled() {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			want, err := generate(a)
			if err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(filepath.Join("..", fileName(a)))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s differs from what the SDK in go.mod yields: run `go generate` in package wire", fileName(a))
			}
		})
	}
}
