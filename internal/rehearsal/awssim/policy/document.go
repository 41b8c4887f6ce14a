// Package policy is the language of IAM policies: reading documents, and
// deciding what they say about a request (IAM User Guide, "IAM JSON policy
// reference" and "Policy evaluation logic"). It knows nothing of the account;
// whoever asks brings the documents and the condition keys.
package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Document is a policy that was read. It is read-only.
type Document struct {
	statements []statement
}

type statement struct {
	id                   string
	deny                 bool
	actions, notActions  []string // lower case
	resources, notOthers []string // Resource and NotResource
	principal            *principals
	notPrincipal         *principals
	conditions           []condition
	everything           bool // action and resource are * and nothing else is asked
}

// Grammar says of which of IAM's three kinds a document is.
type Grammar int

const (
	// Identity policies are attached to users and roles: they name no
	// principal and always a resource. Boundaries and session policies are of
	// this kind as well.
	Identity Grammar = iota
	// Trust policies are the resource policies of roles: they name principals
	// and no resource.
	Trust
	// Resource policies name principals and resources.
	Resource
)

// rawStatement is a statement as JSON has it.
type rawStatement struct {
	Sid          string
	Effect       string
	Action       oneOrMany
	NotAction    oneOrMany
	Resource     oneOrMany
	NotResource  oneOrMany
	Principal    json.RawMessage
	NotPrincipal json.RawMessage
	Condition    map[string]map[string]values
}

// Parse reads a document and refuses what IAM refuses: unknown elements, a
// statement without effect, action or what else the grammar wants, unknown
// condition operators. The error says what is wrong in a form fit for IAM's
// MalformedPolicyDocument.
func Parse(text string, grammar Grammar) (*Document, error) {
	var raw struct {
		Version   string
		ID        string `json:"Id"`
		Statement json.RawMessage
	}
	if err := strict([]byte(text), &raw); err != nil {
		return nil, err
	}
	if raw.Version != "" && raw.Version != "2012-10-17" && raw.Version != "2008-10-17" {
		return nil, fmt.Errorf("the Version %q is none of 2012-10-17 and 2008-10-17", raw.Version)
	}
	if len(raw.Statement) == 0 {
		return nil, errors.New("it has no Statement")
	}
	var statements []rawStatement
	if bytes.HasPrefix(bytes.TrimSpace(raw.Statement), []byte("[")) {
		if err := strict(raw.Statement, &statements); err != nil {
			return nil, err
		}
	} else {
		statements = make([]rawStatement, 1)
		if err := strict(raw.Statement, &statements[0]); err != nil {
			return nil, err
		}
	}
	if len(statements) == 0 {
		return nil, errors.New("it has no Statement")
	}
	doc := &Document{}
	for i, s := range statements {
		compiled, err := s.compile(grammar)
		if err != nil {
			return nil, fmt.Errorf("statement %d: %w", i+1, err)
		}
		doc.statements = append(doc.statements, compiled)
	}
	return doc, nil
}

func strict(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("it is no policy in JSON: %w", err)
	}
	if d.More() {
		return errors.New("it is no policy in JSON: something follows the document")
	}
	return nil
}

func (s rawStatement) compile(grammar Grammar) (statement, error) {
	out := statement{id: s.Sid, resources: s.Resource, notOthers: s.NotResource}
	switch s.Effect {
	case "Allow":
	case "Deny":
		out.deny = true
	default:
		return out, fmt.Errorf("Effect must be Allow or Deny, not %q", s.Effect)
	}
	if (len(s.Action) == 0) == (len(s.NotAction) == 0) {
		return out, errors.New("it must have either Action or NotAction")
	}
	for _, action := range slices.Concat(s.Action, s.NotAction) {
		if prefix, name, ok := strings.Cut(action, ":"); action != "*" && (!ok || prefix == "" || name == "") {
			return out, fmt.Errorf("the action %q is not vendor:name", action)
		}
	}
	out.actions, out.notActions = lower(s.Action), lower(s.NotAction)

	hasResource, hasPrincipal := len(s.Resource)+len(s.NotResource) > 0, len(s.Principal)+len(s.NotPrincipal) > 0
	switch {
	case len(s.Resource) > 0 && len(s.NotResource) > 0:
		return out, errors.New("it cannot have both Resource and NotResource")
	case len(s.Principal) > 0 && len(s.NotPrincipal) > 0:
		return out, errors.New("it cannot have both Principal and NotPrincipal")
	case grammar == Identity && hasPrincipal:
		return out, errors.New("it cannot have a Principal")
	case grammar != Identity && !hasPrincipal:
		return out, errors.New("it must have a Principal")
	case grammar == Trust && hasResource:
		return out, errors.New("it cannot have a Resource")
	case grammar != Trust && !hasResource:
		return out, errors.New("it must have either Resource or NotResource")
	}
	for _, resource := range slices.Concat(s.Resource, s.NotResource) {
		if resource != "*" && !strings.HasPrefix(resource, "arn:") && !strings.HasPrefix(resource, "*") && !strings.HasPrefix(resource, "${") {
			return out, fmt.Errorf("the resource %q is neither an ARN nor *", resource)
		}
	}
	var err error
	if out.principal, err = parsePrincipals(s.Principal); err != nil {
		return out, err
	}
	if out.notPrincipal, err = parsePrincipals(s.NotPrincipal); err != nil {
		return out, err
	}
	if out.conditions, err = compileConditions(s.Condition); err != nil {
		return out, err
	}
	out.everything = slices.Contains(out.actions, "*") && slices.Contains(out.resources, "*") && len(out.conditions) == 0 && !hasPrincipal
	return out, nil
}

func lower(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = strings.ToLower(s)
	}
	return out
}

// oneOrMany is what the grammar allows as one string or a list of them.
type oneOrMany []string

func (m *oneOrMany) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("[")) {
		return json.Unmarshal(data, (*[]string)(m))
	}
	var one string
	if err := json.Unmarshal(data, &one); err != nil {
		return err
	}
	*m = []string{one}
	return nil
}

// values are a condition's, which may be written as booleans and numbers.
type values []string

func (v *values) UnmarshalJSON(data []byte) error {
	var any any
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&any); err != nil {
		return err
	}
	list, ok := any.([]interface{})
	if !ok {
		list = []interface{}{any}
	}
	for _, one := range list {
		switch one := one.(type) {
		case string:
			*v = append(*v, one)
		case bool:
			*v = append(*v, strconv.FormatBool(one))
		case json.Number:
			*v = append(*v, one.String())
		default:
			return fmt.Errorf("a condition's value is %T where a string, number or boolean is wanted", one)
		}
	}
	return nil
}
