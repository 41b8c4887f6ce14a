package sweep

import (
	"slices"
	"testing"
)

func TestOrder(t *testing.T) {
	entries := order()
	place := map[stepKind]int{}
	for n, e := range entries {
		k := stepKind{e.action, e.kind}
		if _, twice := place[k]; twice {
			t.Errorf("%s %s is listed twice", e.action, e.kind)
		}
		place[k] = n
	}

	t.Run("has everything after what it needs", func(t *testing.T) {
		for n, e := range entries {
			for _, need := range e.after {
				if before, ok := place[stepKind{Delete, need.kind}]; !ok || before >= n {
					t.Errorf("%s %s needs %s gone, which is not before it", e.action, e.kind, need.kind)
				}
			}
		}
	})

	t.Run("has the kinds that can be removed, and no others", func(t *testing.T) {
		known := removers()
		for _, e := range entries {
			if _, ok := known[e.kind]; !ok {
				t.Errorf("%s is in the order, but cannot be removed", e.kind)
			}
		}
		for kind := range known {
			if !slices.ContainsFunc(entries, func(e orderEntry) bool { return e.kind == kind && e.action == Delete }) {
				t.Errorf("%s can be removed, but has no place in the order", kind)
			}
		}
	})
}
