package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
)

// figure is something to measure. Smaller is better.
type figure struct {
	name, unit string
	bar        float64
	// rounds is how often it is measured, leastRounds if zero; odd, for the
	// median.
	rounds int
	// measure takes it once. The folder is empty and removed afterwards.
	measure func(ctx context.Context, s subject, folder string) (float64, error)
}

// figures are measured in this order. What needs a measurement of its own goes
// into a file of its own.
var figures = []figure{
	{name: "rehearse_aws", unit: "s", bar: 30, measure: rehearseTime},
	{name: "rehearse_aws_peak_memory", unit: "MB", bar: 3000, measure: rehearseMemory},
	{name: "api_server_ready", unit: "s", bar: 4, rounds: 5, measure: apiServerReady},
	{name: "api_server_ready_again", unit: "s", bar: 3, rounds: 5, measure: apiServerReadyAgain},
	{name: "four_api_servers_ready", unit: "s", bar: 12, rounds: 5, measure: fourReady},
	{name: "control_plane_memory", unit: "MB", bar: 400, rounds: 5, measure: controlPlaneMemory},
	{name: "deployments_available", unit: "s", bar: 30, rounds: 5, measure: deploymentsAvailable},
	{name: "help", unit: "ms", bar: 60, rounds: 5, measure: helpTime},
}

// meets reports whether a value is good enough.
func (f figure) meets(value float64) bool { return value <= f.bar }

const leastRounds = 3

func (f figure) median(ctx context.Context, s subject, progress io.Writer) (float64, error) {
	var values []float64
	rounds := max(f.rounds, leastRounds)
	for i := range rounds {
		value, err := f.once(ctx, s)
		if err != nil {
			return 0, err
		}
		fmt.Fprintf(progress, "%s: %.2f %s (%d of %d, load %s)\n", f.name, value, f.unit, i+1, rounds, load())
		values = append(values, value)
	}
	slices.Sort(values)
	return values[rounds/2], nil
}

func (f figure) once(ctx context.Context, s subject) (_ float64, err error) {
	folder, err := os.MkdirTemp("", "krops-bench")
	if err != nil {
		return 0, err
	}
	defer func() {
		if removeErr := os.RemoveAll(folder); err == nil {
			err = removeErr
		}
	}()
	return f.measure(ctx, s, folder)
}

// load is the machine's load average of the last minute, which tells how much
// a value is worth.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	var one string
	if _, err := fmt.Sscan(string(text), &one); err != nil {
		return "unknown"
	}
	return one
}
