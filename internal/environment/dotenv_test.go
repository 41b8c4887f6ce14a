package environment

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLoadDotEnv(t *testing.T) {
	write := func(t *testing.T, content string) string {
		t.Helper()
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, DotEnvFile), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return dir
	}

	t.Run("is empty without a file", func(t *testing.T) {
		got, err := LoadDotEnv(t.TempDir())
		if err != nil || got == nil || len(got) != 0 {
			t.Errorf("got %v, %v", got, err)
		}
	})

	t.Run("reads what shells read", func(t *testing.T) {
		got, err := LoadDotEnv(write(t, "# note\nA=1\nexport B='two words'\nC=\"line\\nbreak\"\nD=\nKEY=ab/c+d==\n"))
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{"A": "1", "B": "two words", "C": "line\nbreak", "D": "", "KEY": "ab/c+d=="}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})

	for name, test := range map[string]struct {
		content string
		line    int
	}{
		"a line without a value":         {"A=1\n\n# note\nSECRET s3cr3t\nB=2\n", 4},
		"a name with a space":            {"MY KEY=s3cr3t\n", 1},
		"a value in place of a name":     {"A=1\nAWS_KEY s3cr3t/x=\n", 2},
		"quotes that stay open":          {"A=1\nB=\"s3cr3t\nC=3\n", 2},
		"after a value of several lines": {"A=\"1\n2\n3\"\n\nB c3 s3cr3t\n", 5},
		"the last line, without an end":  {"A=1\nB 's3cr3t'", 2},
	} {
		t.Run("names the line and not the content of "+name, func(t *testing.T) {
			_, err := LoadDotEnv(write(t, test.content))
			var problem Problem
			if !errors.As(err, &problem) {
				t.Fatalf("error %v is not a Problem", err)
			}
			if problem.Line != test.line || problem.File != ".env" {
				t.Errorf("says %s:%d, want .env:%d", problem.File, problem.Line, test.line)
			}
			if strings.Contains(err.Error(), "s3cr3t") {
				t.Errorf("error %q quotes the content", err)
			}
		})
	}
}

func TestSettings(t *testing.T) {
	got := Settings([]string{"A=shell", "B=shell", "TOKEN=shell", "X=a=b", "broken"}, map[string]string{"A": "file", "TOKEN": "", "NEW": "file"})
	want := map[string]string{"A": "file", "B": "shell", "X": "a=b", "NEW": "file"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestDotEnvExample(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", ".env.example"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, DotEnvFile), data, 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := LoadDotEnv(dir)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range got {
		if value != "" {
			t.Errorf("the example sets %s", name)
		}
	}
}
