package iamsim

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// oneOrMany reads what policy grammar allows as one value or a list of them.
type oneOrMany[T any] []T

func (m *oneOrMany[T]) UnmarshalJSON(data []byte) error {
	if strings.HasPrefix(strings.TrimSpace(string(data)), "[") {
		return json.Unmarshal(data, (*[]T)(m))
	}
	var one T
	if err := json.Unmarshal(data, &one); err != nil {
		return err
	}
	*m = []T{one}
	return nil
}

type policyDocument struct {
	Statement oneOrMany[statement]
}

type statement struct {
	Effect    string
	Action    oneOrMany[string]
	Principal json.RawMessage // "*" or an object
}

func parseDocument(document string) (policyDocument, error) {
	var parsed policyDocument
	if err := json.Unmarshal([]byte(document), &parsed); err != nil {
		return parsed, service.Refuse("MalformedPolicyDocument", "This policy contains invalid Json")
	}
	if len(parsed.Statement) == 0 {
		return parsed, service.Refuse("MalformedPolicyDocument", "Syntax errors in policy: it has no Statement.")
	}
	for _, st := range parsed.Statement {
		if st.Effect != "Allow" && st.Effect != "Deny" {
			return parsed, service.Refuse("MalformedPolicyDocument", "Syntax errors in policy: Effect must be Allow or Deny, not %q.", st.Effect)
		}
	}
	return parsed, nil
}

// checkTrust refuses what cannot be a role's trust policy.
func checkTrust(document string) error {
	parsed, err := parseDocument(document)
	if err != nil {
		return err
	}
	for _, st := range parsed.Statement {
		if len(st.Principal) == 0 || len(st.Action) == 0 {
			return service.Refuse("MalformedPolicyDocument", "AssumeRole policy must contain principals and actions in each statement.")
		}
	}
	return nil
}

// trusts reports whether the trust policy lets the AWS service, such as
// "eks.amazonaws.com", assume the role.
func trusts(document, servicePrincipal string) bool {
	parsed, err := parseDocument(document)
	if err != nil {
		return false
	}
	for _, st := range parsed.Statement {
		if st.Effect != "Allow" || !slices.Contains(st.Action, "sts:AssumeRole") {
			continue
		}
		var principal struct{ Service oneOrMany[string] }
		// A principal of another form, such as "*", names no service.
		if json.Unmarshal(st.Principal, &principal) == nil && slices.Contains(principal.Service, servicePrincipal) {
			return true
		}
	}
	return false
}

// encoded is the document in the URL encoding of RFC 3986 in which IAM gives
// policies back.
func encoded(document string) string {
	return strings.ReplaceAll(url.QueryEscape(document), "+", "%20")
}
