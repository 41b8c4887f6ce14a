package controlplane

import (
	"context"
	"os"
	"runtime/debug"
	"time"
)

// A control plane makes most of its garbage while it starts and takes in the
// custom kinds of its cluster, when people wait for it; after that it mostly
// sits there, beside others, and memory is what a machine has less of.
const (
	busyPercent  = 150
	calmPercent  = 40
	calmAfter    = 20 * time.Second
	gcPercentEnv = "GOGC" // Go's own setting wins
)

// tuneCollector sets how much garbage is let pile up in either phase.
func tuneCollector(ctx context.Context) {
	if os.Getenv(gcPercentEnv) != "" {
		return
	}
	debug.SetGCPercent(busyPercent)
	select {
	case <-ctx.Done():
	case <-time.After(calmAfter):
		debug.SetGCPercent(calmPercent)
		debug.FreeOSMemory()
	}
}
