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
	RESTXML                      // method, path, headers and XML body; Amazon S3
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

// Binding is where an operation of a REST API is found; it is zero for the
// other protocols. All but the first three are of RESTXML.
type Binding struct {
	Method string
	// URI is the path's template. A label in braces is the request spelling of
	// the field it carries; one that ends in a plus takes the rest of the path.
	// What follows a question mark tells operations of one path apart.
	URI string
	// Query are the request spellings of the fields carried in the query.
	Query []string
	// Bucket is whether the operation is on a bucket, which the host or the
	// first segment of the path names.
	Bucket bool
	// Headers are the request spellings of the fields carried in headers, and
	// OutHeaders the response spellings. A map's is the prefix of its headers.
	Headers, OutHeaders []string
	// Required are the spellings of query members and headers without which
	// the request is for another operation.
	Required []string
	// Payload is the field that is the whole body of the request, and
	// OutPayload that of the response.
	Payload, OutPayload string
}

// Name is the spelling of one field.
type Name struct {
	In   string // in requests
	Out  string // in responses
	Item string // element name of a list's items
	// Flat is whether a list's items stand side by side in the structure itself.
	Flat bool
	// Attr is whether the field is an attribute of the element.
	Attr bool
	// HTTPDate is whether a time is written as HTTP headers do.
	HTTPDate bool
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
	name.Flat, name.Attr, name.HTTPDate = differs.Flat, differs.Attr, differs.HTTPDate
	if name.Attr {
		name.In = name.Out // the SDK writes attributes where their element begins
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
	case list && (p == Query || p == RESTXML):
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
