// Package stssim is AWS Security Token Service, as far as a caller asks who it
// is. Roles cannot be assumed: every caller is the principal whose access key
// signed the request.
package stssim

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// Service is STS. It keeps no state.
type Service struct{}

var _ service.Service = (*Service)(nil)

// New returns an STS.
func New() *Service { return &Service{} }

// Name is "sts".
func (s *Service) Name() string { return "sts" }

// Operations lists what is modelled.
func (s *Service) Operations() []service.Operation {
	return []service.Operation{service.Read("GetCallerIdentity", s.getCallerIdentity)}
}

// State is empty.
func (s *Service) State() any { return &struct{}{} }

// Settle does nothing.
func (s *Service) Settle(time.Time) time.Time { return time.Time{} }

// Objects is empty.
func (s *Service) Objects() []service.Object { return nil }

func (s *Service) getCallerIdentity(c *service.Call, _ *sts.GetCallerIdentityInput) (*sts.GetCallerIdentityOutput, error) {
	return &sts.GetCallerIdentityOutput{
		Account: aws.String(c.Account), Arn: aws.String(c.Caller.ARN), UserId: aws.String(c.Caller.UserID),
	}, nil
}
