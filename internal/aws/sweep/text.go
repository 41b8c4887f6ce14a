package sweep

import (
	"fmt"
	"strings"
)

// String is the plan as people read it: what is deleted, in which order and
// why it is ours, then what is left alone and what could not be seen. It is
// the same text for the same inventory.
func (p *Plan) String() string {
	var b strings.Builder
	p.writeCounts(&b)
	for n, step := range p.Steps {
		fmt.Fprintf(&b, "%3d. %s", n+1, step)
		if step.Item.Name != "" && step.Item.Name != step.Item.ID {
			fmt.Fprintf(&b, " %q", step.Item.Name)
		}
		fmt.Fprintf(&b, " [%s: %s]", step.Item.Owner, step.Item.Reason)
		for k, after := range step.After {
			if k == 0 {
				b.WriteString(" after")
			}
			fmt.Fprintf(&b, " %d", after+1)
		}
		b.WriteByte('\n')
		for _, reason := range step.Blocked {
			fmt.Fprintf(&b, "     blocked: %s\n", reason)
		}
	}
	for _, item := range p.Unproven {
		fmt.Fprintf(&b, "left alone, ownership unproven: %s: %s\n", item.Ref(), item.Reason)
	}
	for _, listing := range p.Unknown {
		fmt.Fprintf(&b, "%s\n", listing)
	}
	return b.String()
}

func (p *Plan) writeCounts(b *strings.Builder) {
	total := 0
	var kinds []string
	for _, count := range p.Counts() {
		total += count.Items
		kinds = append(kinds, fmt.Sprintf("%d %s", count.Items, count.Kind))
	}
	fmt.Fprintf(b, "%d items", total)
	if len(kinds) > 0 {
		fmt.Fprintf(b, ": %s", strings.Join(kinds, ", "))
	}
	b.WriteByte('\n')
}
