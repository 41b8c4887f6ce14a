package e2e

import (
	"fmt"
	"strings"
)

// The names of the steps of a whole rehearsal, in order, as --output=json and
// --until spell them.
var allSteps = []string{
	"manifests", "world",
	"bootstrap-cluster", "bootstrap-providers", "management-cluster", "management-providers",
	"move", "confirm", "bootstrap-delete",
	"clusters", "controllers", "sweep", "proof", "host-delete",
}

// event is a line of --output=json that tells of a step.
type event struct {
	Step   string `json:"step"`
	Kind   string `json:"kind"`
	Detail string `json:"detail"`
}

func (e event) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s %s %s", e.Step, e.Kind, e.Detail))
}

// done matches the end of a step.
func done(step string) func(event) bool {
	return func(e event) bool { return e.Step == step && (e.Kind == "finished" || e.Kind == "already done") }
}

// waiting matches a step that says it waits for something whose description
// contains text.
func waiting(step, text string) func(event) bool {
	return func(e event) bool { return e.Step == step && e.Kind == "waiting" && strings.Contains(e.Detail, text) }
}

// report is the last line of --output=json, as far as tests read it. The
// simulated cloud answers with its part at any time.
type report struct {
	Steps []struct {
		Step     string `json:"step"`
		Done     bool   `json:"done"`
		Attempts int    `json:"attempts"`
	} `json:"steps"`
	Cloud     cloudReport `json:"cloud"`
	MoveCalls *int        `json:"moveCalls"`
}

type cloudReport struct {
	MutatingCalls int              `json:"mutatingCalls"`
	Calls         []operationCalls `json:"calls"`
	Refused       []any            `json:"refused"`
	Created       map[string]int   `json:"created"`
	Deleted       map[string]int   `json:"deleted"`
	Existing      []any            `json:"existing"`
}

type operationCalls struct {
	Service   string         `json:"service"`
	Operation string         `json:"operation"`
	Mutating  bool           `json:"mutating"`
	Count     int            `json:"count"`
	Failed    map[string]int `json:"failed"`
}

// mutating counts the calls that changed the account, by operation.
func (r cloudReport) mutating() map[string]int {
	counts := map[string]int{}
	for _, c := range r.Calls {
		if n := c.succeeded(); c.Mutating && n > 0 {
			counts[c.Service+" "+c.Operation] = n
		}
	}
	return counts
}

func (c operationCalls) succeeded() int {
	n := c.Count
	for _, failed := range c.Failed {
		n -= failed
	}
	return n
}

// count returns how often an operation was called, in vain or not.
func (r cloudReport) count(service, operation string) int {
	for _, c := range r.Calls {
		if c.Service == service && c.Operation == operation {
			return c.Count
		}
	}
	return 0
}
