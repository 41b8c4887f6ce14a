package sweep_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/krops-go/krops/internal/aws/awserr"
	"github.com/krops-go/krops/internal/aws/inventory"
	"github.com/krops-go/krops/internal/aws/sweep"
)

var (
	ours      = inventory.ClusterName{CAPI: "wl-a", EKS: "default_wl-a", Region: region}
	elsewhere = inventory.ClusterName{CAPI: "wl-b", EKS: "default_wl-b", Region: "eu-west-1"}
	neighbour = inventory.ClusterName{CAPI: "training", EKS: "school_training", Region: region}
)

func scopeOf(clusters ...inventory.ClusterName) inventory.Scope {
	return inventory.Scope{Clusters: clusters}
}

func TestSweepLeavesOnlyTheNeighbour(t *testing.T) {
	t.Parallel()
	s := newSimulated(t)
	s.builder(neighbour).build()
	s.builder(neighbour).manyRoles(110)
	before := s.existing()
	s.builder(ours).build()
	s.builder(elsewhere).build()
	scope := scopeOf(ours, elsewhere)

	inv, err := inventory.Take(t.Context(), inventory.FromConfig(s.cfg), scope)
	if err != nil {
		t.Fatal(err)
	}
	made := slices.DeleteFunc(s.existing(), func(line string) bool {
		// EKS makes an instance profile for each node group and takes it back.
		return slices.Contains(before, line) || strings.HasPrefix(line, "instance-profile ")
	})
	if len(inv.Items) != len(made) {
		t.Errorf("found %d items, but %d were made:\n%s", len(inv.Items), len(made), strings.Join(made, "\n"))
	}
	for _, item := range inv.Items {
		if item.Owner != ours.CAPI && item.Owner != elsewhere.CAPI || item.Reason == "" {
			t.Errorf("%s is of %q: %q", item.Ref(), item.Owner, item.Reason)
		}
	}
	if len(inv.Unproven) > 0 {
		t.Errorf("unproven: %v", inv.Unproven)
	}

	outcomes, err := s.sweep(t.Context(), scope, sweep.Options{})
	if err != nil {
		t.Fatal(err)
	}
	counts := map[sweep.Result]int{}
	for _, o := range outcomes {
		counts[o.Result]++
	}
	if counts[sweep.Deleted] == 0 || counts[sweep.Gone] == 0 {
		t.Errorf("results %v, want some deleted and some gone with others", counts)
	}
	if diff := cmp.Diff(before, s.existing()); diff != "" {
		t.Errorf("the account before the estate and after the sweep (-before +after):\n%s", diff)
	}
	if inv, err := sweep.Verify(t.Context(), inventory.FromConfig(s.cfg), scope); err != nil || len(inv.Items) > 0 {
		t.Errorf("verify: %v", err)
	}
	for _, refusal := range s.server.Report().Refused {
		t.Errorf("not simulated: %+v", refusal)
	}
}

func TestSweepReleasesAddressesWithoutNetwork(t *testing.T) {
	t.Parallel()
	s := newSimulated(t)
	for range 4 {
		s.builder(ours).address()
	}
	s.builder(neighbour).address()
	outcomes, err := s.sweep(t.Context(), scopeOf(ours), sweep.Options{})
	if err != nil || len(outcomes) != 4 {
		t.Errorf("%d outcomes (%v), want 4", len(outcomes), err)
	}
	if left := s.existing(); len(left) != 1 || !strings.Contains(left[0], "training") {
		t.Errorf("left: %v, want the neighbour's address", left)
	}
}

func TestSweepOfAThrottledAccount(t *testing.T) {
	t.Parallel()
	s := newSimulated(t)
	s.builder(neighbour).manyRoles(60)
	before := s.existing()
	s.builder(ours).build()
	calls := 0
	s.faults.refuse = func(string, string) string {
		if calls++; calls%3 == 0 {
			return "Throttling"
		}
		return ""
	}
	if _, err := s.sweep(t.Context(), scopeOf(ours), sweep.Options{}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, s.existing()); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
	if s.faults.refused < 30 {
		t.Errorf("only %d calls were throttled", s.faults.refused)
	}
}

func TestSweepWithADeniedListing(t *testing.T) {
	t.Parallel()
	s := newSimulated(t)
	s.builder(ours).build()
	s.builder(elsewhere).build()
	scope := scopeOf(ours, elsewhere)
	s.faults.refuse = func(action, in string) string {
		if action == "DescribeSubnets" && in == elsewhere.Region {
			return "UnauthorizedOperation"
		}
		return ""
	}

	outcomes, err := s.sweep(t.Context(), scope, sweep.Options{})
	listing, ok := errors.AsType[*inventory.ListingError](err)
	if !ok || listing.Region != elsewhere.Region || awserr.Code(listing) != "UnauthorizedOperation" {
		t.Errorf("error %v, want the denied listing", err)
	}
	for _, o := range outcomes {
		if o.Step.Item.Kind != inventory.VPC {
			continue
		}
		want := sweep.Deleted
		if o.Step.Item.Region == elsewhere.Region {
			want = sweep.Blocked
		}
		if o.Result != want {
			t.Errorf("%s: %s %s, want %s", o.Step, o.Result, o.Reason, want)
		}
	}
	if _, err := sweep.Verify(t.Context(), inventory.FromConfig(s.cfg), scope); awserr.Code(err) != "UnauthorizedOperation" {
		t.Errorf("verify: %v, want the denied listing", err)
	}

	s.faults.refuse = nil
	if _, err := s.sweep(t.Context(), scope, sweep.Options{}); err != nil {
		t.Errorf("once it is allowed: %v", err)
	}
	if left := s.existing(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// interrupter cancels the sweep when a kind's first deletion was accepted.
type interrupter struct {
	kind   inventory.Kind
	cancel context.CancelFunc
	once   sync.Once
}

func (i *interrupter) Observe(e sweep.Event) {
	if e.Kind == sweep.Requested && e.Step.Item.Kind == i.kind {
		i.once.Do(i.cancel)
	}
}

func TestSweepResumesAfterAnInterruption(t *testing.T) {
	t.Parallel()
	for _, kind := range []inventory.Kind{inventory.NodeGroup, inventory.Cluster, inventory.NATGateway, inventory.InternetGateway} {
		t.Run("in the middle of "+string(kind), func(t *testing.T) {
			t.Parallel()
			s := newSimulated(t)
			s.builder(ours).build()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if _, err := s.sweep(ctx, scopeOf(ours), sweep.Options{Observer: &interrupter{kind: kind, cancel: cancel}}); !errors.Is(err, context.Canceled) {
				t.Fatalf("interrupted sweep: %v", err)
			}
			if len(s.existing()) == 0 {
				t.Fatal("nothing was left to resume")
			}
			if _, err := s.sweep(t.Context(), scopeOf(ours), sweep.Options{}); err != nil {
				t.Fatal(err)
			}
			if left := s.existing(); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

func TestVerifyNamesWhatIsLeft(t *testing.T) {
	t.Parallel()
	s := newSimulated(t)
	address := *s.builder(ours).address()
	_, err := sweep.Verify(t.Context(), inventory.FromConfig(s.cfg), scopeOf(ours))
	remain, ok := errors.AsType[*sweep.RemainError](err)
	if !ok || !slices.ContainsFunc(remain.Items, func(i inventory.Item) bool { return i.ID == address }) {
		t.Errorf("got %v, want %s named", err, address)
	}
}
