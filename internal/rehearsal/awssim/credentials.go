package awssim

import (
	"fmt"
	"time"

	"github.com/krops-go/krops/internal/rehearsal/awssim/policy"
	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
	"github.com/krops-go/krops/internal/rehearsal/awssim/sigv4"
)

// given is an access key that the server was made with.
type given struct {
	credential  service.Credential
	permissions *policy.Permissions
}

// give adds an access key.
func (s *Server) give(c Credential) error {
	if c.AccessKeyID == "" || c.SecretAccessKey == "" {
		return fmt.Errorf("the credential of %q lacks its access key id or secret", c.ARN)
	}
	documents := c.Policies
	if documents == nil {
		documents = []string{policy.AdministratorAccess}
	}
	g := given{
		credential: service.Credential{
			SecretAccessKey: c.SecretAccessKey, SessionToken: c.SessionToken,
			Principal: service.Principal{ARN: c.ARN, UserID: c.UserID, AccessKeyID: c.AccessKeyID},
		},
		permissions: &policy.Permissions{},
	}
	for _, text := range documents {
		doc, err := policy.Parse(text, policy.Identity)
		if err != nil {
			return fmt.Errorf("a policy of %q: %w", c.ARN, err)
		}
		g.permissions.Identity = append(g.permissions.Identity, doc)
	}
	s.given[c.AccessKeyID] = g
	s.givenTo[c.ARN] = g.permissions
	return nil
}

// secret is sigv4.Verifier.Lookup.
func (s *Server) secret(id string) (sigv4.Secret, bool) {
	if g, ok := s.given[id]; ok {
		return sigv4.Secret{Key: g.credential.SecretAccessKey, SessionToken: g.credential.SessionToken}, true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok := s.credentialLocked(id)
	return sigv4.Secret{Key: c.SecretAccessKey, SessionToken: c.SessionToken}, ok
}

// credentialLocked returns what an access key stands for.
func (s *Server) credentialLocked(id string) (service.Credential, bool) {
	if g, ok := s.given[id]; ok {
		return g.credential, true
	}
	for _, keyring := range s.keyrings {
		if c, ok := keyring.LookupAccessKey(id); ok {
			return c, true
		}
	}
	return service.Credential{}, false
}

// expired reports that temporary credentials have ended.
func expired(c service.Credential, now time.Time) bool {
	return !c.Expires.IsZero() && !now.Before(c.Expires)
}

// permissionsLocked returns what decides over the holder of a credential. A
// principal that IAM does not know any more has no policies, so that
// everything is denied.
func (s *Server) permissionsLocked(c service.Credential) *policy.Permissions {
	if g, ok := s.given[c.Principal.AccessKeyID]; ok {
		return g.permissions
	}
	out := &policy.Permissions{}
	subject := c.Principal.ARN
	if c.Principal.Role != "" {
		subject = c.Principal.Role
	}
	if p, ok := s.givenTo[subject]; ok {
		*out = *p
	} else if s.directory != nil {
		identity, _ := s.directory.LookupIdentity(subject)
		out = s.permissionsOf(identity)
	}
	if c.Session != nil {
		out.Session = s.documents(c.Session)
	}
	return out
}

func (s *Server) permissionsOf(identity service.Identity) *policy.Permissions {
	out := &policy.Permissions{Identity: s.documents(identity.Policies)}
	if identity.HasBoundary {
		out.Boundary = s.document(identity.Boundary)
	}
	return out
}

func (s *Server) documents(texts []string) []*policy.Document {
	out := make([]*policy.Document, 0, len(texts))
	for _, text := range texts {
		out = append(out, s.document(text))
	}
	return out
}

// maxDocuments is how many documents are kept as they were read.
const maxDocuments = 1000

// document reads a document, once. IAM has checked it; what cannot be read all
// the same says nothing, and so allows nothing.
func (s *Server) document(text string) *policy.Document {
	if doc, ok := s.read[text]; ok {
		return doc
	}
	doc, err := policy.Parse(text, policy.Identity)
	if err != nil {
		s.log.Error("a policy document cannot be read", "error", err)
		doc = &policy.Document{}
	}
	if len(s.read) >= maxDocuments {
		clear(s.read)
	}
	s.read[text] = doc
	return doc
}
