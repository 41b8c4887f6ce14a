package dirlock_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/krops-go/krops/internal/dirlock"
)

func TestLock(t *testing.T) {
	dir := t.TempDir()
	if _, held, err := dirlock.Find(dir); held || err != nil {
		t.Fatalf("a new folder is held: %t, %v", held, err)
	}
	lock, err := dirlock.Acquire(dir, "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Run("tells who holds the folder", func(t *testing.T) {
		holder, held, err := dirlock.Find(dir)
		if want := (dirlock.Holder{PID: os.Getpid(), What: "test"}); !held || err != nil || holder != want {
			t.Errorf("holder %+v, %t, %v; want %+v", holder, held, err, want)
		}
	})
	t.Run("refuses a second holder and names the first", func(t *testing.T) {
		_, err := dirlock.Acquire(dir, "other")
		var taken *dirlock.HeldError
		if !errors.As(err, &taken) || taken.PID != os.Getpid() || !strings.Contains(err.Error(), "(test)") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("is free after the release", func(t *testing.T) {
		if err := lock.Release(); err != nil {
			t.Fatal(err)
		}
		if _, held, err := dirlock.Find(dir); held || err != nil {
			t.Errorf("held %t, %v", held, err)
		}
		again, err := dirlock.Acquire(dir, "again")
		if err != nil {
			t.Fatal(err)
		}
		if err := again.Release(); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("finds nobody in a folder that does not exist", func(t *testing.T) {
		if _, held, err := dirlock.Find(filepath.Join(dir, "none")); held || err != nil {
			t.Errorf("held %t, %v", held, err)
		}
	})
}
