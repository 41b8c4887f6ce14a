package sweep_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/krops-go/krops/internal/aws/awserr"
	"github.com/krops-go/krops/internal/aws/inventory"
	"github.com/krops-go/krops/internal/aws/sweep"
)

var (
	denied    = awserr.New("AccessDenied", "not authorized")
	dependent = awserr.New("DependencyViolation", "resource has a dependent object")
	throttled = awserr.New("Throttling", "rate exceeded")
	notFound  = awserr.New("InvalidGroup.NotFound", "no such group")
)

// cloud is an account in which items are deleted at once, except as thing says.
type cloud struct {
	mu     sync.Mutex
	things map[string]*thing
	calls  []string // "delete x" and "revoke x" that were accepted
}

type thing struct {
	// lasts is how many looks after its deletion an item is still deleting.
	lasts int
	// refusals are the answers to the first deletions, or to all of them if
	// forever.
	refusals []error
	forever  bool
	// blind are the answers to the first looks.
	blind []error
	// held is for how many looks something else holds the item.
	held int
	// revoked are the answers to the first revocations.
	revoked []error
	// deletes is how many deletions it takes to remove the item.
	deletes  int
	deleting bool
	absent   bool
}

func (c *cloud) at(id string) *thing {
	if c.things == nil {
		c.things = map[string]*thing{}
	}
	if c.things[id] == nil {
		c.things[id] = &thing{}
	}
	return c.things[id]
}

func (c *cloud) State(_ context.Context, item inventory.Item) (sweep.State, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	th := c.at(item.ID)
	if len(th.blind) > 0 {
		err := th.blind[0]
		th.blind = th.blind[1:]
		return sweep.State{}, err
	}
	if th.deleting {
		if th.lasts > 0 {
			th.lasts--
			return sweep.State{Phase: sweep.Deleting}, nil
		}
		th.absent = true
	}
	switch {
	case th.absent:
		return sweep.State{Phase: sweep.Absent}, nil
	case th.held > 0:
		th.held--
		return sweep.State{Phase: sweep.Held, Detail: "in-use by a load balancer"}, nil
	}
	return sweep.State{Phase: sweep.Present, Detail: "subnet is in use"}, nil
}

func (c *cloud) Delete(_ context.Context, item inventory.Item) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	th := c.at(item.ID)
	if len(th.refusals) > 0 {
		err := th.refusals[0]
		if !th.forever {
			th.refusals = th.refusals[1:]
		}
		if errors.Is(err, notFound) {
			th.absent = true
		}
		return err
	}
	c.calls = append(c.calls, "delete "+item.ID)
	th.deletes--
	th.deleting = th.deletes <= 0
	return nil
}

func (c *cloud) Revoke(_ context.Context, item inventory.Item) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	th := c.at(item.ID)
	if len(th.revoked) > 0 {
		err := th.revoked[0]
		th.revoked = th.revoked[1:]
		return err
	}
	c.calls = append(c.calls, "revoke "+item.ID)
	return nil
}

func results(outcomes []sweep.Outcome) map[string]sweep.Result {
	m := map[string]sweep.Result{}
	for _, o := range outcomes {
		m[short(o.Step)] = o.Result
	}
	return m
}

func outcome(t *testing.T, outcomes []sweep.Outcome, name string) sweep.Outcome {
	t.Helper()
	for _, o := range outcomes {
		if short(o.Step) == name {
			return o
		}
	}
	t.Fatalf("no outcome for %q", name)
	return sweep.Outcome{}
}

func TestExecuteRespectsTheOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &cloud{things: map[string]*thing{"pool": {lasts: 3}, "default_wl-a": {lasts: 5}, "nat": {lasts: 2}}}
		p := plan(estate())
		outcomes, err := p.Execute(t.Context(), c, sweep.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(outcomes) != len(p.Steps) || len(c.calls) != len(p.Steps) {
			t.Fatalf("%d outcomes and %d calls for %d steps", len(outcomes), len(c.calls), len(p.Steps))
		}
		for i, o := range outcomes {
			if o.Result != sweep.Deleted {
				t.Errorf("%s: %s %s", o.Step, o.Result, o.Reason)
			}
			for _, j := range p.Steps[i].After {
				if slices.Index(c.calls, short(p.Steps[j])) > slices.Index(c.calls, short(o.Step)) {
					t.Errorf("%s was called before %s", short(o.Step), short(p.Steps[j]))
				}
			}
		}
		if _, err := p.Execute(t.Context(), c, sweep.Options{}); !errors.Is(err, sweep.ErrExecuted) {
			t.Errorf("second execution: %v, want ErrExecuted", err)
		}
	})
}

func TestExecuteStep(t *testing.T) {
	for name, c := range map[string]struct {
		thing  thing
		want   sweep.Result
		reason string
		within time.Duration
	}{
		"deletes what goes at once without a pause":    {thing: thing{}, want: sweep.Deleted, within: time.Nanosecond},
		"waits until a deletion is through":            {thing: thing{lasts: 100}, want: sweep.Deleted},
		"waits for what is being deleted already":      {thing: thing{deleting: true, lasts: 10}, want: sweep.Gone},
		"counts absent as gone":                        {thing: thing{absent: true}, want: sweep.Gone, within: time.Nanosecond},
		"counts not-found on delete as gone":           {thing: thing{refusals: []error{notFound}}, want: sweep.Gone, within: time.Nanosecond},
		"retries dependency errors":                    {thing: thing{refusals: []error{dependent, dependent, dependent}}, want: sweep.Deleted},
		"retries throttled deletions":                  {thing: thing{refusals: []error{throttled}}, want: sweep.Deleted},
		"retries throttled looks":                      {thing: thing{blind: []error{throttled, throttled}}, want: sweep.Deleted},
		"retries calls that ran out of time":           {thing: thing{blind: []error{context.DeadlineExceeded}}, want: sweep.Deleted},
		"waits until a holder lets go":                 {thing: thing{held: 5}, want: sweep.Deleted},
		"asks again after a deletion that came undone": {thing: thing{deletes: 2}, want: sweep.Deleted},
		"gives up on a dependency that stays": {
			thing: thing{refusals: []error{dependent}, forever: true}, want: sweep.Failed, reason: "gave up after 15m0s: " + dependent.Error()},
		"gives up on a holder that stays": {
			thing: thing{held: 1 << 30}, want: sweep.Failed, reason: "gave up after 15m0s: in-use by a load balancer"},
		"gives up on a deletion that never ends": {
			thing: thing{lasts: 1 << 30}, want: sweep.Failed, reason: "gave up after 45m0s: being deleted"},
		"gives up on a deletion that never works, with AWS's reason": {
			thing: thing{deletes: 1 << 30}, want: sweep.Failed, reason: "gave up after 15m0s: subnet is in use"},
		"fails at once when denied": {
			thing: thing{refusals: []error{denied}}, want: sweep.Failed, reason: denied.Error(), within: time.Nanosecond},
		"never takes a failed look for gone": {
			thing: thing{absent: true, blind: []error{denied}}, want: sweep.Failed,
			reason: "unknown whether it still exists: " + denied.Error(), within: time.Nanosecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				account := &cloud{things: map[string]*thing{"subnet-1": &c.thing}}
				outcomes, err := plan([]inventory.Item{owned(inventory.Subnet, "subnet-1")}).Execute(t.Context(), account, sweep.Options{})
				o := outcome(t, outcomes, "delete subnet-1")
				if o.Result != c.want || o.Reason != c.reason {
					t.Errorf("%s %q, want %s %q", o.Result, o.Reason, c.want, c.reason)
				}
				if (err != nil) != (c.want == sweep.Failed) {
					t.Errorf("error %v with result %s", err, o.Result)
				}
				if took := time.Since(start); c.within > 0 && took > c.within {
					t.Errorf("took %s", took)
				}
			})
		})
	}
}

func TestExecuteBlocksWhatDependsOnAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &cloud{things: map[string]*thing{"nat": {refusals: []error{denied}}}}
		outcomes, err := plan(estate()).Execute(t.Context(), c, sweep.Options{})

		got := results(outcomes)
		want := map[string]sweep.Result{
			"delete nat": sweep.Failed, "delete eip": sweep.Blocked, "delete igw": sweep.Blocked,
			"delete eni": sweep.Blocked, "delete rtb": sweep.Blocked, "delete sg-a": sweep.Blocked,
			"delete subnet-1": sweep.Blocked, "delete vpc-1": sweep.Blocked,
		}
		for name, result := range got {
			expected, left := want[name]
			if !left {
				expected = sweep.Deleted
			}
			if result != expected {
				t.Errorf("%s: %s, want %s", name, result, expected)
			}
		}
		leftover, ok := errors.AsType[*sweep.LeftoverError](err)
		if !ok || len(leftover.Leftovers) != len(want) || !errors.Is(err, denied) {
			t.Fatalf("error %v, want %d leftovers and the refusal", err, len(want))
		}
		if o := outcome(t, outcomes, "delete eip"); !strings.Contains(o.Reason, "nat-gateway nat") {
			t.Errorf("eip is blocked by %q, want the gateway", o.Reason)
		}
		if !strings.Contains(err.Error(), denied.Error()) {
			t.Errorf("the error does not say why: %v", err)
		}
	})
}

func TestExecuteRevokesAllRulesBeforeDeletingAnyGroup(t *testing.T) {
	groups := []inventory.Item{owned(inventory.SecurityGroup, "sg-a"), owned(inventory.SecurityGroup, "sg-b")}
	t.Run("in time", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := &cloud{things: map[string]*thing{"sg-b": {revoked: []error{throttled, dependent}}}}
			if _, err := plan(groups).Execute(t.Context(), c, sweep.Options{}); err != nil {
				t.Fatal(err)
			}
			slices.Sort(c.calls[:2])
			slices.Sort(c.calls[2:])
			if want := []string{"revoke sg-a", "revoke sg-b", "delete sg-a", "delete sg-b"}; !slices.Equal(c.calls, want) {
				t.Errorf("calls %v, want %v", c.calls, want)
			}
		})
	})
	t.Run("when EKS removed one meanwhile", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := &cloud{things: map[string]*thing{"sg-b": {absent: true, revoked: []error{notFound}}}}
			outcomes, err := plan(groups).Execute(t.Context(), c, sweep.Options{})
			if err != nil || outcome(t, outcomes, "delete sg-b").Result != sweep.Gone {
				t.Errorf("got %v (%v), want sg-b gone", results(outcomes), err)
			}
		})
	})
}

func TestExecuteDoesNotTouchWhatThePlanBlocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listing := &inventory.ListingError{Service: "ec2", Region: region, Listing: "subnets", Kinds: []inventory.Kind{inventory.Subnet}, Err: denied}
		c := &cloud{}
		outcomes, err := plan(
			[]inventory.Item{owned(inventory.VPC, "vpc-1"), owned(inventory.RouteTable, "rtb")},
			func(inv *inventory.Inventory) { inv.Unknown = append(inv.Unknown, listing) },
		).Execute(t.Context(), c, sweep.Options{})
		if !slices.Equal(c.calls, []string{"delete rtb"}) {
			t.Errorf("calls %v, want the route table only", c.calls)
		}
		if outcome(t, outcomes, "delete vpc-1").Result != sweep.Blocked || !errors.Is(err, denied) {
			t.Errorf("got %v (%v)", results(outcomes), err)
		}
	})
	t.Run("and is not a success even if nothing was to be done", func(t *testing.T) {
		listing := &inventory.ListingError{Service: "iam", Listing: "roles", Kinds: []inventory.Kind{inventory.Role}, Err: denied}
		_, err := plan(nil, func(inv *inventory.Inventory) { inv.Unknown = append(inv.Unknown, listing) }).
			Execute(t.Context(), &cloud{}, sweep.Options{})
		if !errors.Is(err, denied) {
			t.Errorf("got %v, want the failed listing", err)
		}
	})
}

func TestExecuteStopsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		c := &cloud{things: map[string]*thing{"pool": {lasts: 1 << 30}}}
		outcomes, err := plan(estate()).Execute(ctx, c, sweep.Options{})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v, want the context's", err)
		}
		if !slices.Equal(c.calls, []string{"delete pool"}) {
			t.Errorf("calls %v, want the node group only", c.calls)
		}
		for _, o := range outcomes {
			if o.Result == sweep.Deleted || o.Result == sweep.Gone {
				t.Errorf("%s counts as %s", o.Step, o.Result)
			}
		}
	})
}

// recorder keeps the events of one step.
type recorder struct {
	name  string
	lines []string
}

func (r *recorder) Observe(e sweep.Event) {
	if short(e.Step) == r.name {
		r.lines = append(r.lines, strings.TrimSpace(string(e.Kind)+" "+string(e.Result)+" "+e.Detail))
	}
}

func TestExecuteTellsTheObserver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{name: "delete subnet-1"}
		c := &cloud{things: map[string]*thing{"subnet-1": {lasts: 4, refusals: []error{dependent, fmt.Errorf("request 2: %w", dependent)}}}}
		if _, err := plan([]inventory.Item{owned(inventory.Subnet, "subnet-1")}).Execute(t.Context(), c, sweep.Options{Observer: r}); err != nil {
			t.Fatal(err)
		}
		want := []string{"started", "waiting  " + dependent.Error(), "requested", "waiting  being deleted", "finished deleted"}
		if !slices.Equal(r.lines, want) {
			t.Errorf("got  %q\nwant %q", r.lines, want)
		}
	})
}
