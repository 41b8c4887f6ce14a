package policy

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// principals are whom a statement of a resource policy is about.
type principals struct {
	anyone                  bool // "*" or {"AWS": "*"}
	aws, services, federate []string
}

var accountID = regexp.MustCompile(`^\d{12}$`)

func parsePrincipals(raw json.RawMessage) (*principals, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		if text != "*" {
			return nil, fmt.Errorf("the Principal %q is neither * nor an object", text)
		}
		return &principals{anyone: true}, nil
	}
	var kinds map[string]oneOrMany
	if err := json.Unmarshal(raw, &kinds); err != nil || len(kinds) == 0 {
		return nil, errors.New("the Principal is neither * nor an object of lists")
	}
	p := &principals{}
	for kind, list := range kinds {
		switch kind {
		case "AWS":
			for _, name := range list {
				switch {
				case name == "*":
					p.anyone = true
				case accountID.MatchString(name):
					p.aws = append(p.aws, "arn:aws:iam::"+name+":root")
				default:
					p.aws = append(p.aws, name)
				}
			}
		case "Service":
			p.services = append(p.services, list...)
		case "Federated":
			p.federate = append(p.federate, list...)
		case "CanonicalUser":
		default:
			return nil, fmt.Errorf("the Principal's kind %q is unknown", kind)
		}
	}
	return p, nil
}

// Who is a principal that a resource policy may name.
type Who struct {
	// ARN is the caller's own: of a user, or of a role's session.
	ARN string
	// Role is the ARN of the role whose session it is, or empty.
	Role string
	// Account is the twelve-digit id of the principal's account.
	Account string
	// Service is an AWS service such as "eks.amazonaws.com".
	Service string
	// Federated is an identity provider: its ARN or host.
	Federated string
}

// direct reports that the principal is named itself, not only by its account.
func (p *principals) direct(w Who) bool {
	switch {
	case w.Service != "":
		return slices.Contains(p.services, w.Service)
	case w.Federated != "":
		return slices.Contains(p.federate, w.Federated)
	}
	return p.anyone || slices.ContainsFunc(p.aws, func(name string) bool {
		return name == w.ARN || w.Role != "" && name == w.Role
	})
}

// account reports that the principal's account is named, which leaves the
// decision to the account's own policies.
func (p *principals) account(w Who) bool {
	return w.Account != "" && slices.ContainsFunc(p.aws, func(name string) bool {
		return strings.HasSuffix(name, ":root") && strings.Contains(name, "::"+w.Account+":")
	})
}
