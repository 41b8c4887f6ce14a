// Package faults makes the simulated AWS fail the way AWS does at times: it
// throttles, breaks, cuts connections, answers late, shows new resources only
// after a while, or is short of capacity or quota. Which calls are hit is
// declared by rules, and drawn from a seed where a rule says so.
package faults

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// Kind is what a rule does to a call.
type Kind string

const (
	// Throttle refuses in the service's own words for too many requests.
	Throttle Kind = "throttle"
	// Internal refuses with a 500, Unavailable with a 503.
	Internal    Kind = "internal"
	Unavailable Kind = "unavailable"
	// CutBefore closes the connection before the call has any effect,
	// CutAfter after it had its effect and before the answer.
	CutBefore Kind = "cut-before"
	CutAfter  Kind = "cut-after"
	// Slow answers only after Delay on the account's clock.
	Slow Kind = "slow"
	// Eventual hides what the call creates from other calls for Delay.
	Eventual Kind = "eventual"
	// Capacity refuses for lack of capacity, Quota for a quota reached.
	Capacity Kind = "capacity"
	Quota    Kind = "quota"
	// Refuse refuses with the rule's Code, Status and Message.
	Refuse Kind = "refuse"
)

var kinds = []Kind{Throttle, Internal, Unavailable, CutBefore, CutAfter, Slow, Eventual, Capacity, Quota, Refuse}

// Rule says which calls are hit and how. Empty members match every call.
type Rule struct {
	Service   string `json:"service,omitempty"`   // as the SDK names its package, such as "ec2"
	Operation string `json:"operation,omitempty"` // may end in *, as in "Create*"
	Region    string `json:"region,omitempty"`
	Principal string `json:"principal,omitempty"` // ARN of the user or role

	Kind Kind `json:"kind"`
	// Probability of a matching call to be hit; zero means certain.
	Probability float64 `json:"probability,omitempty"`
	// After is how many matching calls are let through first.
	After int `json:"after,omitempty"`
	// Every hits only each n-th of the matching calls that are left; zero
	// means each.
	Every int `json:"every,omitempty"`
	// Count is how many calls are hit at most; zero means no limit.
	Count int `json:"count,omitempty"`
	// Delay is for Slow and Eventual, such as "2s".
	Delay Duration `json:"delay,omitempty"`
	// Code, Status and Message are for Refuse.
	Code    string `json:"code,omitempty"`
	Status  int    `json:"status,omitempty"`
	Message string `json:"message,omitempty"`
}

// Duration is a time.Duration that JSON spells like "1m30s".
type Duration time.Duration

// UnmarshalJSON reads the form of time.ParseDuration.
func (d *Duration) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	parsed, err := time.ParseDuration(text)
	*d = Duration(parsed)
	return err
}

// MarshalJSON writes the form that UnmarshalJSON reads.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(d).String()) }

func (r Rule) check() error {
	switch {
	case !slices.Contains(kinds, r.Kind):
		return fmt.Errorf("kind %q is none of %v", r.Kind, kinds)
	case r.Probability < 0 || r.Probability > 1:
		return fmt.Errorf("probability %v is not between 0 and 1", r.Probability)
	case r.After < 0 || r.Count < 0 || r.Every < 0:
		return fmt.Errorf("after, every and count must not be negative")
	case (r.Kind == Slow || r.Kind == Eventual) && r.Delay <= 0:
		return fmt.Errorf("kind %q needs a delay", r.Kind)
	case r.Kind == Refuse && r.Code == "":
		return fmt.Errorf("kind %q needs a code", r.Kind)
	}
	return nil
}

// Call is a call as rules see it.
type Call struct {
	Service, Operation, Region, Principal string
}

func (r Rule) matches(c Call) bool {
	return (r.Service == "" || r.Service == c.Service) &&
		(r.Region == "" || r.Region == c.Region) &&
		(r.Principal == "" || r.Principal == c.Principal) &&
		matchOperation(r.Operation, c.Operation)
}

func matchOperation(pattern, operation string) bool {
	if prefix, open := strings.CutSuffix(pattern, "*"); open {
		return strings.HasPrefix(operation, prefix)
	}
	return pattern == "" || pattern == operation
}

// Injector decides which calls are hit. It is safe for concurrent use; calls
// that come at the same time are counted in the order of their arrival.
type Injector struct {
	mu     sync.Mutex
	random *rand.Rand
	rules  []*counted
	gates  []*Gate
}

type counted struct {
	Rule
	seen, hit int
}

// New returns an injector with the rules. The seed decides what probabilities
// come to.
func New(seed int64, rules ...Rule) (*Injector, error) {
	i := &Injector{random: rand.New(rand.NewPCG(uint64(seed), 0))}
	return i, i.Add(rules...)
}

// Load returns an injector with the rules of a JSON file: a list of rules, or
// an object with "seed" and "rules".
func Load(path string) (*Injector, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("faults: %w", err)
	}
	var file struct {
		Seed  int64  `json:"seed"`
		Rules []Rule `json:"rules"`
	}
	into := any(&file)
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("[")) {
		into = &file.Rules
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return nil, fmt.Errorf("faults: %s: %w", path, err)
	}
	i, err := New(file.Seed, file.Rules...)
	if err != nil {
		return nil, fmt.Errorf("faults: %s: %w", path, err)
	}
	return i, nil
}

// Add adds rules behind those there are.
func (i *Injector) Add(rules ...Rule) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	for n, r := range rules {
		if err := r.check(); err != nil {
			return fmt.Errorf("fault rule %d: %w", n+1, err)
		}
		i.rules = append(i.rules, &counted{Rule: r})
	}
	return nil
}

// Clear removes every rule.
func (i *Injector) Clear() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.rules = nil
}

// Hits counts the calls that each rule hit, in the order of the rules.
func (i *Injector) Hits() []int {
	i.mu.Lock()
	defer i.mu.Unlock()
	hits := make([]int, len(i.rules))
	for n, r := range i.rules {
		hits[n] = r.hit
	}
	return hits
}

// Decide returns the rules that hit the call, in their order. A nil Injector
// hits none.
func (i *Injector) Decide(c Call) []Rule {
	if i == nil {
		return nil
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	var hits []Rule
	for _, r := range i.rules {
		if !r.matches(c) || r.Count > 0 && r.hit >= r.Count {
			continue
		}
		r.seen++
		left := r.seen - r.After
		if left <= 0 || r.Every > 1 && left%r.Every != 0 {
			continue
		}
		if r.Probability > 0 && i.random.Float64() >= r.Probability {
			continue
		}
		r.hit++
		hits = append(hits, r.Rule)
	}
	return hits
}
