// Package ekscluster reaches EKS clusters: where one is, and the token that
// its API server accepts from an AWS caller.
package ekscluster

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

const (
	tokenPrefix   = "k8s-aws-v1."
	clusterHeader = "x-k8s-aws-id"
	// urlLifetime is the lifetime in seconds that the URL states; EKS wants
	// one and goes by its own.
	urlLifetime = "60"
	// validity is how long EKS accepts a token after it was signed, whatever
	// the URL inside it says.
	validity = 15 * time.Minute
	// margin keeps a token from expiring while it is on its way.
	margin = time.Minute
)

// Token is a bearer token for one cluster's API server. It prints redacted.
type Token struct {
	Value string
	// Expires is when to stop using it, a minute before EKS does.
	Expires time.Time
}

// String keeps the token out of logs.
func (t Token) String() string { return "token for EKS, expires " + t.Expires.Format(time.RFC3339) }

// GoString keeps the token out of %#v.
func (t Token) GoString() string { return t.String() }

// NewToken signs a token with the credentials of cfg for the EKS cluster of
// that name. It makes no call to AWS: the API server makes the signed call, to
// find out who holds the token.
func NewToken(ctx context.Context, cfg aws.Config, cluster string) (Token, error) {
	if cluster == "" {
		return Token{}, errors.New("token for EKS: no cluster name given")
	}
	presigner := sts.NewPresignClient(sts.NewFromConfig(cfg))
	request, err := presigner.PresignGetCallerIdentity(ctx, &sts.GetCallerIdentityInput{}, func(o *sts.PresignOptions) {
		o.ClientOptions = append(o.ClientOptions, func(o *sts.Options) {
			o.APIOptions = append(o.APIOptions,
				smithyhttp.SetHeaderValue(clusterHeader, cluster),
				// The signer moves this one into the query.
				smithyhttp.SetHeaderValue("X-Amz-Expires", urlLifetime),
			)
		})
	})
	if err != nil {
		return Token{}, fmt.Errorf("token for EKS cluster %s: sign with the AWS credentials: %w", cluster, err)
	}
	signed, err := signedAt(request.URL)
	if err != nil {
		return Token{}, fmt.Errorf("token for EKS cluster %s: %w", cluster, err)
	}
	return Token{
		Value:   tokenPrefix + base64.RawURLEncoding.EncodeToString([]byte(request.URL)),
		Expires: signed.Add(validity - margin),
	}, nil
}

// signedAt reads the moment that the validity counts from.
func signedAt(presigned string) (time.Time, error) {
	u, err := url.Parse(presigned)
	if err != nil {
		// The error of Parse would quote the URL, which is the token.
		return time.Time{}, errors.New("the signed URL cannot be parsed")
	}
	signed, err := time.Parse("20060102T150405Z", u.Query().Get("X-Amz-Date"))
	if err != nil {
		return time.Time{}, fmt.Errorf("the signed URL has no date: %w", err)
	}
	return signed, nil
}
