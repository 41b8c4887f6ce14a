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
	"strconv"
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

	// objectStore is S3, which has rules of its own for bodies, paths and the
	// life of presigned URLs.
	objectStore = "s3"
	objectLife  = 7 * 24 * time.Hour
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

	keys signingKeys
}

// signature is what a request brings along.
type signature struct {
	scope     Scope
	date      string
	headers   []string // lower case, sorted
	value     string
	token     string
	presigned bool
	life      time.Duration // that a presigned URL asks for
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
	stated, err := statedDigest(r, sig, body)
	if err != nil {
		return Scope{}, err
	}
	key := v.keys.of(secret.Key, sig.scope)
	want := sign(key, sig, canonical(r, sig, stated))
	if !hmac.Equal([]byte(want), []byte(sig.value)) {
		return Scope{}, ErrMismatch
	}
	if err := checkChunks(r, key, sig, body); err != nil {
		return Scope{}, err
	}
	if err := v.checkAge(at, sig); err != nil {
		return Scope{}, err
	}
	return sig.scope, nil
}

func (v *Verifier) checkAge(at time.Time, sig signature) error {
	now := v.Now()
	oldest := now.Add(-MaxSkew)
	switch {
	case sig.presigned && sig.scope.Service == objectStore:
		if sig.life <= 0 || sig.life > objectLife {
			return fmt.Errorf("%w: X-Amz-Expires is not between 1 and %d seconds", ErrIncomplete, int(objectLife.Seconds()))
		}
		oldest = now.Add(-sig.life)
	case sig.presigned:
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
	seconds, _ := strconv.Atoi(query.Get("X-Amz-Expires")) // zero is refused where it matters
	return complete(signature{
		life:      time.Duration(seconds) * time.Second,
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

func (s Scope) credential() string {
	return strings.Join([]string{s.Date, s.Region, s.Service, "aws4_request"}, "/")
}

func sign(key []byte, sig signature, canonical string) string {
	toSign := strings.Join([]string{algorithm, sig.date, sig.scope.credential(), digest([]byte(canonical))}, "\n")
	return hexMAC(key, toSign)
}

func mac(key []byte, text string) []byte {
	m := hmac.New(sha256.New, key)
	m.Write([]byte(text))
	return m.Sum(nil)
}

func hexMAC(key []byte, text string) string { return hex.EncodeToString(mac(key, text)) }

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
