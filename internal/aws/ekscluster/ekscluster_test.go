package ekscluster_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/krops-go/krops/internal/aws/ekscluster"
	"github.com/krops-go/krops/internal/aws/session"
	"github.com/krops-go/krops/internal/presence"
)

func config(t *testing.T, endpoint string) aws.Config {
	t.Helper()
	cfg, err := session.Config(t.Context(), "eu-west-1", session.Settings{
		EndpointURL: endpoint,
		Static:      &session.Credentials{AccessKeyID: "AKIA", SecretAccessKey: "secret", SessionToken: "session"},
		MaxBackoff:  time.Millisecond,
		MaxAttempts: 2,
	})
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func TestNewToken(t *testing.T) {
	before := time.Now().Truncate(time.Second)
	token, err := ekscluster.NewToken(t.Context(), config(t, "http://127.0.0.1:4566"), "default_wl-a")
	if err != nil {
		t.Fatal(err)
	}
	encoded, ok := strings.CutPrefix(token.Value, "k8s-aws-v1.")
	if !ok {
		t.Fatalf("token has no k8s-aws-v1. prefix: %s", token.Value)
	}
	decoded, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(string(decoded))
	if err != nil {
		t.Fatal(err)
	}
	if got := u.Scheme + "://" + u.Host + u.Path; got != "http://127.0.0.1:4566/" {
		t.Errorf("token points at %s, want the configured endpoint", got)
	}
	for key, want := range map[string]string{
		"Action":               "GetCallerIdentity",
		"Version":              "2011-06-15",
		"X-Amz-Expires":        "60",
		"X-Amz-SignedHeaders":  "host;x-k8s-aws-id",
		"X-Amz-Security-Token": "session",
	} {
		if got := u.Query().Get(key); got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
	if u.Query().Get("X-Amz-Signature") == "" {
		t.Error("the URL is not signed")
	}
	earliest, latest := before.Add(14*time.Minute), time.Now().Add(14*time.Minute)
	if token.Expires.Before(earliest) || token.Expires.After(latest) {
		t.Errorf("expires %s, want 14 minutes from now", token.Expires)
	}
	if printed := fmt.Sprintf("%v %+v %#v", token, token, token); strings.Contains(printed, encoded) {
		t.Error("printing a token shows its value")
	}

	other, err := ekscluster.NewToken(t.Context(), config(t, "http://127.0.0.1:4566"), "default_wl-b")
	if err != nil {
		t.Fatal(err)
	}
	if other.Value == token.Value {
		t.Error("two clusters got the same token")
	}
}

func TestDescribe(t *testing.T) {
	pem := []byte("-----BEGIN CERTIFICATE-----\n")
	answers := map[string]http.HandlerFunc{
		"/clusters/here": func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"cluster":{"name":"here","status":"ACTIVE","endpoint":"https://127.0.0.1:6443","certificateAuthority":{"data":%q}}}`,
				base64.StdEncoding.EncodeToString(pem))
		},
		"/clusters/coming": func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `{"cluster":{"name":"coming","status":"CREATING"}}`)
		},
		"/clusters/gone":   refuse(http.StatusNotFound, "ResourceNotFoundException"),
		"/clusters/denied": refuse(http.StatusForbidden, "AccessDeniedException"),
		"/clusters/broken": refuse(http.StatusInternalServerError, "ServerException"),
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answers[r.URL.Path](w, r)
	}))
	defer server.Close()

	for name, want := range map[string]presence.Presence{
		"here": presence.Present, "coming": presence.Present, "gone": presence.Absent,
		"denied": presence.Unknown, "broken": presence.Unknown,
	} {
		t.Run(name+" is "+want.String(), func(t *testing.T) {
			cluster, got, err := ekscluster.Describe(t.Context(), config(t, server.URL), name)
			if got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			if (err != nil) != (want == presence.Unknown) {
				t.Errorf("error %v with outcome %s", err, got)
			}
			if name == "here" && (cluster.Endpoint != "https://127.0.0.1:6443" || !bytes.Equal(cluster.CA, pem) || cluster.Status != "ACTIVE") {
				t.Errorf("got %+v", cluster)
			}
		})
	}
}

func refuse(status int, code string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Amzn-ErrorType", code)
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"message":"refused"}`)
	}
}
