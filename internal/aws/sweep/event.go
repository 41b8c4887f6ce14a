package sweep

import "time"

// Observer is told what happens while a plan is executed. Calls come one at a
// time, and the sweep waits for them.
type Observer interface {
	Observe(Event)
}

// Event is one thing that happened to a step.
type Event struct {
	Time time.Time
	Step Step
	Kind EventKind
	// Detail is why a step waits or retries, and its reason when it finished.
	Detail string
	// Result is set when Kind is Finished.
	Result Result
}

// EventKind says what happened.
type EventKind string

const (
	// Started: everything before the step is done and it is being tried.
	Started EventKind = "started"
	// Requested: AWS accepted the deletion.
	Requested EventKind = "requested"
	// Waiting: the deletion is under way, or refused for now. It is told
	// again only when the detail changes.
	Waiting EventKind = "waiting"
	// Finished: the step has its result.
	Finished EventKind = "finished"
)
