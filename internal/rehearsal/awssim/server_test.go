package awssim_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/krops-go/krops/internal/rehearsal/awssim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

const account = "111122223333"

var admin = awssim.Credential{
	AccessKeyID: "AKIAADMIN", SecretAccessKey: "admin's secret",
	ARN: "arn:aws:iam::111122223333:user/admin", UserID: "AIDAADMIN",
}

// bench is a served account with tiny services.
type bench struct {
	server   *awssim.Server
	network  *network
	clusters *clusters
	clock    *testingclock.FakeClock
	url      string
}

func newBench(t *testing.T, opts ...awssim.Option) *bench {
	t.Helper()
	b := &bench{network: newNetwork(), clusters: newClusters(), clock: testingclock.NewFakeClock(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))}
	b.clusters.admin = admin.ARN
	listener := httptest.NewUnstartedServer(nil)
	b.url = "http://" + listener.Listener.Addr().String()
	server, err := awssim.New(slices.Concat([]awssim.Option{
		awssim.WithAccount(account), awssim.WithClock(b.clock), awssim.WithCredentials(admin), awssim.WithEndpoint(b.url),
		awssim.WithServices(b.network, b.clusters, identity{}, roles{}),
	}, opts)...)
	if err != nil {
		t.Fatal(err)
	}
	b.server = server
	listener.Config.Handler = server
	listener.Start()
	t.Cleanup(func() {
		b.close(t)
		listener.Close()
	})
	return b
}

func (b *bench) close(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := b.server.Close(ctx); err != nil {
		t.Error(err)
	}
}

func (b *bench) config(cred awssim.Credential) aws.Config {
	return aws.Config{
		Region: "eu-central-1", BaseEndpoint: aws.String(b.url),
		Retryer: func() aws.Retryer { return aws.NopRetryer{} },
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: cred.AccessKeyID, SecretAccessKey: cred.SecretAccessKey, SessionToken: cred.SessionToken}, nil
		}),
	}
}

func (b *bench) ec2() *ec2.Client { return ec2.NewFromConfig(b.config(admin)) }
func (b *bench) eks() *eks.Client { return eks.NewFromConfig(b.config(admin)) }

func (b *bench) createVPC(t *testing.T, cidr string) string {
	t.Helper()
	out, err := b.ec2().CreateVpc(t.Context(), &ec2.CreateVpcInput{CidrBlock: &cidr})
	if err != nil {
		t.Fatal(err)
	}
	return *out.Vpc.VpcId
}

func (b *bench) createCluster(t *testing.T, name string) {
	t.Helper()
	_, err := b.eks().CreateCluster(t.Context(), &eks.CreateClusterInput{
		Name: &name, RoleArn: aws.String("arn:aws:iam::111122223333:role/x"), ResourcesVpcConfig: &ekstypes.VpcConfigRequest{},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// codeOf returns the API error's code, or what else the error is.
func codeOf(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return api.ErrorCode()
	}
	if err != nil {
		return "not an API error: " + err.Error()
	}
	return ""
}

func TestCallsReachTheServices(t *testing.T) {
	b := newBench(t)
	t.Run("EC2", func(t *testing.T) {
		id := b.createVPC(t, "10.0.0.0/16")
		out, err := b.ec2().DescribeVpcs(t.Context(), &ec2.DescribeVpcsInput{VpcIds: []string{id}})
		if err != nil || len(out.Vpcs) != 1 || *out.Vpcs[0].CidrBlock != "10.0.0.0/16" || out.Vpcs[0].State != types.VpcStatePending {
			t.Errorf("got %+v, %v", out, err)
		}
	})
	t.Run("STS tells the caller who signed", func(t *testing.T) {
		out, err := sts.NewFromConfig(b.config(admin)).GetCallerIdentity(t.Context(), nil)
		if err != nil || *out.Account != account || *out.Arn != admin.ARN || *out.UserId != admin.UserID {
			t.Errorf("got %+v, %v", out, err)
		}
	})
	t.Run("IAM's not-found is typed", func(t *testing.T) {
		_, err := iam.NewFromConfig(b.config(admin)).GetRole(t.Context(), &iam.GetRoleInput{RoleName: aws.String("unknown")})
		var absent *iamtypes.NoSuchEntityException
		if !errors.As(err, &absent) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("EKS's not-found is typed", func(t *testing.T) {
		_, err := b.eks().DescribeCluster(t.Context(), &eks.DescribeClusterInput{Name: aws.String("absent")})
		var absent *ekstypes.ResourceNotFoundException
		if !errors.As(err, &absent) || absent.ErrorMessage() != "No cluster found for name: absent." {
			t.Errorf("got %v", err)
		}
	})
	t.Run("an ARN in the path stays one label", func(t *testing.T) {
		_, err := b.eks().TagResource(t.Context(), &eks.TagResourceInput{
			ResourceArn: aws.String("arn:aws:eks:eu-central-1:111122223333:cluster/one"), Tags: map[string]string{"a": "b"},
		})
		if err != nil {
			t.Error(err)
		}
	})
}

func TestSignaturesAreRefusedInEachServicesWords(t *testing.T) {
	b := newBench(t)
	stranger := awssim.Credential{AccessKeyID: "AKIASTRANGER", SecretAccessKey: "x"}
	forger := awssim.Credential{AccessKeyID: admin.AccessKeyID, SecretAccessKey: "guessed"}
	call := map[string]func(aws.Config) error{
		"ec2": func(c aws.Config) error {
			_, err := ec2.NewFromConfig(c).DescribeVpcs(t.Context(), &ec2.DescribeVpcsInput{})
			return err
		},
		"sts": func(c aws.Config) error {
			_, err := sts.NewFromConfig(c).GetCallerIdentity(t.Context(), nil)
			return err
		},
		"eks": func(c aws.Config) error {
			_, err := eks.NewFromConfig(c).DescribeCluster(t.Context(), &eks.DescribeClusterInput{Name: aws.String("x")})
			return err
		},
		"tagging": func(c aws.Config) error {
			_, err := resourcegroupstaggingapi.NewFromConfig(c).GetResources(t.Context(), nil)
			return err
		},
	}
	for _, test := range []struct {
		name, service, want string
		cred                awssim.Credential
	}{
		{"unknown key", "ec2", "AuthFailure", stranger},
		{"unknown key", "sts", "InvalidClientTokenId", stranger},
		{"unknown key", "eks", "UnrecognizedClientException", stranger},
		{"unknown key", "tagging", "UnrecognizedClientException", stranger},
		{"wrong secret", "ec2", "AuthFailure", forger},
		{"wrong secret", "sts", "SignatureDoesNotMatch", forger},
		{"wrong secret", "eks", "InvalidSignatureException", forger},
	} {
		t.Run(test.service+" "+test.name, func(t *testing.T) {
			if got := codeOf(call[test.service](b.config(test.cred))); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
	t.Run("a request without any signature", func(t *testing.T) {
		response, err := http.Get(b.url + "/clusters")
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusForbidden || response.Header.Get("X-Amzn-Errortype") != "MissingAuthenticationTokenException" {
			t.Errorf("got %s, %s", response.Status, response.Header)
		}
	})
	t.Run("an old signature", func(t *testing.T) {
		late := newBench(t, awssim.WithSignatureClock(testingclock.NewFakePassiveClock(time.Now().Add(time.Hour))))
		if got := codeOf(call["ec2"](late.config(admin))); got != "RequestExpired" {
			t.Errorf("got %q", got)
		}
	})
}

func TestWhatIsNotModelledIsRefusedAndReported(t *testing.T) {
	b := newBench(t)
	_, err := b.ec2().CreateSubnet(t.Context(), &ec2.CreateSubnetInput{VpcId: aws.String("vpc-1")})
	if got := codeOf(err); got != "UnsupportedOperation" {
		t.Errorf("an EC2 operation: got %q", got)
	}
	_, err = b.ec2().CreateVpc(t.Context(), &ec2.CreateVpcInput{CidrBlock: aws.String("10.0.0.0/16"), DryRun: aws.Bool(false)})
	if got := codeOf(err); got != "UnsupportedOperation" {
		t.Errorf("an EC2 parameter: got %q", got)
	}
	_, err = b.eks().ListClusters(t.Context(), nil)
	if got := codeOf(err); got != "InvalidParameterException" {
		t.Errorf("an EKS operation: got %q", got)
	}
	_, err = iam.NewFromConfig(b.config(admin)).ListRoles(t.Context(), nil)
	if got := codeOf(err); got != "InvalidAction" {
		t.Errorf("an IAM operation: got %q", got)
	}
	_, err = autoscaling.NewFromConfig(b.config(admin)).DescribeAutoScalingGroups(t.Context(), nil)
	if got := codeOf(err); got != "InvalidAction" {
		t.Errorf("a service: got %q", got)
	}
	want := []awssim.Refusal{
		{Service: "autoscaling", Operation: "DescribeAutoScalingGroups", What: "operation DescribeAutoScalingGroups", Count: 1},
		{Service: "ec2", Operation: "CreateSubnet", What: "operation CreateSubnet", Count: 1},
		{Service: "ec2", Operation: "CreateVpc", What: "parameter DryRun", Count: 1},
		{Service: "eks", Operation: "ListClusters", What: "operation ListClusters", Count: 1},
		{Service: "iam", Operation: "ListRoles", What: "operation ListRoles", Count: 1},
	}
	if diff := cmp.Diff(want, b.server.Report().Refused); diff != "" {
		t.Errorf("refused (-want +got):\n%s", diff)
	}
	if n := b.server.MutatingCalls(); n != 0 {
		t.Errorf("%d mutating calls after refusals only", n)
	}
}

func TestAWaiterIsHeldUntilTheStateIsFinal(t *testing.T) {
	t.Run("by a transition", func(t *testing.T) {
		b := newBench(t)
		id := b.createVPC(t, "10.0.0.0/16")
		done := make(chan error, 1)
		go func() {
			done <- ec2.NewVpcAvailableWaiter(b.ec2()).Wait(t.Context(), &ec2.DescribeVpcsInput{VpcIds: []string{id}}, time.Minute)
		}()
		<-b.network.held
		b.clock.Step(readyAfter)
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Run("by work in the background", func(t *testing.T) {
		b := newBench(t)
		b.createCluster(t, "one")
		go func() { b.clusters.start <- nil }()
		if err := eks.NewClusterActiveWaiter(b.eks()).Wait(t.Context(), &eks.DescribeClusterInput{Name: aws.String("one")}, time.Minute); err != nil {
			t.Error(err)
		}
	})
	t.Run("unless the client goes away", func(t *testing.T) {
		b := newBench(t)
		id := b.createVPC(t, "10.0.0.0/16")
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-b.network.held
			cancel()
		}()
		err := ec2.NewVpcAvailableWaiter(b.ec2()).Wait(ctx, &ec2.DescribeVpcsInput{VpcIds: []string{id}}, time.Minute)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("unless the server is closed", func(t *testing.T) {
		b := newBench(t)
		id := b.createVPC(t, "10.0.0.0/16")
		answered := make(chan error, 1)
		go func() {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			waiter := ec2.NewVpcAvailableWaiter(b.ec2(), func(o *ec2.VpcAvailableWaiterOptions) {
				o.Retryable = func(_ context.Context, _ *ec2.DescribeVpcsInput, out *ec2.DescribeVpcsOutput, err error) (bool, error) {
					return false, err // one answer is enough
				}
			})
			answered <- waiter.Wait(ctx, &ec2.DescribeVpcsInput{VpcIds: []string{id}}, time.Minute)
		}()
		<-b.network.held
		b.close(t)
		if err := <-answered; err != nil {
			t.Errorf("the held call was not answered: %v", err)
		}
		_, err := b.ec2().DescribeVpcs(t.Context(), &ec2.DescribeVpcsInput{})
		if got := codeOf(err); got != "Unavailable" {
			t.Errorf("a call after Close: got %q", got)
		}
	})
}

func TestTheReportCounts(t *testing.T) {
	b := newBench(t)
	id := b.createVPC(t, "10.0.0.0/16")
	for range 2 {
		_, _ = b.ec2().DeleteVpc(t.Context(), &ec2.DeleteVpcInput{VpcId: &id})
	}
	_, err := b.ec2().CreateVpc(t.Context(), &ec2.CreateVpcInput{CidrBlock: aws.String("broken")})
	if got := codeOf(err); got != "InternalError" {
		t.Errorf("a broken handler: got %q", got)
	}
	b.createVPC(t, "10.1.0.0/16")
	if _, err := b.ec2().DescribeVpcs(t.Context(), &ec2.DescribeVpcsInput{}); err != nil {
		t.Fatal(err)
	}

	got := b.server.Report()
	wantCalls := []awssim.OperationCalls{
		{Service: "ec2", Operation: "CreateVpc", Mutating: true, Count: 3, Failed: map[string]int{"InternalError": 1}},
		{Service: "ec2", Operation: "DeleteVpc", Mutating: true, Count: 2, Failed: map[string]int{"InvalidVpcID.NotFound": 1}},
		{Service: "ec2", Operation: "DescribeVpcs", Count: 1},
	}
	if diff := cmp.Diff(wantCalls, got.Calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if got.MutatingCalls != 3 || b.server.MutatingCalls() != 3 {
		t.Errorf("%d and %d mutating calls, want 3", got.MutatingCalls, b.server.MutatingCalls())
	}
	if diff := cmp.Diff([]map[string]int{{"vpc": 2}, {"vpc": 1}}, []map[string]int{got.Created, got.Deleted}); diff != "" {
		t.Errorf("created and deleted (-want +got):\n%s", diff)
	}
	wantRecent := []awssim.Outcome{
		{Service: "ec2", Operation: "CreateVpc"},
		{Service: "ec2", Operation: "DeleteVpc"},
		{Service: "ec2", Operation: "DeleteVpc", Code: "InvalidVpcID.NotFound"},
		{Service: "ec2", Operation: "CreateVpc", Code: "InternalError"},
		{Service: "ec2", Operation: "CreateVpc"},
		{Service: "ec2", Operation: "DescribeVpcs"},
	}
	for i := range wantRecent {
		wantRecent[i].Number, wantRecent[i].At = uint64(i+1), b.clock.Now()
		wantRecent[i].Region, wantRecent[i].Principal = "eu-central-1", admin.ARN
	}
	if diff := cmp.Diff(wantRecent, b.server.Recent()); diff != "" {
		t.Errorf("recent (-want +got):\n%s", diff)
	}
}

func TestManyCallersAtOnce(t *testing.T) {
	b := newBench(t, awssim.WithStateFile(filepath.Join(t.TempDir(), "account.json")))
	const callers = 20
	ids, errs := make(chan string, callers), make(chan error, callers)
	for range callers {
		go func() {
			out, err := b.ec2().CreateVpc(context.Background(), &ec2.CreateVpcInput{CidrBlock: aws.String("10.0.0.0/16")})
			if err != nil {
				errs <- err
				return
			}
			ids <- *out.Vpc.VpcId
		}()
	}
	seen := map[string]bool{}
	for range callers {
		select {
		case id := <-ids:
			seen[id] = true
		case err := <-errs:
			t.Error(err)
		}
	}
	if len(seen) != callers || b.server.MutatingCalls() != callers {
		t.Errorf("%d distinct ids and %d calls, want %d", len(seen), b.server.MutatingCalls(), callers)
	}
}

func TestNewRefuses(t *testing.T) {
	for name, opts := range map[string][]awssim.Option{
		"two services of one name": {awssim.WithServices(newNetwork(), newNetwork())},
		"an endpoint that is none": {awssim.WithEndpoint("127.0.0.1")},
		"a key without secret":     {awssim.WithCredentials(awssim.Credential{AccessKeyID: "AKIA"})},
		"a field that is none":     {awssim.WithServices(mistaken{field: "Nope"})},
		"an input of no operation": {awssim.WithServices(mistaken{name: "DescribeOthers"})},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := awssim.New(opts...); err == nil {
				t.Error("it was accepted")
			}
		})
	}
}

// mistaken offers an operation with a mistake in it.
type mistaken struct {
	identity
	name, field string
}

func (m mistaken) Operations() []service.Operation {
	op := service.Read("DescribeVpcs", newNetwork().describe, "VpcIds")
	if m.name != "" {
		op.Name = m.name
	}
	if m.field != "" {
		op.Fields = []string{m.field}
	}
	return []service.Operation{op}
}

func TestAnOversizedBodyIsRefused(t *testing.T) {
	b := newBench(t)
	answer := httptest.NewRecorder()
	b.server.ServeHTTP(answer, httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(make([]byte, 5<<20))))
	if answer.Code != http.StatusBadRequest {
		t.Errorf("got %d", answer.Code)
	}
}
