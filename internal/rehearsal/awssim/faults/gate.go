package faults

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

// Gate stops calls until it is opened, so that a test can do something while a
// call is under way.
type Gate struct {
	injector *Injector
	match    func(Call) bool
	arrived  chan Call
	opened   chan struct{}
	open     sync.Once
}

// Stop makes a gate for the calls that match. They wait before they have any
// effect. Open must be called, else they wait until their clients give up.
func (i *Injector) Stop(match func(Call) bool) *Gate {
	g := &Gate{injector: i, match: match, arrived: make(chan Call, 100), opened: make(chan struct{})}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.gates = append(i.gates, g)
	return g
}

// Await returns the next call that stands at the gate.
func (g *Gate) Await(ctx context.Context) (Call, error) {
	select {
	case c := <-g.arrived:
		return c, nil
	case <-ctx.Done():
		return Call{}, fmt.Errorf("waiting for a call at the gate: %w", context.Cause(ctx))
	}
}

// Open lets every call pass, now and later. It may be called twice.
func (g *Gate) Open() {
	g.open.Do(func() {
		i := g.injector
		i.mu.Lock()
		i.gates = slices.DeleteFunc(i.gates, func(o *Gate) bool { return o == g })
		i.mu.Unlock()
		close(g.opened)
	})
}

// Pass waits at every gate that is closed for the call.
func (i *Injector) Pass(ctx context.Context, c Call) error {
	if i == nil {
		return nil
	}
	i.mu.Lock()
	gates := slices.Clone(i.gates)
	i.mu.Unlock()
	for _, g := range gates {
		if !g.match(c) {
			continue
		}
		select {
		case g.arrived <- c:
		default: // more calls wait than anybody asks about
		}
		select {
		case <-g.opened:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
