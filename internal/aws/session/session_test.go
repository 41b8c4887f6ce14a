package session_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/krops-go/krops/internal/aws/session"
)

const emptyVPCs = `<DescribeVpcsResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><vpcSet/></DescribeVpcsResponse>`

func TestConfig(t *testing.T) {
	t.Run("uses static credentials and endpoint whatever the environment says", func(t *testing.T) {
		var authorization string
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			authorization = r.Header.Get("Authorization")
			fmt.Fprint(w, emptyVPCs)
		}))
		defer server.Close()
		t.Setenv("AWS_ACCESS_KEY_ID", "AKIAENVIRONMENT")
		t.Setenv("AWS_SECRET_ACCESS_KEY", "from-environment")
		t.Setenv("AWS_ENDPOINT_URL_EC2", "http://127.0.0.1:1")

		cfg, err := session.Config(t.Context(), "eu-north-1", session.Settings{
			EndpointURL: server.URL,
			Static:      &session.Credentials{AccessKeyID: "AKIASETTINGS", SecretAccessKey: "secret"},
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ec2.NewFromConfig(cfg).DescribeVpcs(t.Context(), &ec2.DescribeVpcsInput{}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(authorization, "Credential=AKIASETTINGS/") || !strings.Contains(authorization, "/eu-north-1/ec2/") {
			t.Errorf("signed as %q, want key AKIASETTINGS for ec2 in eu-north-1", authorization)
		}
	})

	t.Run("reads a credentials file before the environment", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "credentials")
		content := "[default]\naws_access_key_id = AKIADEFAULT\naws_secret_access_key = s1\n[estate]\naws_access_key_id = AKIAESTATE\naws_secret_access_key = s2\n"
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Setenv("AWS_ACCESS_KEY_ID", "AKIAENVIRONMENT")
		t.Setenv("AWS_SECRET_ACCESS_KEY", "from-environment")
		for profile, want := range map[string]string{"": "AKIADEFAULT", "estate": "AKIAESTATE"} {
			cfg, err := session.Config(t.Context(), "eu-north-1", session.Settings{SharedCredentialsFile: file, Profile: profile})
			if err != nil {
				t.Fatal(err)
			}
			got, err := cfg.Credentials.Retrieve(t.Context())
			if err != nil || got.AccessKeyID != want {
				t.Errorf("profile %q: got key %s (%v), want %s", profile, got.AccessKeyID, err, want)
			}
		}
	})

	t.Run("takes ambient credentials when none are given", func(t *testing.T) {
		t.Setenv("AWS_ACCESS_KEY_ID", "AKIAENVIRONMENT")
		t.Setenv("AWS_SECRET_ACCESS_KEY", "from-environment")
		cfg, err := session.Config(t.Context(), "eu-north-1", session.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := cfg.Credentials.Retrieve(t.Context())
		if err != nil || got.AccessKeyID != "AKIAENVIRONMENT" {
			t.Errorf("got key %s (%v), want AKIAENVIRONMENT", got.AccessKeyID, err)
		}
	})

	t.Run("refuses settings that contradict themselves or lack something", func(t *testing.T) {
		key := &session.Credentials{AccessKeyID: "AKIA", SecretAccessKey: "s"}
		for name, c := range map[string]struct {
			region   string
			settings session.Settings
		}{
			"no region":   {"", session.Settings{Static: key}},
			"two sources": {"eu-north-1", session.Settings{Static: key, SharedCredentialsFile: "f"}},
			"half a key":  {"eu-north-1", session.Settings{Static: &session.Credentials{AccessKeyID: "AKIA"}}},
		} {
			if _, err := session.Config(context.Background(), c.region, c.settings); err == nil {
				t.Errorf("%s: got no error", name)
			}
		}
	})
}

func TestConfigRetriesThrottling(t *testing.T) {
	// More refusals in a row than the SDK's own default of three attempts.
	const refusals = 6
	var calls atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if calls.Add(1) <= refusals {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `<ErrorResponse><Error><Code>Throttling</Code><Message>Rate exceeded</Message></Error></ErrorResponse>`)
			return
		}
		fmt.Fprint(w, `<ListRolesResponse><ListRolesResult><Roles/><IsTruncated>false</IsTruncated></ListRolesResult></ListRolesResponse>`)
	}))
	defer server.Close()
	cfg, err := session.Config(t.Context(), "eu-north-1", session.Settings{
		EndpointURL: server.URL,
		Static:      &session.Credentials{AccessKeyID: "AKIA", SecretAccessKey: "s"},
		MaxBackoff:  time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := iam.NewFromConfig(cfg).ListRoles(t.Context(), &iam.ListRolesInput{}); err != nil {
		t.Errorf("after %d throttled attempts: %v", refusals, err)
	}
	if calls.Load() != refusals+1 {
		t.Errorf("%d attempts, want %d", calls.Load(), refusals+1)
	}
}

func TestCredentialsPrintRedacted(t *testing.T) {
	s := session.Settings{Static: &session.Credentials{AccessKeyID: "AKIA1", SecretAccessKey: "hush-secret", SessionToken: "hush-token"}}
	for _, text := range []string{fmt.Sprint(*s.Static), fmt.Sprintf("%v %+v %#v", s.Static, *s.Static, *s.Static), fmt.Sprintf("%#v", s.Static)} {
		if strings.Contains(text, "hush") || !strings.Contains(text, "AKIA1") {
			t.Errorf("printed as %s", text)
		}
	}
}
