package service

import (
	"time"

	"github.com/krops-go/krops/internal/rehearsal/awssim/policy"
)

// Access decides over what a caller may do.
type Access interface {
	// Decide returns whether the caller may take the action on the resource.
	// grant is what the resource's own policy says, the zero Grant if it has
	// none; keys are condition keys that the request's general ones lack, by
	// lower-case name.
	Decide(action, resource string, grant policy.Grant, keys map[string][]string) policy.Decision
	// DecideAssume is Decide for sts:AssumeRole, where the trust policy always
	// has to allow.
	DecideAssume(role string, trust policy.Grant, keys map[string][]string) policy.Decision
	// Keys gives the request's condition keys.
	Keys() policy.Keys
}

// Decide returns what Access says, and allows everything where there is none.
func (c *Call) Decide(action, resource string, grant policy.Grant, keys map[string][]string) policy.Decision {
	if c.Access == nil {
		return policy.Decision{Allowed: true}
	}
	return c.Access.Decide(action, resource, grant, keys)
}

// Identity is an IAM user or role with what decides over its permissions.
type Identity struct {
	ARN string
	// ID is the unique id, such as AIDA... or AROA....
	ID   string
	Name string
	Tags map[string]string
	// Policies are the documents of its inline and attached policies, those of
	// a user's groups included.
	Policies []string
	// Boundary is the document of its permissions boundary, if HasBoundary.
	Boundary    string
	HasBoundary bool

	// Trust and MaxSession are a role's.
	Trust      string
	MaxSession time.Duration
}

// Directory is the service that knows the account's identities: IAM. The
// account's lock is held.
type Directory interface {
	// LookupIdentity returns the user or role of that ARN.
	LookupIdentity(arn string) (Identity, bool)
	// LookupOIDCProvider returns the clients that the provider of that ARN
	// accepts, and its issuer without the scheme.
	LookupOIDCProvider(arn string) (issuer string, clients []string, ok bool)
	// PolicyDocument returns the default version of a managed policy, AWS's own
	// or the account's.
	PolicyDocument(arn string) (document string, ok bool)
	// ARN returns the ARN of what has the name, path included. kind is "role",
	// "user" or "instance-profile".
	ARN(kind, name string) (string, bool)
}

// Credential is what an access key stands for.
type Credential struct {
	SecretAccessKey string
	// SessionToken goes with temporary credentials; empty for others.
	SessionToken string
	Principal    Principal
	// Expires is when temporary credentials end; zero for never.
	Expires time.Time
	// Session are the documents that limit a session, nil for no limit.
	Session []string
	// Tags are the session's own.
	Tags map[string]string
}

// Keyring is a service that gives out access keys: IAM those of users, STS
// temporary ones. The account's lock is held.
type Keyring interface {
	// LookupAccessKey returns what the key stands for, expired ones included.
	// An unknown or inactive key is none.
	LookupAccessKey(id string) (Credential, bool)
}

// Contained is a Service that changes no other service's state than those it
// reaches, itself aside. What a service that does not implement it changed
// must be looked for everywhere, which costs time with every change.
type Contained interface {
	Reaches() []string // names of services
}
