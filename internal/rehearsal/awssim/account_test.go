package awssim_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	ststypes "github.com/aws/aws-sdk-go-v2/service/sts/types"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/krops-go/krops/internal/rehearsal/awssim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/asgsim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/ec2sim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/ekssim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/iamsim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
	"github.com/krops-go/krops/internal/rehearsal/awssim/stssim"
)

// noClusters stands in for the API servers of EKS.
type noClusters struct{}

func (noClusters) Start(context.Context, ekssim.ClusterSpec) (ekssim.ControlPlane, error) {
	return ekssim.ControlPlane{Endpoint: "https://127.0.0.1:1", CA: []byte("PEM"), Issuer: "https://127.0.0.1:1"}, nil
}
func (noClusters) Delete(context.Context, ekssim.ClusterID) error               { return nil }
func (noClusters) AddNode(context.Context, ekssim.ClusterID, ekssim.Node) error { return nil }
func (noClusters) RemoveNode(context.Context, ekssim.ClusterID, string) error   { return nil }

// estate is a served account with the services that are the product's own.
type estate struct {
	*bench
	client *http.Client // by which STS reaches identity providers
}

func newEstate(t *testing.T, opts ...awssim.Option) *estate {
	t.Helper()
	return startEstate(t, &http.Client{}, opts...)
}

func startEstate(t *testing.T, client *http.Client, opts ...awssim.Option) *estate {
	t.Helper()
	e := &estate{client: client, bench: &bench{clock: testingclock.NewFakeClock(time.Now())}}
	listener := httptest.NewUnstartedServer(nil)
	e.url = "http://" + listener.Listener.Addr().String()
	server, err := awssim.New(slices.Concat([]awssim.Option{
		awssim.WithAccount(account), awssim.WithClock(e.clock), awssim.WithCredentials(admin), awssim.WithEndpoint(e.url),
		awssim.WithServicesOf(func(w service.World) []service.Service {
			ec2, iam := ec2sim.New(account, w, ec2sim.Options{}), iamsim.New()
			groups := asgsim.New(ec2)
			return []service.Service{
				ec2, iam, groups, ekssim.New(noClusters{}, ec2, iam, groups, ekssim.Timing{}),
				stssim.New(stssim.WithDirectory(iam), stssim.WithHTTPClient(e.client)),
			}
		}),
	}, opts)...)
	if err != nil {
		t.Fatal(err)
	}
	e.server = server
	listener.Config.Handler = server
	listener.Start()
	t.Cleanup(func() {
		e.close(t)
		listener.Close()
	})
	return e
}

func (e *estate) as(cred awssim.Credential) caller { return caller{e, cred} }

// caller makes calls with one credential.
type caller struct {
	estate *estate
	cred   awssim.Credential
}

func (c caller) ec2() *ec2.Client { return ec2.NewFromConfig(c.estate.config(c.cred)) }
func (c caller) eks() *eks.Client { return eks.NewFromConfig(c.estate.config(c.cred)) }
func (c caller) iam() *iam.Client { return iam.NewFromConfig(c.estate.config(c.cred)) }
func (c caller) sts() *sts.Client { return sts.NewFromConfig(c.estate.config(c.cred)) }

// user is a credential of a user that may do what the statements say.
func user(name string, statements ...string) awssim.Credential {
	c := awssim.Credential{
		AccessKeyID: "AKIA" + name, SecretAccessKey: name + "'s secret", UserID: "AIDA" + name,
		ARN: "arn:aws:iam::" + account + ":user/" + name, Policies: []string{},
	}
	for _, s := range statements {
		c.Policies = append(c.Policies, document(s))
	}
	return c
}

func document(statement string) string {
	return `{"Version":"2012-10-17","Statement":[` + statement + `]}`
}

// createRole makes a role with an inline policy.
func (e *estate) createRole(t *testing.T, name, trust, statement string, change ...func(*iam.CreateRoleInput)) string {
	t.Helper()
	in := &iam.CreateRoleInput{RoleName: &name, AssumeRolePolicyDocument: aws.String(document(trust))}
	for _, c := range change {
		c(in)
	}
	client := e.as(admin).iam()
	out, err := client.CreateRole(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if statement != "" {
		_, err = client.PutRolePolicy(t.Context(), &iam.PutRolePolicyInput{
			RoleName: &name, PolicyName: aws.String("inline"), PolicyDocument: aws.String(document(statement)),
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return *out.Role.Arn
}

// createUser makes a user of IAM without permissions, with an access key.
func (e *estate) createUser(t *testing.T, name string) awssim.Credential {
	t.Helper()
	client := e.as(admin).iam()
	made, err := client.CreateUser(t.Context(), &iam.CreateUserInput{UserName: &name})
	if err != nil {
		t.Fatal(err)
	}
	key, err := client.CreateAccessKey(t.Context(), &iam.CreateAccessKeyInput{UserName: &name})
	if err != nil {
		t.Fatal(err)
	}
	return awssim.Credential{AccessKeyID: *key.AccessKey.AccessKeyId, SecretAccessKey: *key.AccessKey.SecretAccessKey, ARN: *made.User.Arn}
}

const trustAccount = `{"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::111122223333:root"},"Action":"sts:AssumeRole"}`

// temporary is the credential that STS gave.
func temporary(c *ststypes.Credentials) awssim.Credential {
	return awssim.Credential{AccessKeyID: *c.AccessKeyId, SecretAccessKey: *c.SecretAccessKey, SessionToken: *c.SessionToken}
}

// messageOf is the code and message of an API error.
func messageOf(err error) string {
	if err == nil {
		return ""
	}
	return fmt.Sprintf("%s: %v", codeOf(err), err)
}

// staticCredentials provides what it is.
type staticCredentials aws.Credentials

func (s staticCredentials) Retrieve(context.Context) (aws.Credentials, error) {
	return aws.Credentials(s), nil
}
