// Package stssim is AWS Security Token Service: who a caller is, and temporary
// credentials for roles, for the bearers of an identity provider's tokens, and
// for the caller itself.
package stssim

import (
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// Service is STS for one account. The account's lock guards it.
type Service struct {
	directory service.Directory
	client    *http.Client
	state     state
	keys      map[string]keySet // of identity providers, by issuer
}

var (
	_ service.Service   = (*Service)(nil)
	_ service.Keyring   = (*Service)(nil)
	_ service.Contained = (*Service)(nil)
)

type state struct {
	Sessions map[string]*session // by access key id
}

// Option adjusts an STS.
type Option func(*Service)

// WithDirectory lets roles be assumed: those the directory knows.
func WithDirectory(d service.Directory) Option { return func(s *Service) { s.directory = d } }

// WithHTTPClient sets the client by which the keys of identity providers are
// fetched; it must trust their certificates. The default is Go's own.
func WithHTTPClient(c *http.Client) Option { return func(s *Service) { s.client = c } }

// New returns an STS. Without a directory there are no roles to assume.
func New(opts ...Option) *Service {
	s := &Service{client: http.DefaultClient, state: state{Sessions: map[string]*session{}}, keys: map[string]keySet{}}
	for _, opt := range opts {
		opt(s)
	}
	return s
}

// Name is "sts".
func (s *Service) Name() string { return "sts" }

// Reaches implements service.Contained: STS changes nothing but itself.
func (s *Service) Reaches() []string { return nil }

// Operations lists what is modelled.
func (s *Service) Operations() []service.Operation {
	return []service.Operation{
		service.Read("GetCallerIdentity", s.getCallerIdentity),
		service.Write("AssumeRole", s.assumeRole, "RoleArn", "RoleSessionName", "DurationSeconds", "ExternalId", "Policy",
			"PolicyArns", "Tags").DecidingItself(),
		service.Write("AssumeRoleWithWebIdentity", s.assumeRoleWithWebIdentity, "RoleArn", "RoleSessionName", "DurationSeconds",
			"WebIdentityToken", "Policy", "PolicyArns").Unsigned(),
		service.Write("GetSessionToken", s.getSessionToken, "DurationSeconds"),
		service.Read("GetAccessKeyInfo", s.getAccessKeyInfo, "AccessKeyId"),
	}
}

// State is the temporary credentials.
func (s *Service) State() any { return &s.state }

// Objects is empty: sessions end by themselves.
func (s *Service) Objects() []service.Object { return nil }

// Settle forgets credentials a day after they ended. Until then they are
// refused as expired, not as unknown.
func (s *Service) Settle(now time.Time) time.Time {
	var next time.Time
	for id, one := range s.state.Sessions {
		gone := one.Expires.Add(24 * time.Hour)
		switch {
		case !now.Before(gone):
			delete(s.state.Sessions, id)
		case next.IsZero() || gone.Before(next):
			next = gone
		}
	}
	return next
}

func (s *Service) getCallerIdentity(c *service.Call, _ *sts.GetCallerIdentityInput) (*sts.GetCallerIdentityOutput, error) {
	return &sts.GetCallerIdentityOutput{
		Account: aws.String(c.Account), Arn: aws.String(c.Caller.ARN), UserId: aws.String(c.Caller.UserID),
	}, nil
}

func (s *Service) getAccessKeyInfo(c *service.Call, in *sts.GetAccessKeyInfoInput) (*sts.GetAccessKeyInfoOutput, error) {
	if len(aws.ToString(in.AccessKeyId)) < 16 {
		return nil, invalid("accessKeyId", "Member must have length greater than or equal to 16")
	}
	return &sts.GetAccessKeyInfoOutput{Account: aws.String(c.Account)}, nil
}
