package iamsim

import (
	"encoding/json"
	"strings"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// userIdentity is LookupIdentity for a user.
func (s *Service) userIdentity(arn string) (service.Identity, bool) {
	for _, u := range s.state.Users {
		if u.ARN != arn {
			continue
		}
		out := service.Identity{ARN: u.ARN, ID: u.ID, Name: u.Name, Tags: u.Tags, Policies: s.documentsOf(u.Inline, u.Attached)}
		for _, name := range s.groupsOf(u.Name) {
			g := s.state.Groups[name]
			out.Policies = append(out.Policies, s.documentsOf(g.Inline, g.Attached)...)
		}
		if u.Boundary != "" {
			out.Boundary, out.HasBoundary = s.documentOf(u.Boundary), true
		}
		return out, true
	}
	return service.Identity{}, false
}

// checkPrincipals refuses a trust policy that names a user or role of the
// account that does not exist, as IAM does when it looks for its unique id.
// caller is one that the account was given from outside.
func (s *Service) checkPrincipals(document, account, caller string) error {
	parsed, err := parseDocument(document)
	if err != nil {
		return err
	}
	for _, st := range parsed.Statement {
		var principal struct{ AWS oneOrMany[string] }
		if json.Unmarshal(st.Principal, &principal) != nil {
			continue // a principal of another form, such as "*", names nobody
		}
		for _, arn := range principal.AWS {
			if !strings.HasPrefix(arn, "arn:aws:iam::"+account+":") || strings.HasSuffix(arn, ":root") || arn == caller {
				continue
			}
			if _, ok := s.LookupIdentity(arn); !ok {
				return service.Refuse("MalformedPolicyDocument", "Invalid principal in policy: \"AWS\":\"%s\"", arn)
			}
		}
	}
	return nil
}
