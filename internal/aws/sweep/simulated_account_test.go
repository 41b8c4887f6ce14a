package sweep_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/krops-go/krops/internal/aws/inventory"
	"github.com/krops-go/krops/internal/aws/session"
	"github.com/krops-go/krops/internal/aws/sweep"
	"github.com/krops-go/krops/internal/rehearsal/awssim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/asgsim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/ec2sim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/ekssim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/elbsim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/iamsim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
	"github.com/krops-go/krops/internal/rehearsal/awssim/stssim"
)

// emptyClusters stands in for the API servers behind EKS control planes, which
// a sweep never talks to.
type emptyClusters struct{}

func (emptyClusters) Start(context.Context, ekssim.ClusterSpec) (ekssim.ControlPlane, error) {
	return ekssim.ControlPlane{Endpoint: "https://127.0.0.1:1", CA: []byte("PEM"), Issuer: "https://127.0.0.1:1"}, nil
}
func (emptyClusters) Delete(context.Context, ekssim.ClusterID) error               { return nil }
func (emptyClusters) AddNode(context.Context, ekssim.ClusterID, ekssim.Node) error { return nil }
func (emptyClusters) RemoveNode(context.Context, ekssim.ClusterID, string) error   { return nil }

// simulated is a simulated account, reached through the real SDK over HTTP.
type simulated struct {
	t      *testing.T
	server *awssim.Server
	cfg    aws.Config
	faults *faults
}

func newSimulated(t *testing.T) *simulated {
	t.Helper()
	const account = "111122223333"
	key := awssim.Credential{AccessKeyID: "AKIATEST", SecretAccessKey: "secret", ARN: "arn:aws:iam::" + account + ":user/test", UserID: "AIDATEST"}
	server, err := awssim.New(
		awssim.WithAccount(account), awssim.WithCredentials(key),
		awssim.WithServicesOf(func(w service.World) []service.Service {
			// Two estates of three zones do not fit into the default quota.
			ec2 := ec2sim.New(account, w, ec2sim.Options{Quotas: ec2sim.Quotas{Addresses: 40}})
			iam := iamsim.New()
			groups := asgsim.New(ec2)
			return []service.Service{
				ec2, iam, groups, elbsim.NewClassic(), elbsim.NewV2(), stssim.New(),
				ekssim.New(emptyClusters{}, ec2, iam, groups, ekssim.Timing{}),
			}
		}),
	)
	if err != nil {
		t.Fatal(err)
	}
	listener := httptest.NewServer(server)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := server.Close(ctx); err != nil {
			t.Error(err)
		}
		listener.Close()
	})
	s := &simulated{t: t, server: server, faults: &faults{}}
	s.cfg, err = session.Config(t.Context(), region, session.Settings{
		EndpointURL: listener.URL,
		Static:      &session.Credentials{AccessKeyID: key.AccessKeyID, SecretAccessKey: key.SecretAccessKey},
		HTTPClient:  &http.Client{Transport: s.faults},
		MaxBackoff:  time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *simulated) in(region string) aws.Config {
	cfg := s.cfg.Copy()
	cfg.Region = region
	return cfg
}

// sweep takes an inventory of the scope, plans and executes, and returns the
// outcomes with everything that went wrong.
func (s *simulated) sweep(ctx context.Context, scope inventory.Scope, opts sweep.Options) ([]sweep.Outcome, error) {
	s.t.Helper()
	inv, err := inventory.Take(ctx, inventory.FromConfig(s.cfg), scope)
	if err != nil && len(inv.Unknown) == 0 {
		s.t.Fatal(err)
	}
	opts.Poll, opts.MaxPoll = 10*time.Millisecond, 50*time.Millisecond
	opts.Patience, opts.Timeout = 20*time.Second, time.Minute
	return sweep.NewPlan(inv).Execute(ctx, sweep.NewCloud(s.cfg), opts)
}

// existing is everything in the account, one line each.
func (s *simulated) existing() []string {
	var lines []string
	for _, o := range s.server.Report().Existing {
		lines = append(lines, strings.Join([]string{o.Kind, o.Region, o.ID, o.Name}, " "))
	}
	return lines
}

// faults is a transport that refuses calls before they reach the simulator.
type faults struct {
	mu sync.Mutex
	// refuse returns the error code to answer a call of a form API with, or
	// "". Calls come one at a time.
	refuse  func(action, region string) string
	refused int
}

func (f *faults) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil {
		return http.DefaultTransport.RoundTrip(r)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.Body = io.NopCloser(bytes.NewReader(body))
	action, _, _ := strings.Cut(strings.TrimPrefix(string(body), "Action="), "&")
	scope := strings.Split(r.Header.Get("Authorization"), "/")
	f.mu.Lock()
	defer f.mu.Unlock()
	code := ""
	if f.refuse != nil && len(scope) > 2 {
		code = f.refuse(action, scope[2])
	}
	if code == "" {
		f.mu.Unlock()
		defer f.mu.Lock()
		return http.DefaultTransport.RoundTrip(r)
	}
	f.refused++
	// One body for both form protocols: EC2 reads Errors, the others Error.
	answer := "<Response><Errors><Error><Code>" + code + "</Code><Message>injected</Message></Error></Errors>" +
		"<Error><Code>" + code + "</Code><Message>injected</Message></Error></Response>"
	return &http.Response{
		StatusCode: http.StatusBadRequest, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"text/xml"}}, Body: io.NopCloser(strings.NewReader(answer)),
	}, nil
}
