package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMedian(t *testing.T) {
	values := []float64{3, 1, 2}
	var folders []string
	f := figure{name: "f", unit: "s", measure: func(_ context.Context, _ subject, folder string) (float64, error) {
		if err := os.WriteFile(filepath.Join(folder, "left"), nil, 0o600); err != nil {
			return 0, err
		}
		folders = append(folders, folder)
		return values[len(folders)-1], nil
	}}
	got, err := f.median(t.Context(), subject{}, io.Discard)
	if err != nil || got != 2 {
		t.Errorf("got %v, %v, want the median 2", got, err)
	}
	for _, folder := range folders {
		if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left: %v", folder, err)
		}
	}
}

func TestMedianFails(t *testing.T) {
	broken := errors.New("broken")
	f := figure{measure: func(context.Context, subject, string) (float64, error) { return 0, broken }}
	if _, err := f.median(t.Context(), subject{}, io.Discard); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

// programs makes a folder with programs: a krops that ends with an exit code.
func programs(t *testing.T, exit string) string {
	t.Helper()
	folder := t.TempDir()
	for _, name := range []string{"krops", "krops-cluster"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\necho said\nexit "+exit+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func TestRun(t *testing.T) {
	t.Run("prints a line for each chosen figure", func(t *testing.T) {
		var out strings.Builder
		if err := run(t.Context(), subject{bin: programs(t, "0")}, "rehearse", &out, io.Discard); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if len(lines) != 2 || len(strings.Split(lines[0], "\t")) != 4 ||
			!strings.HasPrefix(lines[0], "rehearse_aws\t") || !strings.HasSuffix(lines[0], "\ts\t30") ||
			!strings.HasPrefix(lines[1], "rehearse_aws_peak_memory\t") || !strings.HasSuffix(lines[1], "\tMB\t3000") {
			t.Errorf("got %q", lines)
		}
	})
	t.Run("fails with what the program said", func(t *testing.T) {
		err := run(t.Context(), subject{bin: programs(t, "3")}, "rehearse_aws", io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), "exit status 3") || !strings.Contains(err.Error(), "said") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("names the programs that are missing", func(t *testing.T) {
		err := run(t.Context(), subject{bin: t.TempDir()}, "", io.Discard, io.Discard)
		if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "make build") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("knows which figures there are", func(t *testing.T) {
		err := run(t.Context(), subject{bin: programs(t, "0")}, "speed", io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), `"speed"`) {
			t.Errorf("got %v", err)
		}
	})
}

func TestFiguresMissed(t *testing.T) {
	for _, test := range []struct {
		value float64
		meets bool
	}{{1, true}, {1.5, true}, {1.6, false}} {
		f := figure{name: "f", bar: 1.5, measure: func(context.Context, subject, string) (float64, error) { return test.value, nil }}
		if value, err := f.median(t.Context(), subject{}, io.Discard); err != nil || f.meets(value) != test.meets {
			t.Errorf("%v meets %v: %v, %v", value, f.bar, f.meets(value), err)
		}
	}
}
