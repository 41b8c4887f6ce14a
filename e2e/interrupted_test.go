package e2e

import (
	"syscall"
	"testing"
	"time"
)

// TestInterrupted presses Ctrl-C in the middle: krops ends in order, says how
// to go on, and does.
func TestInterrupted(t *testing.T) {
	r := newRehearsal(t)
	c := r.start()
	c.await("the creation of the cluster", waiting("management-cluster", ""))
	began := time.Now()
	c.signal(syscall.SIGINT)
	c.fail("interrupt", "Run the same command again to go on from here", "--discard", r.dir)
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %s to end", took)
	}
	if left := r.processes(); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}

	resumed := r.start("--until", "management-cluster").succeed()
	assertCreated(t, resumed.Cloud)
	r.discard()
	r.leavesNothing()
}
