package cfnsim

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// stack is a stack, also after it was deleted.
type stack struct {
	Name, ID, Region     string
	Status               types.StackStatus
	Reason               string `json:",omitempty"`
	CreatedAt            time.Time
	UpdatedAt, DeletedAt time.Time `json:",omitzero"`
	Body                 string    // of the template
	Parameters           map[string]string
	Tags                 map[string]string
	Capabilities         []types.Capability
	OnFailure            types.OnFailure
	Protected            bool `json:",omitempty"`
	Resources            map[string]*resource
	Outputs              map[string]shownOutput `json:",omitempty"`
	Events               []event
	Owner                service.Principal // on whose behalf resources are made
	Denied               map[string]string `json:",omitempty"` // why the owner may not make a resource, by logical id
	Work                 *work             `json:",omitempty"` // while an operation is under way
}

type resource struct {
	Type, PhysicalID string
	Status           types.ResourceStatus
	Reason           string `json:",omitempty"`
	ChangedAt        time.Time
	Properties       properties        // as it was made
	Attributes       map[string]string // for Fn::GetAtt
	Needs            []string          // logical ids
	Retained         bool
}

type shownOutput struct{ Value, Description, Export string }

type event struct {
	ID, LogicalID, PhysicalID, Type, Reason, Token string
	Status                                         types.ResourceStatus
	At                                             time.Time
}

// work is an operation that is under way: steps, of which one at a time takes
// its time.
type work struct {
	Phase   phase
	Steps   []step
	DoneAt  time.Time // of the first step
	Started bool      // whether the first step was
	Token   string    // of the request
	Failed  []string  // logical ids
	Blocked []string  // resources that stay because failed ones need them
	Keep    []string  // resources not to delete, by logical id
	// Before is what an update goes back to when it fails.
	Before *version
	// Replaced are physical resources that an update left behind.
	Replaced []leftover
}

type version struct {
	Body       string
	Parameters map[string]string
	Tags       map[string]string
}

type leftover struct {
	LogicalID, Type, PhysicalID string
	Properties                  properties
	Attributes                  map[string]string
}

// phase is what an operation does.
type phase string

const (
	creating       phase = "create"
	rollingBack    phase = "roll back" // a create
	updating       phase = "update"
	updateRollback phase = "roll back update"
	cleaning       phase = "clean up" // after an update
	deleting       phase = "delete"
)

// step is one resource's part in an operation.
type step struct {
	LogicalID string
	Leftover  int // one more than the index in Replaced; zero for the resource itself
}

// previousTags are the tags that resources have while an update is under way.
func (st *stack) previousTags() map[string]string {
	if st.Work != nil && st.Work.Before != nil {
		return st.Work.Before.Tags
	}
	return st.Tags
}

func (st *stack) inProgress() bool { return strings.HasSuffix(string(st.Status), "_IN_PROGRESS") }

func (st *stack) gone() bool { return st.Status == types.StackStatusDeleteComplete }

// deletionOrder lists the resources so that each comes before those it needs.
func (st *stack) deletionOrder() []string {
	var order []string
	done := map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		if done[name] || st.Resources[name] == nil {
			return
		}
		done[name] = true
		for _, other := range st.Resources[name].Needs {
			visit(other)
		}
		order = append(order, name)
	}
	for _, name := range slices.Sorted(maps.Keys(st.Resources)) {
		visit(name)
	}
	slices.Reverse(order)
	return order
}
