package policy

// Permissions are all the policies that decide over one principal.
type Permissions struct {
	// Identity are the principal's policies: inline, attached, and its groups'.
	Identity []*Document
	// Boundary limits what Identity can allow; nil if there is none.
	Boundary *Document
	// Session limits a session further; nil if it was made without policies.
	Session []*Document
}

// Decision is the answer to a Request.
type Decision struct {
	Allowed bool
	// Explicit is whether a Deny statement denied it.
	Explicit bool
	// By is the kind of policy that denied, as AWS's messages name it:
	// "identity-based policy", "permissions boundary", "session policy" or
	// "resource-based policy". Empty when Allowed.
	By string
}

// The kinds of policies in a Decision.
const (
	byIdentity = "identity-based policy"
	byBoundary = "permissions boundary"
	bySession  = "session policy"
	byResource = "resource-based policy"
)

// Reason ends AWS's message about a denied action.
func (d Decision) Reason(action string) string {
	switch {
	case d.Allowed:
		return ""
	case d.Explicit && d.By == byIdentity:
		return "with an explicit deny in an " + d.By
	case d.Explicit:
		return "with an explicit deny in a " + d.By
	}
	return "because no " + d.By + " allows the " + action + " action"
}

// Decide returns what the principal may do by its own policies.
func (p *Permissions) Decide(r Request) Decision {
	return p.decide(r, Grant{}, false)
}

// DecideWith returns what the principal may do where the resource has a policy
// too. In one account either of the two may allow; a resource policy that
// names the principal itself needs no identity policy (IAM User Guide, "Policy
// evaluation logic", "Evaluating identity-based policies with resource-based
// policies").
func (p *Permissions) DecideWith(r Request, g Grant) Decision {
	return p.decide(r, g, false)
}

// DecideAssume is DecideWith for roles, whose trust policy always has to allow.
func (p *Permissions) DecideAssume(r Request, trust Grant) Decision {
	return p.decide(r, trust, true)
}

func (p *Permissions) decide(r Request, g Grant, mustGrant bool) Decision {
	identity := strongest(p.Identity, r)
	session := strongest(p.Session, r)
	boundary := Silent
	if p.Boundary != nil {
		boundary = p.Boundary.Evaluate(r)
	}
	granted := g.Effect == Allow && g.Direct
	switch {
	case identity == Deny:
		return Decision{Explicit: true, By: byIdentity}
	case g.Effect == Deny:
		return Decision{Explicit: true, By: byResource}
	case boundary == Deny:
		return Decision{Explicit: true, By: byBoundary}
	case session == Deny:
		return Decision{Explicit: true, By: bySession}
	case mustGrant && g.Effect != Allow:
		return Decision{By: byResource}
	case identity != Allow && !granted:
		return Decision{By: byIdentity}
	case p.Boundary != nil && boundary != Allow && !granted:
		return Decision{By: byBoundary}
	case p.Session != nil && session != Allow && !granted:
		return Decision{By: bySession}
	}
	return Decision{Allowed: true}
}

func strongest(documents []*Document, r Request) Effect {
	effect := Silent
	for _, d := range documents {
		effect = max(effect, d.Evaluate(r))
		if effect == Deny {
			break
		}
	}
	return effect
}
