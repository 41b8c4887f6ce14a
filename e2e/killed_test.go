package e2e

import (
	"fmt"
	"testing"
	"time"
)

// TestKilledBetweenSteps kills krops as soon as a step is over, for each step
// in turn, and goes on with the same command.
func TestKilledBetweenSteps(t *testing.T) {
	r := newRehearsal(t)
	for _, step := range allSteps {
		began := time.Now()
		c := r.start()
		c.await("the end of step "+step, done(step))
		c.kill()
		r.awaitNoProcess()
		t.Logf("killed after %s, %.1fs after the start", step, time.Since(began).Seconds())
	}
	assertWholeLife(t, r.start().succeed())
	r.leavesNothing()
}

// TestKilledWithinSteps kills krops, and once everything, in the middle of
// steps, and goes on with the same command.
func TestKilledWithinSteps(t *testing.T) {
	r := newRehearsal(t)
	killedAt := func(what string, match func(event) bool) {
		t.Helper()
		c := r.start()
		c.await(what, match)
		c.kill()
		r.awaitNoProcess()
	}

	killedAt("the installation of the providers", waiting("bootstrap-providers", ""))

	c := r.start()
	c.await("the creation of the cluster", waiting("management-cluster", ""))
	r.awaitNetworkInTheMaking()
	c.kill()
	r.awaitNoProcess()

	// A crash of the whole machine, as far as processes go.
	c = r.start()
	c.await("the installation of the providers", waiting("management-providers", ""))
	r.killAll()
	c.wait()

	killedAt("the move's creations", waiting("move", "creating objects"))
	killedAt("the move's deletions", waiting("move", "deleting objects"))
	killedAt("the first deletions of the sweep", waiting("sweep", "5 steps done"))
	assertWholeLife(t, r.start().succeed())
	r.leavesNothing()
}

// awaitNetworkInTheMaking returns when there is a part of the cluster's network
// and not all of it.
func (r *rehearsal) awaitNetworkInTheMaking() {
	r.t.Helper()
	eventually(r.t, settleWithin, func() error {
		cloud := r.cloud()
		if cloud.count("ec2", "AssociateRouteTable") >= 6 {
			r.t.Fatal("the network was complete before it was looked at")
		}
		if n := cloud.count("ec2", "CreateSubnet"); n == 0 {
			return fmt.Errorf("no subnet was made yet")
		}
		return nil
	})
}
