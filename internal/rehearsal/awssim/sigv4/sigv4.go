// Package sigv4 verifies AWS Signature Version 4 on requests, in the
// Authorization header and in presigned URLs, by computing the signature anew
// from the secret ("AWS Signature Version 4 for API requests", IAM User Guide).
package sigv4

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	algorithm  = "AWS4-HMAC-SHA256"
	timeFormat = "20060102T150405Z"

	// MaxSkew is how far the date of a signed header may be from now.
	MaxSkew = 5 * time.Minute
	// PresignedLife is how long a presigned URL is good for after its date.
	// STS and the EKS authenticator hold to it whatever X-Amz-Expires says.
	PresignedLife = 15 * time.Minute
)

// The reasons for which a signature is not accepted. Errors of this package
// wrap exactly one of them and never hold a signature or secret.
var (
	ErrMissing    = errors.New("the request is not signed")
	ErrIncomplete = errors.New("the signature is incomplete")
	ErrUnknownKey = errors.New("the access key or session token is not known")
	ErrMismatch   = errors.New("the signature does not match")
	ErrExpired    = errors.New("the signature is not valid at this time")
)

// Scope is what a signature says it is for and by whom. It is a claim until
// the signature was verified.
type Scope struct {
	AccessKeyID string
	Date        string // yyyymmdd
	Region      string
	Service     string
}

// Secret is what an access key id stands for.
type Secret struct {
	Key string
	// SessionToken goes with temporary credentials; empty for others.
	SessionToken string
}

// Verifier checks signatures.
type Verifier struct {
	// Lookup returns the secret of an access key id, or false.
	Lookup func(accessKeyID string) (Secret, bool)
	// Now is the time that signatures are dated by.
	Now func() time.Time
}

// signature is what a request brings along.
type signature struct {
	scope     Scope
	date      string
	headers   []string // lower case, sorted
	value     string
	token     string
	presigned bool
}

// ScopeOf returns the scope a request claims, without verifying anything.
func ScopeOf(r *http.Request) (Scope, error) {
	sig, err := parse(r)
	return sig.scope, err
}

// Verify checks the signature of a request whose body was read. The request's
// Host, URL, method and headers must be those the client sent.
func (v *Verifier) Verify(r *http.Request, body []byte) (Scope, error) {
	sig, err := parse(r)
	if err != nil {
		return Scope{}, err
	}
	at, err := time.Parse(timeFormat, sig.date)
	if err != nil || at.Format("20060102") != sig.scope.Date {
		return Scope{}, fmt.Errorf("%w: the date is malformed or not the scope's", ErrIncomplete)
	}
	if err := signedWhatItMust(r, sig); err != nil {
		return Scope{}, err
	}
	secret, ok := v.Lookup(sig.scope.AccessKeyID)
	if !ok || secret.SessionToken != sig.token {
		return Scope{}, fmt.Errorf("%w: %s", ErrUnknownKey, sig.scope.AccessKeyID)
	}
	want := sign(secret.Key, sig, canonical(r, sig, body))
	if !hmac.Equal([]byte(want), []byte(sig.value)) {
		return Scope{}, ErrMismatch
	}
	if err := v.checkAge(at, sig.presigned); err != nil {
		return Scope{}, err
	}
	return sig.scope, nil
}

func (v *Verifier) checkAge(at time.Time, presigned bool) error {
	now := v.Now()
	oldest := now.Add(-MaxSkew)
	if presigned {
		oldest = now.Add(-PresignedLife)
	}
	if at.Before(oldest) || at.After(now.Add(MaxSkew)) {
		return fmt.Errorf("%w: it is dated %s and the time is %s", ErrExpired, at.Format(time.RFC3339), now.UTC().Format(time.RFC3339))
	}
	return nil
}

func parse(r *http.Request) (signature, error) {
	authorization := r.Header.Get("Authorization")
	query := r.URL.Query()
	switch {
	case authorization != "":
		return parseHeader(r, authorization)
	case query.Has("X-Amz-Signature"), query.Has("X-Amz-Credential"):
		return parsePresigned(query)
	}
	return signature{}, ErrMissing
}

func parseHeader(r *http.Request, authorization string) (signature, error) {
	rest, ok := strings.CutPrefix(authorization, algorithm+" ")
	if !ok {
		return signature{}, fmt.Errorf("%w: the algorithm is not %s", ErrIncomplete, algorithm)
	}
	parts := map[string]string{}
	for part := range strings.SplitSeq(rest, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		parts[name] = value
	}
	return complete(signature{
		date:  r.Header.Get("X-Amz-Date"),
		value: parts["Signature"],
		token: r.Header.Get("X-Amz-Security-Token"),
	}, parts["Credential"], parts["SignedHeaders"])
}

func parsePresigned(query url.Values) (signature, error) {
	if query.Get("X-Amz-Algorithm") != algorithm {
		return signature{}, fmt.Errorf("%w: the algorithm is not %s", ErrIncomplete, algorithm)
	}
	return complete(signature{
		date:      query.Get("X-Amz-Date"),
		value:     query.Get("X-Amz-Signature"),
		token:     query.Get("X-Amz-Security-Token"),
		presigned: true,
	}, query.Get("X-Amz-Credential"), query.Get("X-Amz-SignedHeaders"))
}

func complete(sig signature, credential, headers string) (signature, error) {
	scope := strings.Split(credential, "/")
	if len(scope) != 5 || scope[4] != "aws4_request" {
		return sig, fmt.Errorf("%w: the credential is not key/date/region/service/aws4_request", ErrIncomplete)
	}
	sig.scope = Scope{AccessKeyID: scope[0], Date: scope[1], Region: scope[2], Service: scope[3]}
	if sig.value == "" || headers == "" || sig.date == "" {
		return sig, fmt.Errorf("%w: signature, signed headers or X-Amz-Date are missing", ErrIncomplete)
	}
	sig.headers = strings.Split(headers, ";")
	return sig, nil
}

func sign(secret string, sig signature, canonical string) string {
	scope := strings.Join([]string{sig.scope.Date, sig.scope.Region, sig.scope.Service, "aws4_request"}, "/")
	toSign := strings.Join([]string{algorithm, sig.date, scope, digest([]byte(canonical))}, "\n")
	key := []byte("AWS4" + secret)
	for _, part := range []string{sig.scope.Date, sig.scope.Region, sig.scope.Service, "aws4_request", toSign} {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(part))
		key = mac.Sum(nil)
	}
	return hex.EncodeToString(key)
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
