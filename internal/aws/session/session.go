// Package session turns explicit settings into the AWS SDK configuration that
// every client of krops is built from.
//
// What is set wins over the environment: with static credentials or a
// credentials file, no variable takes part, and neither does an endpoint
// variable when an endpoint is set. Leaving credentials out means the ambient
// ones, the SDK's default chain.
package session

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
)

// Settings say where AWS is and who calls it. The zero value is real AWS with
// ambient credentials.
type Settings struct {
	// EndpointURL replaces the endpoint of every service; empty means AWS's own.
	EndpointURL string
	// Static are fixed credentials; nil means one of the other two sources.
	Static *Credentials
	// SharedCredentialsFile is a credentials file in the AWS CLI's format, and
	// Profile the section of it to use ("default" if empty). It may not be
	// given together with Static.
	SharedCredentialsFile string
	Profile               string
	// HTTPClient sends the requests; nil means the SDK's own.
	HTTPClient *http.Client
	// MaxAttempts bounds how often one call is sent when AWS throttles or
	// fails; 0 means 10.
	MaxAttempts int
	// MaxBackoff bounds the pause between two attempts; 0 means 20 s.
	MaxBackoff time.Duration
}

// Credentials are an access key. They print redacted.
type Credentials struct {
	AccessKeyID     string
	SecretAccessKey string
	SessionToken    string // empty for long-lived keys
}

// String names the key without its secret.
func (c Credentials) String() string { return "access key " + c.AccessKeyID }

// GoString keeps the secret out of %#v.
func (c Credentials) GoString() string { return c.String() }

const (
	defaultMaxAttempts = 10
	defaultMaxBackoff  = 20 * time.Second
)

// Config builds the SDK configuration for one region. It makes no call to AWS,
// so wrong credentials show at the first call, not here.
func Config(ctx context.Context, region string, s Settings) (aws.Config, error) {
	if region == "" {
		return aws.Config{}, errors.New("aws configuration: no region given; set the region of the cluster")
	}
	cfg, err := s.withCredentials(ctx, region)
	if err != nil {
		return aws.Config{}, fmt.Errorf("aws configuration for region %s: %w", region, err)
	}
	cfg.Region = region
	cfg.Retryer = s.retryer
	if s.HTTPClient != nil {
		cfg.HTTPClient = s.HTTPClient
	}
	if s.EndpointURL != "" {
		cfg.BaseEndpoint = aws.String(s.EndpointURL)
		// Clients would let AWS_ENDPOINT_URL_<SERVICE> win over it.
		cfg.ConfigSources = nil
	}
	return cfg, nil
}

// withCredentials starts a configuration with the credentials only, unless
// they are ambient: then everything else ambient applies too.
func (s Settings) withCredentials(ctx context.Context, region string) (aws.Config, error) {
	switch {
	case s.Static != nil && s.SharedCredentialsFile != "":
		return aws.Config{}, errors.New("both static credentials and a shared credentials file are given; leave one out")
	case s.Static != nil:
		if s.Static.AccessKeyID == "" || s.Static.SecretAccessKey == "" {
			return aws.Config{}, errors.New("static credentials need an access key id and a secret access key")
		}
		provider := credentials.NewStaticCredentialsProvider(s.Static.AccessKeyID, s.Static.SecretAccessKey, s.Static.SessionToken)
		return aws.Config{Credentials: aws.NewCredentialsCache(provider)}, nil
	case s.SharedCredentialsFile != "":
		loaded, err := config.LoadDefaultConfig(ctx,
			config.WithRegion(region),
			config.WithSharedConfigFiles([]string{}),
			config.WithSharedCredentialsFiles([]string{s.SharedCredentialsFile}),
			// A profile named here wins over key variables in the environment.
			config.WithSharedConfigProfile(orDefault(s.Profile)),
		)
		return aws.Config{Credentials: loaded.Credentials}, err
	case s.Profile != "":
		return config.LoadDefaultConfig(ctx, config.WithRegion(region), config.WithSharedConfigProfile(s.Profile))
	}
	return config.LoadDefaultConfig(ctx, config.WithRegion(region))
}

func orDefault(profile string) string {
	if profile == "" {
		return "default"
	}
	return profile
}

// retryer retries throttling and transient failures with jittered backoff. The
// SDK's client-side retry quota is off: a sweep of a throttled account runs it
// dry, and then a call that would succeed a second later reads as failed.
func (s Settings) retryer() aws.Retryer {
	return retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts = defaultMaxAttempts
		if s.MaxAttempts > 0 {
			o.MaxAttempts = s.MaxAttempts
		}
		o.MaxBackoff = defaultMaxBackoff
		if s.MaxBackoff > 0 {
			o.MaxBackoff = s.MaxBackoff
		}
		o.RateLimiter = ratelimit.None
	})
}
