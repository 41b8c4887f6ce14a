// Package s3sim is Amazon S3: buckets with everything they are configured
// with, and objects with their versions, delete markers and uploads in parts.
// Names of buckets are global and each bucket is in one region. What a bucket
// is configured with is kept and given back; of it, versioning, object lock
// and the block of public access have effects, while lifecycle rules,
// replication and notifications do nothing.
package s3sim

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"time"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
	"github.com/krops-go/krops/internal/rehearsal/awssim/taggingsim"
)

// Regions says which regions the account can use.
type Regions interface{ HasRegion(name string) bool }

// Options adjust the simulation.
type Options struct {
	// Dir is where the content of objects is kept, in files named by their
	// digest; without it, content is in memory and ends with the process.
	Dir string
	// Taken are names of buckets that other accounts have.
	Taken []string
}

// Service is S3 for one account. The account's lock guards it.
type Service struct {
	regions Regions
	account string
	taken   []string
	content *content
	state   state
}

var (
	_ service.Service     = (*Service)(nil)
	_ service.Resumer     = (*Service)(nil)
	_ service.Keeper      = (*Service)(nil)
	_ taggingsim.Taggable = (*Service)(nil)
)

type state struct {
	Buckets map[string]*bucket // by name
}

// New returns an S3 without buckets.
func New(account string, regions Regions, opts Options) *Service {
	return &Service{
		regions: regions, account: account, taken: opts.Taken, content: newContent(opts.Dir),
		state: state{Buckets: map[string]*bucket{}},
	}
}

// Name is "s3".
func (s *Service) Name() string { return "s3" }

// State is all buckets and what is known of their objects. The objects'
// content is kept in Options.Dir.
func (s *Service) State() any { return &s.state }

// Resume implements service.Resumer: content that nothing refers to is dropped.
func (s *Service) Resume(service.World) {
	for _, b := range s.state.Buckets {
		b.content(func(digest string) { s.content.keep(digest) })
	}
	s.content.resume()
}

// Settle does nothing: S3 changes at once.
func (s *Service) Settle(time.Time) time.Time { return time.Time{} }

// Saved implements service.Keeper: it drops the content of what was deleted.
func (s *Service) Saved() { s.content.collect() }

// Reaches implements service.Contained: S3 changes nothing but itself.
func (s *Service) Reaches() []string { return nil }

// Operations lists what is modelled.
func (s *Service) Operations() []service.Operation {
	return slices.Concat(
		s.bucketOperations(),
		s.accessOperations(),
		s.versioningOperations(),
		s.ruleOperations(),
		s.namedSettingOperations(),
		s.objectOperations(),
		s.deleteOperations(),
		s.listOperations(),
		s.objectSettingOperations(),
		s.uploadOperations(),
	)
}

// Objects lists the buckets. Their objects are theirs.
func (s *Service) Objects() []service.Object {
	var all []service.Object
	for _, name := range slices.Sorted(maps.Keys(s.state.Buckets)) {
		all = append(all, service.Object{Kind: "bucket", Region: s.state.Buckets[name].Region, ID: name, Name: name})
	}
	return all
}

// TaggedResources implements taggingsim.Taggable.
func (s *Service) TaggedResources(region string) []taggingsim.TaggedResource {
	var all []taggingsim.TaggedResource
	for _, name := range slices.Sorted(maps.Keys(s.state.Buckets)) {
		if b := s.state.Buckets[name]; b.Region == region && len(b.Tags) > 0 {
			all = append(all, taggingsim.TaggedResource{ARN: arn(name), Tags: maps.Clone(b.Tags)})
		}
	}
	return all
}

// BucketPolicy returns the policy of a bucket, or false when it has none.
func (s *Service) BucketPolicy(name string) (document string, ok bool) {
	b := s.state.Buckets[name]
	if b == nil || b.Policy == "" {
		return "", false
	}
	return b.Policy, true
}

func arn(bucket string) string { return "arn:aws:s3:::" + bucket }

// canonicalID is what S3 calls the account in access control lists.
func (s *Service) canonicalID() string {
	sum := sha256.Sum256([]byte("canonical user of " + s.account))
	return hex.EncodeToString(sum[:])
}
