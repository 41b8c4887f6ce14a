package policy

import (
	"slices"
	"strconv"
	"strings"
)

// Request is what is to be decided: one action on one resource.
type Request struct {
	Action   string // as in policies, such as "ec2:CreateVpc"
	Resource string // ARN, or * where the action has no resource
	Keys     Keys
}

// Keys gives the values of a condition key by its lower-case name, or nil when
// the request has none. It may be nil.
type Keys func(name string) []string

func (k Keys) values(name string) []string {
	if k == nil {
		return nil
	}
	return k(strings.ToLower(name))
}

// Effect is what policies say about a request.
type Effect int

const (
	// Silent says nothing, which denies unless another policy allows.
	Silent Effect = iota
	// Allow allows.
	Allow
	// Deny denies whatever else allows.
	Deny
)

// Evaluate returns what the identity policy says about the request.
func (d *Document) Evaluate(r Request) Effect {
	effect, _ := d.decide(r, func(*statement) bool { return true })
	return effect
}

// Decider returns the Sid of the statement that made the decision, or its
// place in the document as statement1 and so on; empty when Silent.
func (d *Document) Decider(r Request) (Effect, string) {
	effect, at := d.decide(r, func(*statement) bool { return true })
	if effect == Silent {
		return effect, ""
	}
	if id := d.statements[at].id; id != "" {
		return effect, id
	}
	return effect, "statement" + strconv.Itoa(at+1)
}

// ConditionKeys lists the keys that the document's conditions look at, sorted,
// as they are spelled there.
func (d *Document) ConditionKeys() []string {
	var keys []string
	for _, s := range d.statements {
		for _, c := range s.conditions {
			keys = append(keys, c.key)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// Grant is what a resource policy says about a principal.
type Grant struct {
	Effect Effect
	// Direct is whether an Allow names the principal itself. Otherwise it names
	// the account, whose identity policies decide.
	Direct bool
}

// Grants returns what the resource or trust policy says about the principal.
func (d *Document) Grants(who Who, r Request) Grant {
	direct, _ := d.decide(r, func(s *statement) bool {
		if s.notPrincipal != nil {
			return !s.notPrincipal.direct(who) && !s.notPrincipal.account(who)
		}
		return s.principal.direct(who)
	})
	if direct != Silent {
		return Grant{Effect: direct, Direct: true}
	}
	byAccount, _ := d.decide(r, func(s *statement) bool { return s.principal != nil && s.principal.account(who) })
	return Grant{Effect: byAccount}
}

// decide goes through the statements for which concerns reports true.
func (d *Document) decide(r Request, concerns func(*statement) bool) (Effect, int) {
	effect, by := Silent, 0
	action := ""
	for i := range d.statements {
		s := &d.statements[i]
		if s.everything {
			if s.deny {
				return Deny, i
			}
			if effect == Silent {
				effect, by = Allow, i
			}
			continue
		}
		if effect == Allow && !s.deny || !concerns(s) {
			continue
		}
		if action == "" {
			action = strings.ToLower(r.Action)
		}
		if !s.coversAction(action) || !s.coversResource(r) || !s.holds(r.Keys) {
			continue
		}
		if s.deny {
			return Deny, i
		}
		effect, by = Allow, i
	}
	return effect, by
}

func (s *statement) coversAction(action string) bool {
	matches := func(pattern string) bool { return glob(pattern, action) }
	if len(s.notActions) > 0 {
		return !slices.ContainsFunc(s.notActions, matches)
	}
	return slices.ContainsFunc(s.actions, matches)
}

func (s *statement) coversResource(r Request) bool {
	matches := func(pattern string) bool {
		pattern, ok := expand(pattern, r.Keys)
		return ok && arnGlob(pattern, r.Resource)
	}
	switch {
	case len(s.notOthers) > 0:
		return !slices.ContainsFunc(s.notOthers, matches)
	case len(s.resources) > 0:
		return slices.ContainsFunc(s.resources, matches)
	}
	return true // a trust policy
}

func (s *statement) holds(keys Keys) bool {
	for i := range s.conditions {
		if !s.conditions[i].holds(keys) {
			return false
		}
	}
	return true
}
