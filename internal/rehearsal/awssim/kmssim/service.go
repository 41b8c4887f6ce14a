// Package kmssim is AWS Key Management Service as far as other services' data
// is encrypted with its keys: keys with their states, policies, aliases, tags
// and grants, and the keys that AWS manages for each service. Nothing is
// encrypted with them.
package kmssim

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/kms/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
	"github.com/krops-go/krops/internal/rehearsal/awssim/taggingsim"
)

// Service is KMS for one account. The account's lock guards it.
type Service struct {
	account string
	state   state
}

var (
	_ service.Service     = (*Service)(nil)
	_ service.Contained   = (*Service)(nil)
	_ taggingsim.Taggable = (*Service)(nil)
)

type state struct{ Regions map[string]*region }

type region struct {
	Keys    map[string]*key   // by id
	Aliases map[string]string // key ids by the alias' name, "alias/" included
}

type key struct {
	ID, Description, Policy string
	Usage                   types.KeyUsageType
	Spec                    types.KeySpec
	State                   types.KeyState
	CreatedAt               time.Time
	DeletedAt               time.Time         `json:",omitzero"`
	Rotates                 bool              `json:",omitempty"`
	Tags                    map[string]string `json:",omitempty"`
	Grants                  map[string]*grant `json:",omitempty"` // by id
	Managed                 bool              `json:",omitempty"` // by AWS
}

// New returns a KMS in which nothing was created.
func New(account string) *Service {
	return &Service{account: account, state: state{Regions: map[string]*region{}}}
}

// Name is "kms".
func (s *Service) Name() string { return "kms" }

// Reaches implements service.Contained: KMS changes nothing but itself.
func (s *Service) Reaches() []string { return nil }

// State is all keys and aliases.
func (s *Service) State() any { return &s.state }

// Settle deletes the keys whose waiting period is over.
func (s *Service) Settle(now time.Time) time.Time {
	var next time.Time
	for _, r := range s.state.Regions {
		for id, k := range r.Keys {
			switch {
			case k.State != types.KeyStatePendingDeletion:
			case k.DeletedAt.After(now):
				if next.IsZero() || k.DeletedAt.Before(next) {
					next = k.DeletedAt
				}
			default:
				delete(r.Keys, id)
				maps.DeleteFunc(r.Aliases, func(_, target string) bool { return target == id })
			}
		}
	}
	return next
}

// Operations lists what is modelled.
func (s *Service) Operations() []service.Operation {
	return slices.Concat(s.keyOperations(), s.aliasOperations(), s.grantOperations(), s.tagOperations())
}

// Objects lists the account's own keys that are not about to be deleted.
func (s *Service) Objects() []service.Object {
	var all []service.Object
	for _, name := range slices.Sorted(maps.Keys(s.state.Regions)) {
		r := s.state.Regions[name]
		for _, id := range slices.Sorted(maps.Keys(r.Keys)) {
			if k := r.Keys[id]; !k.Managed && k.State != types.KeyStatePendingDeletion {
				all = append(all, service.Object{Kind: "key", Region: name, ID: id, Name: k.Description})
			}
		}
	}
	return all
}

// TaggedResources implements taggingsim.Taggable.
func (s *Service) TaggedResources(regionName string) []taggingsim.TaggedResource {
	var all []taggingsim.TaggedResource
	r := s.state.Regions[regionName]
	if r == nil {
		return nil
	}
	for _, id := range slices.Sorted(maps.Keys(r.Keys)) {
		if k := r.Keys[id]; len(k.Tags) > 0 {
			all = append(all, taggingsim.TaggedResource{ARN: s.arn(regionName, id), Tags: maps.Clone(k.Tags)})
		}
	}
	return all
}

func (s *Service) in(name string) *region {
	r := s.state.Regions[name]
	if r == nil {
		r = &region{Keys: map[string]*key{}, Aliases: map[string]string{}}
		s.state.Regions[name] = r
	}
	return r
}

func (s *Service) arn(region, id string) string {
	return "arn:aws:kms:" + region + ":" + s.account + ":key/" + id
}

// ManagedKey returns the ARN of the key that AWS manages for a service, such
// as "rds" for alias/aws/rds. The region gets it when it is first asked for.
func (s *Service) ManagedKey(now time.Time, regionName, serviceName string) string {
	r, alias := s.in(regionName), managedAliases+serviceName
	id, ok := r.Aliases[alias]
	if !ok {
		sum := sha256.Sum256([]byte(s.account + regionName + alias))
		id = uuid(hex.EncodeToString(sum[:16]))
		r.Aliases[alias] = id
		r.Keys[id] = &key{
			ID: id, Managed: true, Usage: types.KeyUsageTypeEncryptDecrypt, Spec: types.KeySpecSymmetricDefault, State: types.KeyStateEnabled,
			CreatedAt: now, Rotates: true, Policy: s.defaultPolicy(),
			Description: "Default key that protects my data when no other key is defined",
		}
	}
	return s.arn(regionName, id)
}

// LookupKey returns the ARN of an enabled key by its id, ARN or alias.
func (s *Service) LookupKey(now time.Time, regionName, name string) (arn string, ok bool) {
	if managed, is := strings.CutPrefix(name, managedAliases); is && slices.Contains(managedServices, managed) {
		return s.ManagedKey(now, regionName, managed), true
	}
	k := s.resolve(regionName, aws.String(name))
	if k == nil || k.State != types.KeyStateEnabled {
		return "", false
	}
	return s.arn(regionName, k.ID), true
}

const (
	aliasPrefix    = "alias/"
	managedAliases = "alias/aws/"
)

// managedServices are those whose key AWS makes when it is first used here.
var managedServices = []string{"acm", "ebs", "elasticfilesystem", "lambda", "rds", "s3", "secretsmanager", "ssm", "sns"}

// uuid gives 32 hexadecimal digits the form of a key id.
func uuid(digits string) string {
	return strings.Join([]string{digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]}, "-")
}

func (s *Service) defaultPolicy() string {
	return `{"Version":"2012-10-17","Id":"key-default-1","Statement":[{"Sid":"Enable IAM User Permissions","Effect":"Allow",` +
		`"Principal":{"AWS":"arn:aws:iam::` + s.account + `:root"},"Action":"kms:*","Resource":"*"}]}`
}

// resolve finds a key by id, ARN, alias or alias ARN, or returns nil.
func (s *Service) resolve(regionName string, name *string) *key {
	r, asked := s.in(regionName), aws.ToString(name)
	if rest, ok := strings.CutPrefix(asked, "arn:aws:kms:"+regionName+":"+s.account+":"); ok {
		asked = strings.TrimPrefix(rest, "key/")
	}
	if strings.HasPrefix(asked, aliasPrefix) {
		asked = r.Aliases[asked]
	}
	return r.Keys[asked]
}

func notFound(format string, args ...any) error {
	return service.Refuse("NotFoundException", format, args...)
}

func invalid(format string, args ...any) error {
	return service.Refuse("ValidationException", format, args...)
}

// lookup is resolve for a request.
func (s *Service) lookup(c *service.Call, name *string) (*key, error) {
	asked := aws.ToString(name)
	if asked == "" {
		return nil, invalid("1 validation error detected: Value null at 'keyId' failed to satisfy constraint: Member must not be null")
	}
	if managed, is := strings.CutPrefix(asked, managedAliases); is && slices.Contains(managedServices, managed) {
		s.ManagedKey(c.World.Now().UTC(), c.Region, managed)
	}
	k := s.resolve(c.Region, name)
	switch {
	case k != nil:
		return k, nil
	case strings.Contains(asked, aliasPrefix):
		return nil, notFound("Alias arn:aws:kms:%s:%s:%s is not found.", c.Region, s.account, asked[strings.Index(asked, aliasPrefix):])
	}
	return nil, notFound("Key '%s' does not exist", s.arn(c.Region, strings.TrimPrefix(asked, s.arn(c.Region, ""))))
}

// changeable is lookup for a change, which AWS's own keys and those about to
// be deleted do not take.
func (s *Service) changeable(c *service.Call, name *string) (*key, error) {
	k, err := s.lookup(c, name)
	switch {
	case err != nil:
		return nil, err
	case k.Managed:
		return nil, service.Refuse("AccessDeniedException", "User: %s is not authorized to change the AWS managed key %s", c.Caller.ARN, s.arn(c.Region, k.ID))
	case k.State == types.KeyStatePendingDeletion:
		return nil, service.Refuse("KMSInvalidStateException", "%s is pending deletion.", s.arn(c.Region, k.ID))
	}
	return k, nil
}
