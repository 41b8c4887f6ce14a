// Package service is the seam between the simulated AWS's front (protocols,
// signatures, the record of calls) and the services behind it: what a service
// offers, what a handler is given, and how it answers.
//
// Handlers work on the AWS SDK's own input and output types, so that client
// and simulator share one description of every shape. One lock guards the
// whole account: the front takes it before Settle and the handler and releases
// it after the state is saved, so handlers never lock and see a world that
// stands still. A handler that has to wait calls Call.Await, which lets go of
// the lock meanwhile.
package service

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"time"
)

// Service is one AWS service with the state it keeps for the account.
type Service interface {
	// Name is the service as SigV4 spells it, such as "ec2" or "eks".
	Name() string
	// Operations lists what is modelled. Anything else of the service is
	// refused by the front.
	Operations() []Operation
	// Settle applies every transition that is due at now (a NAT gateway turns
	// available, a deletion completes) and returns when the next is due, or
	// the zero time when nothing is under way. The account's lock is held.
	Settle(now time.Time) time.Time
	// State returns a pointer to what must outlive the process. It is
	// marshalled as JSON after a change and filled by unmarshalling before the
	// first call.
	State() any
	// Objects lists what exists in the account now, deleted things that are
	// still describable not included, in stable order.
	Objects() []Object
}

// Resumer is a Service with work that Async had under way when the process
// that held the account ended. Resume is called once, after the state was
// loaded and before the first call, with the account's lock held.
type Resumer interface {
	Resume(w World)
}

// Keeper is a Service that keeps more than its State, such as files that the
// state refers to. Saved is called with the account's lock held whenever the
// state that is saved is the one that there is, so that what it does not refer
// to any more may go.
type Keeper interface{ Saved() }

// Object is one thing that exists in the simulated account.
type Object struct {
	Kind   string `json:"kind"`   // as AWS names it in resource types: "vpc", "natgateway", "cluster"
	Region string `json:"region"` // empty for global services
	ID     string `json:"id"`     // id, name or ARN; unique within kind and region
	Name   string `json:"name,omitempty"`
}

// Call is one request as a handler sees it.
type Call struct {
	// Context ends when the client goes away or the server stops.
	Context context.Context
	// Region is the region of the request's signature.
	Region string
	// Account is the twelve-digit account id of the caller.
	Account string
	// Caller is the principal that signed the request.
	Caller Principal
	// Waiter reports that an SDK waiter sent the request (the user agent
	// carries feature B): it sleeps for many seconds after every answer that
	// is not final, so hold such a call with Await instead.
	Waiter bool
	// World is what the services of the account share.
	World World
	// Access decides what the caller may do beyond what the front checked. It
	// is nil where nobody is denied anything; ask with Decide.
	Access Access
}

// Principal is who signed a request.
type Principal struct {
	ARN         string
	UserID      string
	AccessKeyID string
	// Role is the ARN of the role whose session it is, or empty.
	Role string
}

// World is what the services of one account share. The front implements it.
type World interface {
	// Now is the account's time.
	Now() time.Time
	// NewID returns prefix followed by n lower-case hexadecimal digits from
	// the account's seeded source, as in NewID("vpc-", 17).
	NewID(prefix string, n int) string
	// Async runs work outside the account's lock and then finish inside it,
	// saves the state and wakes whoever awaits. The context ends with the
	// server. It is for what really takes time, such as starting a cluster.
	Async(work func(ctx context.Context) error, finish func(err error))
	// Await lets go of the lock until done reports true, ctx ends, or limit
	// of real time has passed, and reports whether done did. done is called
	// with the lock held, after Settle, whenever something changed or fell due.
	Await(ctx context.Context, limit time.Duration, done func() bool) bool
}

// HoldLimit is how long a describe call may be held back for a change of
// state. It stays below the 60 s after which common HTTP clients give up.
const HoldLimit = 50 * time.Second

// Hold waits for done on behalf of the call, see World.Await.
func (c *Call) Hold(done func() bool) bool {
	return c.World.Await(c.Context, HoldLimit, done)
}

// Operation is one API operation a service answers.
type Operation struct {
	// Name as in the API reference, such as "CreateVpc".
	Name string
	// Mutates is whether a successful call changes the account. The front
	// saves the state after it and counts it.
	Mutates bool
	// Saves is whether a call changes the state although it changes nothing
	// for AWS, such as remembering what was shown to whom. The front saves the
	// state after it too.
	Saves bool
	// Anonymous is set for operations that nobody signs. Caller is then zero.
	Anonymous bool
	// OwnAccess is set when the handler itself decides with Call.Decide
	// whether the caller may, and the front does not.
	OwnAccess bool
	// Fields are the names of the input's fields that the handler honours. A
	// request that sets any other is refused rather than half obeyed.
	Fields []string
	// In is the SDK's input struct type, not a pointer.
	In reflect.Type
	// Invoke takes a pointer to In and returns a pointer to the SDK's output.
	Invoke func(c *Call, in any) (any, error)
}

// Read declares an operation that changes nothing.
func Read[In, Out any](name string, handle func(*Call, *In) (*Out, error), fields ...string) Operation {
	return operation(name, false, handle, fields)
}

// Write declares an operation that changes the account.
func Write[In, Out any](name string, handle func(*Call, *In) (*Out, error), fields ...string) Operation {
	return operation(name, true, handle, fields)
}

func operation[In, Out any](name string, mutates bool, handle func(*Call, *In) (*Out, error), fields []string) Operation {
	return Operation{
		Name: name, Mutates: mutates, Fields: fields,
		In: reflect.TypeFor[In](),
		Invoke: func(c *Call, in any) (any, error) {
			out, err := handle(c, in.(*In))
			if err != nil {
				return nil, err
			}
			return out, nil
		},
	}
}

// Saving returns the operation with Saves set.
func (o Operation) Saving() Operation {
	o.Saves = true
	return o
}

// Unsigned returns the operation with Anonymous set.
func (o Operation) Unsigned() Operation {
	o.Anonymous = true
	return o
}

// DecidingItself returns the operation with OwnAccess set.
func (o Operation) DecidingItself() Operation {
	o.OwnAccess = true
	return o
}

// Error is a refusal in the service's own terms. Handlers return it as error;
// the front writes it in the form of the service's protocol.
type Error struct {
	Status  int    // HTTP status
	Code    string // as documented, such as "DependencyViolation"
	Message string
	// Header and Details are what S3 tells beside code and message: headers of
	// the answer, and further elements of its body.
	Header  http.Header
	Details []Detail
}

// Detail is an element of an S3 error.
type Detail struct{ Name, Value string }

func (e *Error) Error() string { return fmt.Sprintf("%s: %s", e.Code, e.Message) }

// Refuse returns an Error with status 400, the usual one for a client's fault.
func Refuse(code, format string, args ...any) *Error {
	return &Error{Status: http.StatusBadRequest, Code: code, Message: fmt.Sprintf(format, args...)}
}

// RefuseStatus returns an Error with a status of its own, for the services
// that tell not-found (404) and conflict (409) apart by it.
func RefuseStatus(status int, code, format string, args ...any) *Error {
	return &Error{Status: status, Code: code, Message: fmt.Sprintf(format, args...)}
}
