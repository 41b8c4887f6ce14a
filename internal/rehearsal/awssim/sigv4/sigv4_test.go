package sigv4_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/krops-go/krops/internal/rehearsal/awssim/sigv4"
)

var (
	now       = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	permanent = aws.Credentials{AccessKeyID: "AKIAPERMANENT", SecretAccessKey: "permanent secret"}
	temporary = aws.Credentials{AccessKeyID: "ASIATEMPORARY", SecretAccessKey: "temporary secret", SessionToken: "session+token/=="}
)

func verifier() *sigv4.Verifier {
	return &sigv4.Verifier{
		Now: func() time.Time { return now },
		Lookup: func(id string) (sigv4.Secret, bool) {
			for _, c := range []aws.Credentials{permanent, temporary} {
				if c.AccessKeyID == id {
					return sigv4.Secret{Key: c.SecretAccessKey, SessionToken: c.SessionToken}, true
				}
			}
			return sigv4.Secret{}, false
		},
	}
}

// received is the request as a server sees it, after a trip over its text.
func received(t *testing.T, sent *http.Request, body []byte) *http.Request {
	t.Helper()
	r := httptest.NewRequest(sent.Method, sent.URL.RequestURI(), bytes.NewReader(body))
	r.Host = sent.URL.Host
	r.Header = sent.Header.Clone()
	return r
}

func signed(t *testing.T, creds aws.Credentials, method, target string, body []byte, at time.Time) *http.Request {
	t.Helper()
	r, err := http.NewRequest(method, target, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
	r.Header.Set("X-Amz-Target", "  Some   Target ")
	sum := sha256.Sum256(body)
	if err := v4.NewSigner().SignHTTP(context.Background(), creds, r, hex.EncodeToString(sum[:]), "eks", "eu-west-1", at); err != nil {
		t.Fatal(err)
	}
	return received(t, r, body)
}

func presigned(t *testing.T, creds aws.Credentials, at time.Time, cluster string) *http.Request {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, "http://127.0.0.1:4566/?Action=GetCallerIdentity&Version=2011-06-15&X-Amz-Expires=60", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-K8s-Aws-Id", cluster)
	empty := sha256.Sum256(nil)
	target, headers, err := v4.NewSigner().PresignHTTP(context.Background(), creds, r, hex.EncodeToString(empty[:]), "sts", "us-east-1", at)
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	got := httptest.NewRequest(http.MethodGet, u.RequestURI(), nil)
	got.Host = u.Host
	for name, values := range headers {
		if name != "Host" {
			got.Header[http.CanonicalHeaderKey(name)] = values
		}
	}
	return got
}

func TestVerifyAccepts(t *testing.T) {
	body := []byte("Action=CreateVpc&CidrBlock=10.0.0.0%2F16")
	for name, target := range map[string]string{
		"root":          "http://127.0.0.1:4566/",
		"escaped label": "http://127.0.0.1:4566/tags/arn:aws:eks:eu-west-1:111122223333:cluster%2Fone",
		"query":         "http://aws.test/tags/x?tagKeys=b+c&tagKeys=a%2Fb&zz=&é=%20~",
	} {
		for _, creds := range []aws.Credentials{permanent, temporary} {
			t.Run(name+" by "+creds.AccessKeyID, func(t *testing.T) {
				scope, err := verifier().Verify(signed(t, creds, http.MethodPost, target, body, now), body)
				want := sigv4.Scope{AccessKeyID: creds.AccessKeyID, Date: "20260304", Region: "eu-west-1", Service: "eks"}
				if err != nil || scope != want {
					t.Errorf("got %+v, %v, want %+v", scope, err, want)
				}
			})
		}
	}
	t.Run("presigned", func(t *testing.T) {
		for _, creds := range []aws.Credentials{permanent, temporary} {
			scope, err := verifier().Verify(presigned(t, creds, now, "one"), nil)
			if err != nil || scope.Service != "sts" || scope.AccessKeyID != creds.AccessKeyID {
				t.Errorf("%s: got %+v, %v", creds.AccessKeyID, scope, err)
			}
		}
	})
}

func TestVerifyRefuses(t *testing.T) {
	body := []byte("Action=CreateVpc")
	good := func(t *testing.T) *http.Request {
		return signed(t, permanent, http.MethodPost, "http://aws.test/a?b=c", body, now)
	}
	stranger := aws.Credentials{AccessKeyID: "AKIASTRANGER", SecretAccessKey: permanent.SecretAccessKey}
	wrongSecret := aws.Credentials{AccessKeyID: permanent.AccessKeyID, SecretAccessKey: "another"}
	noToken := aws.Credentials{AccessKeyID: temporary.AccessKeyID, SecretAccessKey: temporary.SecretAccessKey}
	with := func(change func(r *http.Request)) func(*testing.T) *http.Request {
		return func(t *testing.T) *http.Request {
			r := good(t)
			change(r)
			return r
		}
	}
	by := func(creds aws.Credentials, at time.Time) func(*testing.T) *http.Request {
		return func(t *testing.T) *http.Request {
			return signed(t, creds, http.MethodPost, "http://aws.test/a?b=c", body, at)
		}
	}
	for _, test := range []struct {
		name    string
		request func(*testing.T) *http.Request
		body    string
		want    error
	}{
		{"an unsigned request", with(func(r *http.Request) { r.Header.Del("Authorization") }), string(body), sigv4.ErrMissing},
		{"another algorithm", with(func(r *http.Request) { r.Header.Set("Authorization", "Bearer x") }), string(body), sigv4.ErrIncomplete},
		{"a missing date", with(func(r *http.Request) { r.Header.Del("X-Amz-Date") }), string(body), sigv4.ErrIncomplete},
		{"a date that is not the scope's", with(func(r *http.Request) { r.Header.Set("X-Amz-Date", "20260305T000000Z") }), string(body), sigv4.ErrIncomplete},
		{"a short credential", with(func(r *http.Request) {
			r.Header.Set("Authorization", strings.Replace(r.Header.Get("Authorization"), "/aws4_request", "", 1))
		}), string(body), sigv4.ErrIncomplete},
		{"an AWS header that is not signed", with(func(r *http.Request) { r.Header.Set("X-Amz-User-Agent", "x") }), string(body), sigv4.ErrIncomplete},
		{"a host that is not signed", with(func(r *http.Request) {
			r.Header.Set("Authorization", strings.Replace(r.Header.Get("Authorization"), "host;", "", 1))
		}), string(body), sigv4.ErrIncomplete},
		{"an unknown key", by(stranger, now), string(body), sigv4.ErrUnknownKey},
		{"a session without its token", by(noToken, now), string(body), sigv4.ErrUnknownKey},
		{"a wrong secret", by(wrongSecret, now), string(body), sigv4.ErrMismatch},
		{"another body", good, "Action=DeleteVpc", sigv4.ErrMismatch},
		{"another host", with(func(r *http.Request) { r.Host = "other.test" }), string(body), sigv4.ErrMismatch},
		{"another path", with(func(r *http.Request) { r.URL.Path = "/b" }), string(body), sigv4.ErrMismatch},
		{"another query", with(func(r *http.Request) { r.URL.RawQuery = "b=d" }), string(body), sigv4.ErrMismatch},
		{"another method", with(func(r *http.Request) { r.Method = http.MethodPut }), string(body), sigv4.ErrMismatch},
		{"another signed header", with(func(r *http.Request) { r.Header.Set("X-Amz-Target", "Other") }), string(body), sigv4.ErrMismatch},
		{"another region", with(func(r *http.Request) {
			r.Header.Set("Authorization", strings.Replace(r.Header.Get("Authorization"), "eu-west-1", "eu-west-2", 1))
		}), string(body), sigv4.ErrMismatch},
		{"a header signed too early", by(permanent, now.Add(-sigv4.MaxSkew-time.Second)), string(body), sigv4.ErrExpired},
		{"a header signed in the future", by(permanent, now.Add(sigv4.MaxSkew+time.Second)), string(body), sigv4.ErrExpired},
		{"a presigned URL that is too old", func(t *testing.T) *http.Request {
			return presigned(t, permanent, now.Add(-sigv4.PresignedLife-time.Second), "one")
		}, "", sigv4.ErrExpired},
		{"a presigned URL for another cluster", func(t *testing.T) *http.Request {
			r := presigned(t, permanent, now, "one")
			r.Header.Set("X-K8s-Aws-Id", "two")
			return r
		}, "", sigv4.ErrMismatch},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := verifier().Verify(test.request(t), []byte(test.body))
			if !errors.Is(err, test.want) {
				t.Errorf("got %v, want %v", err, test.want)
			}
		})
	}
	t.Run("nothing within the limits", func(t *testing.T) {
		for _, at := range []time.Time{now.Add(-sigv4.MaxSkew), now.Add(sigv4.MaxSkew)} {
			if _, err := verifier().Verify(by(permanent, at)(t), body); err != nil {
				t.Errorf("signed at %s: %v", at, err)
			}
		}
		if _, err := verifier().Verify(presigned(t, permanent, now.Add(-sigv4.PresignedLife), "one"), nil); err != nil {
			t.Error(err)
		}
	})
}

func TestErrorsHoldNoSecrets(t *testing.T) {
	body := []byte("x")
	r := signed(t, temporary, http.MethodPost, "http://aws.test/", body, now)
	signature := r.Header.Get("Authorization")[strings.Index(r.Header.Get("Authorization"), "Signature=")+10:]
	r.Header.Set("X-Amz-Security-Token", "another token")
	_, err := verifier().Verify(r, body)
	if err == nil {
		t.Fatal("accepted")
	}
	for _, secret := range []string{signature, "another token", temporary.SessionToken, temporary.SecretAccessKey} {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("the error holds %q: %v", secret, err)
		}
	}
}
