// Package secretsim is AWS Secrets Manager: secrets with their versions and
// recovery windows, and those that other services own, such as RDS's for
// master passwords.
package secretsim

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
	"github.com/krops-go/krops/internal/rehearsal/awssim/taggingsim"
)

// Service is Secrets Manager for one account. The account's lock guards it.
type Service struct {
	account string
	state   state
}

var (
	_ service.Service     = (*Service)(nil)
	_ service.Contained   = (*Service)(nil)
	_ taggingsim.Taggable = (*Service)(nil)
)

type state struct {
	Regions map[string]map[string]*secret // by region and ARN
}

type secret struct {
	Name, ARN, Description, Key string
	Owner                       string `json:",omitempty"` // service that owns it
	CreatedAt, ChangedAt        time.Time
	DeletedAt                   time.Time         `json:",omitzero"` // when it was asked for
	GoneAt                      time.Time         `json:",omitzero"`
	Tags                        map[string]string `json:",omitempty"`
	Versions                    map[string]*version
}

type version struct {
	Text   *string `json:",omitempty"`
	Binary []byte  `json:",omitempty"`
	At     time.Time
	Stages []string
}

const (
	current  = "AWSCURRENT"
	previous = "AWSPREVIOUS"
)

// New returns a Secrets Manager without secrets.
func New(account string) *Service {
	return &Service{account: account, state: state{Regions: map[string]map[string]*secret{}}}
}

// Name is "secretsmanager".
func (s *Service) Name() string { return "secretsmanager" }

// Reaches implements service.Contained: Secrets Manager changes nothing but itself.
func (s *Service) Reaches() []string { return nil }

// State is all secrets.
func (s *Service) State() any { return &s.state }

// Settle removes the secrets whose recovery window is over.
func (s *Service) Settle(now time.Time) time.Time {
	var next time.Time
	for _, secrets := range s.state.Regions {
		for arn, one := range secrets {
			switch {
			case one.GoneAt.IsZero():
			case one.GoneAt.After(now):
				if next.IsZero() || one.GoneAt.Before(next) {
					next = one.GoneAt
				}
			default:
				delete(secrets, arn)
			}
		}
	}
	return next
}

// Objects lists the secrets that are not about to be deleted.
func (s *Service) Objects() []service.Object {
	var all []service.Object
	for _, region := range slices.Sorted(maps.Keys(s.state.Regions)) {
		for _, one := range s.sorted(region) {
			if one.DeletedAt.IsZero() {
				all = append(all, service.Object{Kind: "secret", Region: region, ID: one.ARN, Name: one.Name})
			}
		}
	}
	return all
}

// TaggedResources implements taggingsim.Taggable.
func (s *Service) TaggedResources(region string) []taggingsim.TaggedResource {
	var all []taggingsim.TaggedResource
	for _, one := range s.sorted(region) {
		if len(one.Tags) > 0 && one.DeletedAt.IsZero() {
			all = append(all, taggingsim.TaggedResource{ARN: one.ARN, Tags: maps.Clone(one.Tags)})
		}
	}
	return all
}

func (s *Service) sorted(region string) []*secret {
	return slices.SortedFunc(maps.Values(s.state.Regions[region]), func(a, b *secret) int { return strings.Compare(a.Name, b.Name) })
}

// add makes a secret with its first version.
func (s *Service) add(w service.World, region string, one *secret, versionID string, v *version) *secret {
	now := w.Now().UTC()
	one.ARN = "arn:aws:secretsmanager:" + region + ":" + s.account + ":secret:" + one.Name + "-" + w.NewID("", 6)
	one.CreatedAt, one.ChangedAt = now, now
	one.Versions = map[string]*version{}
	if v != nil {
		v.At, v.Stages = now, []string{current}
		one.Versions[versionID] = v
	}
	if s.state.Regions[region] == nil {
		s.state.Regions[region] = map[string]*secret{}
	}
	s.state.Regions[region][one.ARN] = one
	return one
}

// CreateOwned makes a secret that belongs to another service, such as "rds",
// and returns its ARN.
func (s *Service) CreateOwned(w service.World, region, owner, name, description, key, value string, tags map[string]string) string {
	one := &secret{Name: name, Description: description, Key: key, Owner: owner, Tags: tags}
	return s.add(w, region, one, uuid(w), &version{Text: &value}).ARN
}

// DeleteOwned removes a secret of another service at once; an absent one is
// success.
func (s *Service) DeleteOwned(region, arn string) { delete(s.state.Regions[region], arn) }

func uuid(w service.World) string {
	digits := w.NewID("", 32)
	return strings.Join([]string{digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]}, "-")
}

func notFound() error {
	return service.Refuse("ResourceNotFoundException", "Secrets Manager can't find the specified secret.")
}

func invalidRequest(format string, args ...any) error {
	return service.Refuse("InvalidRequestException", format, args...)
}

func invalidParameter(format string, args ...any) error {
	return service.Refuse("InvalidParameterException", format, args...)
}

// find returns a secret by its name, or by its ARN with or without the random
// end.
func (s *Service) find(region string, id *string) (*secret, error) {
	asked := aws.ToString(id)
	for _, one := range s.sorted(region) {
		if asked == one.Name || asked == one.ARN || asked+one.ARN[len(one.ARN)-7:] == one.ARN {
			return one, nil
		}
	}
	return nil, notFound()
}

// usable is find for all that a secret about to be deleted does not allow.
func (s *Service) usable(region string, id *string) (*secret, error) {
	one, err := s.find(region, id)
	if err == nil && !one.DeletedAt.IsZero() {
		return nil, invalidRequest("You can't perform this operation on the secret because it was marked for deletion.")
	}
	return one, err
}

// own is usable for changes, which the secret of another service does not take.
func (s *Service) own(region string, id *string) (*secret, error) {
	one, err := s.usable(region, id)
	if err == nil && one.Owner != "" {
		return nil, invalidRequest("You can't perform this operation on the secret because it is managed by the service %s.", one.Owner)
	}
	return one, err
}
