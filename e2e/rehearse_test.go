package e2e

import (
	"fmt"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRehearse lives a management cluster's life in three commands and looks at
// the estate after each.
func TestRehearse(t *testing.T) {
	r := newRehearsal(t)
	var ports []int

	first := r.start("--until", "management-cluster")
	created := first.succeed()
	t.Run("the management cluster is complete and the bootstrap cluster owns it", func(t *testing.T) {
		if diff := cmp.Diff(allSteps[:5], first.did()); diff != "" {
			t.Errorf("steps (-want +got):\n%s", diff)
		}
		assertCreated(t, created.Cloud)
		on(t, r).assertAccount()
		on(t, r).bootstrap().assertAvailable()
		on(t, r).bootstrap().assertProvidersReady()
		on(t, r).management().assertNodes()
		on(t, r).management().assertSimulatedAgents()
	})
	bootstrapPort := r.clusterPort(r.bootstrapCluster("cluster.json"))
	ports = append(ports, r.worldPort(), bootstrapPort, r.clusterPort(r.managementCluster("cluster.json")))

	kept := r.start("--keep").succeed()
	t.Run("the management cluster owns itself and the bootstrap cluster is gone", func(t *testing.T) {
		r := on(t, r)
		if kept.MoveCalls == nil || *kept.MoveCalls != 0 {
			t.Errorf("calls that changed the account during the pivot: %v, want 0", kept.MoveCalls)
		}
		assertCreated(t, kept.Cloud)
		management := r.management()
		if diff := cmp.Diff([]string{"default/" + clusterName}, management.names("clusters.cluster.x-k8s.io")); diff != "" {
			t.Errorf("Clusters on the management cluster (-want +got):\n%s", diff)
		}
		management.assertAvailable()
		management.assertProvidersReady()
		management.assertNodes()
		r.assertAccount()
		r.assertNoBootstrapCluster(bootstrapPort)
	})
	t.Run("it looks at what it owns again and changes nothing", func(t *testing.T) {
		r := on(t, r)
		r.reconcileControlPlane("first")
		r.reconcileControlPlane("second")
		assertCreated(t, r.cloud())
	})

	last := r.start()
	whole := last.succeed()
	t.Run("nothing is left", func(t *testing.T) {
		r := on(t, r)
		assertWholeLife(t, whole)
		if diff := cmp.Diff(allSteps, last.did()); diff != "" {
			t.Errorf("steps (-want +got):\n%s", diff)
		}
		r.leavesNothing(ports...)
	})
}

// on returns the rehearsal for a subtest.
func on(t *testing.T, r *rehearsal) *rehearsal {
	other := *r
	other.t = t
	return &other
}

func (r *rehearsal) assertNoBootstrapCluster(port int) {
	r.t.Helper()
	folder := r.path("bootstrap-cluster")
	if _, err := os.Stat(folder); !os.IsNotExist(err) {
		r.t.Errorf("the bootstrap cluster's folder is left: %v (%v)", readFolder(r.t, folder), err)
	}
	for _, p := range r.processes() {
		for _, arg := range p.Args {
			if arg == folder {
				r.t.Errorf("a process of the bootstrap cluster is left: %v", p)
			}
		}
	}
	isFree(r.t, port)
}

// reconcileControlPlane makes the provider look at the control plane again and
// returns when it has begun to look at the add-ons, which come last.
func (r *rehearsal) reconcileControlPlane(mark string) {
	r.t.Helper()
	before := r.cloud().count("eks", "ListAddons")
	r.management().run("annotate", "awsmanagedcontrolplane", clusterName, "--namespace", "default", "--overwrite", "krops.dev/look="+mark)
	eventually(r.t, settleWithin, func() error {
		if now := r.cloud().count("eks", "ListAddons"); now == before {
			return fmt.Errorf("the provider did not list the add-ons again: %d calls", now)
		}
		return nil
	})
}
