// Package sweep deletes what an inventory found, in the order AWS demands.
//
// A plan is made first, purely from the inventory, and can be shown. Executing
// it runs everything that is independent at the same time, waits until AWS
// says that a thing does not exist, and reports what became of every step. A
// fresh inventory afterwards is the proof.
package sweep

import (
	"cmp"
	"slices"
	"sync/atomic"

	"github.com/krops-go/krops/internal/aws/inventory"
)

// Action is what a step does to its item.
type Action string

const (
	// Delete removes the item.
	Delete Action = "delete"
	// Revoke removes the rules of a security group that refer to groups: as
	// long as two groups refer to each other, neither can be deleted.
	Revoke Action = "revoke rules of"
)

// Step is one action on one item.
type Step struct {
	Action Action
	Item   inventory.Item
	// After are the indices of the steps of the plan that have to succeed
	// first. They are smaller than the step's own index.
	After []int
	// Blocked says why the step must not be tried at all; empty for most.
	Blocked []string
}

// String names the step, as in "delete vpc vpc-1 in eu-north-1".
func (s Step) String() string { return string(s.Action) + " " + s.Item.Ref() }

// Plan is what a sweep is going to do. It is executed at most once.
type Plan struct {
	// Steps are in an order in which they could run one by one.
	Steps []Step
	// Unproven and Unknown are the inventory's: what is left alone, and what
	// could not be seen.
	Unproven []inventory.Item
	Unknown  []*inventory.ListingError

	executed atomic.Bool
}

// NewPlan orders the deletion of everything in inv. It makes no call. What
// rests on a listing that failed is blocked, and so is the network of a VPC
// that somebody else's resources live in.
func NewPlan(inv inventory.Inventory) *Plan {
	r := newRules()
	p := &Plan{Unproven: inv.Unproven, Unknown: inv.Unknown}
	for _, item := range inv.Items {
		if item.Kind == inventory.SecurityGroup {
			p.Steps = append(p.Steps, Step{Action: Revoke, Item: item})
		}
		p.Steps = append(p.Steps, Step{Action: Delete, Item: item})
	}
	slices.SortStableFunc(p.Steps, func(a, b Step) int {
		return cmp.Compare(r.rank[kindOf(a)], r.rank[kindOf(b)])
	})
	for i := range p.Steps {
		step := &p.Steps[i]
		for j, earlier := range p.Steps[:i] {
			if r.mustFollow(*step, earlier) {
				step.After = append(step.After, j)
			}
		}
		step.Blocked = slices.Concat(r.blockedByUnknown(*step, inv), blockedByOthers(*step, inv))
	}
	return p
}

// Count is how many items of a kind a plan deletes.
type Count struct {
	Kind  inventory.Kind
	Items int
}

// Counts sums the plan up by kind, in the order of deletion.
func (p *Plan) Counts() []Count {
	var counts []Count
	for _, step := range p.Steps {
		if step.Action != Delete {
			continue
		}
		if n := len(counts); n > 0 && counts[n-1].Kind == step.Item.Kind {
			counts[n-1].Items++
		} else {
			counts = append(counts, Count{Kind: step.Item.Kind, Items: 1})
		}
	}
	return counts
}
