// Package spelling says how the fields of the AWS SDK's structs are spelled on
// the wire: one rule per protocol, and tables of what the rule does not yield.
// The tables are generated from the SDK by wiregen; package wire reads them.
package spelling

import "strings"

// Protocol is one of AWS's request and response encodings.
type Protocol int

// The protocols of the APIs that are simulated.
const (
	EC2Query Protocol = iota + 1 // form in, XML out, lists flattened in requests
	Query                        // form in, XML out
	RESTJSON                     // method, path and JSON body
	JSON11                       // X-Amz-Target and JSON body
)

// Table is the spelling of one API.
type Table struct {
	Protocol Protocol
	// Version is the form's Version for the query protocols, the part of
	// X-Amz-Target before the dot for JSON11, and empty otherwise.
	Version string
	// Operations are the ones whose shapes the table covers.
	Operations map[string]Binding
	// Names holds, by "Type.Field", what differs from Default. Empty members
	// of a Name mean the default.
	Names map[string]Name
}

// Binding is where an operation of a RESTJSON API is found; it is zero for the
// other protocols.
type Binding struct {
	Method string
	// URI is the path's template. A label in braces is the request spelling of
	// the field it carries.
	URI string
	// Query are the request spellings of the fields carried in the query.
	Query []string
}

// Name is the spelling of one field.
type Name struct {
	In   string // in requests
	Out  string // in responses
	Item string // element name of a list's items
}

// Of returns the spelling of a struct's field; list is whether it holds a list.
func (t *Table) Of(structName, field string, list bool) Name {
	name := Default(t.Protocol, field, list)
	differs := t.Names[structName+"."+field]
	if differs.In != "" {
		name.In = differs.In
	}
	if differs.Out != "" {
		name.Out = differs.Out
	}
	if differs.Item != "" {
		name.Item = differs.Item
	}
	return name
}

// Default is the protocol's rule for a field. The SDK capitalises member names
// and otherwise keeps them; EC2 also has habits about lists, which are common
// enough to be worth a rule.
func Default(p Protocol, field string, list bool) Name {
	switch {
	case p == EC2Query && list:
		one := strings.TrimSuffix(field, "s")
		return Name{In: one, Out: lowerFirst(one) + "Set", Item: "item"}
	case p == EC2Query:
		return Name{In: field, Out: lowerFirst(field)}
	case p == RESTJSON:
		return Name{In: lowerFirst(field), Out: lowerFirst(field)}
	case list && p == Query:
		return Name{In: field, Out: field, Item: "member"}
	default:
		return Name{In: field, Out: field}
	}
}

func lowerFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}
