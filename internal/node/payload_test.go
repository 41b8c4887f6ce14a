package node

import (
	"os"
	"path/filepath"
	"testing"
)

func TestWritePayload(t *testing.T) {
	folder := t.TempDir()
	file := func(text string) payloadFile { return payloadFile{[]byte(text), 0o600} }
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			return "absent"
		}
		return string(text)
	}
	if err := writePayload(folder, 1, payload{"a": file("1"), "sub/b": file("1"), "gone": file("1")}); err != nil {
		t.Fatal(err)
	}
	before, err := os.Readlink(filepath.Join(folder, dataLink))
	if err != nil {
		t.Fatal(err)
	}
	if err := writePayload(folder, 2, payload{"a": file("2"), "sub/b": file("2"), "new": file("2")}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"a": "2", "sub/b": "2", "new": "2", "gone": "absent", before + "/a": "absent"} {
		if got := read(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	for _, name := range []string{"../out", "/out", "..data/x"} {
		if err := writePayload(folder, 3, payload{name: file("x")}); err == nil {
			t.Errorf("a file at %q was written", name)
		}
	}
	if got := read("a"); got != "2" {
		t.Errorf("after a refused payload, a is %q, want what it was", got)
	}
}
