package iamsim

import (
	"maps"
	"slices"
	"time"

	"github.com/krops-go/krops/internal/rehearsal/awssim/policy"
	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

var _ service.Directory = (*Service)(nil)

// LookupIdentity implements service.Directory.
func (s *Service) LookupIdentity(arn string) (service.Identity, bool) {
	r := s.roleByARN(arn)
	if r == nil {
		return s.userIdentity(arn)
	}
	out := service.Identity{
		ARN: r.ARN, ID: r.ID, Name: r.Name, Tags: r.Tags,
		Trust: r.Trust, MaxSession: time.Duration(r.MaxSession) * time.Second,
	}
	out.Policies = s.documentsOf(r.Inline, r.Attached)
	if r.Boundary != "" {
		out.Boundary, out.HasBoundary = s.documentOf(r.Boundary), true
	}
	return out, true
}

func (s *Service) documentsOf(inline map[string]string, attached map[string]bool) []string {
	var documents []string
	for _, name := range slices.Sorted(maps.Keys(inline)) {
		documents = append(documents, inline[name])
	}
	for _, arn := range slices.Sorted(maps.Keys(attached)) {
		documents = append(documents, s.documentOf(arn))
	}
	return documents
}

// documentOf returns the document of a managed policy.
func (s *Service) documentOf(arn string) string {
	if document, ok := s.customerDocument(arn); ok {
		return document
	}
	managed, _ := policy.LookupManaged(arn)
	return managed.Document
}

// PolicyDocument implements service.Directory.
func (s *Service) PolicyDocument(arn string) (string, bool) {
	document := s.documentOf(arn)
	return document, document != ""
}

// LookupOIDCProvider implements service.Directory.
func (s *Service) LookupOIDCProvider(arn string) (issuer string, clients []string, ok bool) {
	p := s.state.Providers[arn]
	if p == nil {
		return "", nil, false
	}
	return p.URL, p.ClientIDs, true
}

// ARN implements service.Directory.
func (s *Service) ARN(kind, name string) (string, bool) {
	switch kind {
	case "role":
		if r := s.state.Roles[name]; r != nil {
			return r.ARN, true
		}
	case "user":
		if u := s.state.Users[name]; u != nil {
			return u.ARN, true
		}
	case "instance-profile":
		if p := s.state.Profiles[name]; p != nil {
			return p.ARN, true
		}
	}
	return "", false
}
