// Package awssimtest serves a whole simulated account to tests: through the
// SDK in package conformance, and through the official command line in
// e2e/awscli.
package awssimtest

import (
	"context"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/krops-go/krops/internal/rehearsal/awssim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/cfnsim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/ec2sim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/iamsim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/kmssim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/quotasim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/rdssim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/s3sim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/secretsim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
	"github.com/krops-go/krops/internal/rehearsal/awssim/ssmsim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/stssim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/taggingsim"
)

// The account, and the region that tests are at home in.
const (
	ID   = "111122223333"
	Home = "eu-north-1"
)

// Admin may do everything.
var Admin = awssim.Credential{
	AccessKeyID: "AKIAADMIN", SecretAccessKey: "admin's secret",
	ARN: "arn:aws:iam::" + ID + ":user/admin", UserID: "AIDAADMIN",
}

// Account is a served account. Its test closes it.
type Account struct {
	t      *testing.T
	Server *awssim.Server
	URL    string
	dir    string
	opts   []awssim.Option
	Quotas *quotasim.Service
}

// New serves an account that is kept in a folder of the test's.
func New(t *testing.T, opts ...awssim.Option) *Account {
	t.Helper()
	a := &Account{t: t, dir: t.TempDir(), opts: opts}
	a.start()
	return a
}

func (a *Account) start() {
	a.t.Helper()
	listener := httptest.NewUnstartedServer(nil)
	a.URL = "http://" + listener.Listener.Addr().String()
	server, err := awssim.New(append([]awssim.Option{
		awssim.WithAccount(ID), awssim.WithCredentials(Admin), awssim.WithEndpoint(a.URL),
		awssim.WithStateFile(filepath.Join(a.dir, "state.json")), awssim.WithServicesOf(a.services),
	}, a.opts...)...)
	if err != nil {
		a.t.Fatal(err)
	}
	a.Server = server
	listener.Config.Handler = server
	listener.Start()
	a.t.Cleanup(func() {
		a.close()
		listener.Close()
	})
}

func (a *Account) close() {
	a.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := a.Server.Close(ctx); err != nil {
		a.t.Error(err)
	}
}

// Restart ends the server and serves the account again from its folder.
func (a *Account) Restart() {
	a.t.Helper()
	a.close()
	a.start()
}

func (a *Account) services(w service.World) []service.Service {
	network := ec2sim.New(ID, w, ec2sim.Options{})
	identities := iamsim.New()
	objects := s3sim.New(ID, network, s3sim.Options{Dir: filepath.Join(a.dir, "objects"), Taken: []string{"taken-by-another"}})
	stacks := cfnsim.New(ID, w, identities, cfnsim.Timing{})
	keys, secrets := kmssim.New(ID), secretsim.New(ID)
	databases := rdssim.New(ID, w, network, secrets, keys, rdssim.Timing{})
	parameters := ssmsim.New(ID, network)
	a.Quotas = quotasim.New(ID, network)
	return []service.Service{
		network, identities, stssim.New(), objects, stacks, keys, secrets, databases, parameters, a.Quotas,
		taggingsim.New(network, objects, stacks, keys, secrets, databases, parameters),
	}
}

// ConfigIn is how the SDK reaches the account in a region.
func (a *Account) ConfigIn(region string) aws.Config {
	return aws.Config{
		Region: region, BaseEndpoint: aws.String(a.URL),
		Retryer: func() aws.Retryer { return aws.NopRetryer{} },
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: Admin.AccessKeyID, SecretAccessKey: Admin.SecretAccessKey}, nil
		}),
	}
}

// Config is ConfigIn at home.
func (a *Account) Config() aws.Config { return a.ConfigIn(Home) }

// NothingLeft checks that the account is as empty as it was.
func (a *Account) NothingLeft() {
	a.t.Helper()
	report := a.Server.Report()
	if len(report.Existing) > 0 {
		a.t.Errorf("left in the account: %v", report.Existing)
	}
	if len(report.Refused) > 0 {
		a.t.Errorf("not modelled: %v", report.Refused)
	}
}
