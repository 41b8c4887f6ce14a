package e2e

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"testing"
	"time"
)

const (
	lookEvery = 10 * time.Millisecond
	// endWithin is how long processes may take to notice that the krops that
	// started them is gone, and to end.
	endWithin = 5 * time.Second
	// settleWithin is how long a running system may take to do what it is
	// about to do.
	settleWithin = 30 * time.Second
)

// eventually looks until check returns nil. The last reason is the failure.
func eventually(t *testing.T, within time.Duration, check func() error) {
	t.Helper()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	deadline := time.After(within)
	for {
		err := check()
		if err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("not within %s: %v", within, err)
		}
	}
}

// awaitNoProcess returns when no process of the rehearsal is left.
func (r *rehearsal) awaitNoProcess() {
	r.t.Helper()
	eventually(r.t, endWithin, func() error {
		if left := r.processes(); len(left) > 0 {
			return fmt.Errorf("processes are left: %v", left)
		}
		return nil
	})
}

// isFree fails unless a port of this machine can be taken.
func isFree(t *testing.T, port int) {
	t.Helper()
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("port %d is still in use", port)
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
}

// occupy takes a port of this machine until the function it returns is called.
func occupy(t *testing.T, port int) (free func()) {
	t.Helper()
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return func() { l.Close() }
}

// leavesNothing fails unless the rehearsal left no process and no file, and
// the ports are free.
func (r *rehearsal) leavesNothing(ports ...int) {
	r.t.Helper()
	if left := r.processes(); len(left) > 0 {
		r.t.Errorf("processes are left: %v", left)
	}
	if _, err := os.Stat(r.dir); !errors.Is(err, os.ErrNotExist) {
		r.t.Errorf("the folder is left: %v (%v)", readFolder(r.t, r.dir), err)
	}
	for what, folder := range map[string]string{"home": r.home, "temporary": r.temp} {
		if left := readFolder(r.t, folder); len(left) > 0 {
			r.t.Errorf("files are left in the %s folder: %v", what, left)
		}
	}
	for _, port := range ports {
		isFree(r.t, port)
	}
}
