package awssim_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/google/go-cmp/cmp"

	"github.com/krops-go/krops/internal/rehearsal/awssim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/faults"
)

func injector(t *testing.T, rules ...faults.Rule) *faults.Injector {
	t.Helper()
	i, err := faults.New(1, rules...)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func createVPC(ctx context.Context, client *ec2.Client) (string, error) {
	out, err := client.CreateVpc(ctx, &ec2.CreateVpcInput{CidrBlock: aws.String("10.0.0.0/16")})
	if err != nil {
		return "", err
	}
	return *out.Vpc.VpcId, nil
}

func TestFaultsRefuse(t *testing.T) {
	faulty := injector(t,
		faults.Rule{Service: "ec2", Operation: "CreateVpc", Kind: faults.Throttle, Count: 1},
		faults.Rule{Service: "ec2", Operation: "CreateVpc", Kind: faults.Internal, After: 1, Count: 1},
		faults.Rule{Service: "ec2", Operation: "CreateVpc", Kind: faults.Quota, After: 2, Count: 1},
		faults.Rule{Service: "iam", Kind: faults.Throttle, Count: 1},
		faults.Rule{Service: "eks", Kind: faults.Refuse, Code: "ResourceLimitExceededException"},
	)
	e := newEstate(t, awssim.WithFaults(faulty))
	var got []string
	for range 4 {
		_, err := createVPC(t.Context(), e.ec2())
		got = append(got, codeOf(err))
	}
	if diff := cmp.Diff([]string{"RequestLimitExceeded", "InternalError", "VpcLimitExceeded", ""}, got); diff != "" {
		t.Errorf("EC2 (-want +got):\n%s", diff)
	}
	_, err := e.as(admin).iam().ListRoles(t.Context(), &iam.ListRolesInput{})
	if got := codeOf(err); got != "Throttling" {
		t.Errorf("IAM: got %q", got)
	}
	if _, err := e.eks().ListClusters(t.Context(), nil); codeOf(err) != "ResourceLimitExceededException" {
		t.Errorf("EKS: got %v", err)
	}
	if diff := cmp.Diff([]int{1, 1, 1, 1, 1}, faulty.Hits()); diff != "" {
		t.Errorf("hits (-want +got):\n%s", diff)
	}
	for _, o := range e.server.Recent() {
		if o.Fault != (o.Code != "") {
			t.Errorf("%s %s %q: Fault is %v", o.Service, o.Operation, o.Code, o.Fault)
		}
	}
}

func TestAClientThatRetriesOutlivesThrottling(t *testing.T) {
	e := newEstate(t, awssim.WithFaults(injector(t, faults.Rule{Service: "ec2", Kind: faults.Throttle, Every: 2})))
	cfg := e.config(admin)
	cfg.Retryer = func() aws.Retryer {
		return retry.NewStandard(func(o *retry.StandardOptions) { o.MaxBackoff = time.Millisecond })
	}
	client := ec2.NewFromConfig(cfg)
	for range 3 {
		if _, err := createVPC(t.Context(), client); err != nil {
			t.Error(err)
		}
	}
	if got := len(e.server.Report().Existing); got != 3 {
		t.Errorf("%d VPCs, want 3", got)
	}
}

func TestACutConnection(t *testing.T) {
	for kind, want := range map[faults.Kind]int{faults.CutBefore: 0, faults.CutAfter: 1} {
		t.Run(string(kind), func(t *testing.T) {
			e := newEstate(t, awssim.WithFaults(injector(t, faults.Rule{Operation: "CreateVpc", Kind: kind})))
			_, err := createVPC(t.Context(), e.ec2())
			if err == nil || !strings.HasPrefix(codeOf(err), "not an API error") {
				t.Errorf("got %v", err)
			}
			if got := len(e.server.Report().Existing); got != want {
				t.Errorf("%d VPCs, want %d", got, want)
			}
		})
	}
}

func TestASlowAnswer(t *testing.T) {
	const delay = time.Hour
	e := newEstate(t, awssim.WithFaults(injector(t, faults.Rule{Operation: "CreateVpc", Kind: faults.Slow, Delay: faults.Duration(delay)})))
	started := e.clock.Now()
	answered := make(chan error)
	go func() {
		_, err := createVPC(context.Background(), e.ec2())
		answered <- err
	}()
	for {
		select {
		case err := <-answered:
			if err != nil {
				t.Error(err)
			}
			if took := e.clock.Since(started); took < delay {
				t.Errorf("it took %s on the account's clock, want %s", took, delay)
			}
			return
		default:
			e.clock.Step(time.Minute)
			runtime.Gosched()
		}
	}
}

func TestANewResourceAppearsLate(t *testing.T) {
	e := newEstate(t, awssim.WithFaults(injector(t,
		faults.Rule{Operation: "CreateVpc", Kind: faults.Eventual, Delay: faults.Duration(time.Minute)},
		faults.Rule{Operation: "CreateRole", Kind: faults.Eventual, Delay: faults.Duration(time.Minute)},
	)))
	id, err := createVPC(t.Context(), e.ec2())
	if err != nil {
		t.Fatal(err)
	}
	e.createRole(t, "late", trustAccount, "")
	seen := func() []string {
		var got []string
		byID, err := e.ec2().DescribeVpcs(t.Context(), &ec2.DescribeVpcsInput{VpcIds: []string{id}})
		if err != nil {
			got = append(got, codeOf(err))
		} else {
			got = append(got, *byID.Vpcs[0].VpcId)
		}
		all, err := e.ec2().DescribeVpcs(t.Context(), &ec2.DescribeVpcsInput{})
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range all.Vpcs {
			got = append(got, "listed "+*v.VpcId)
		}
		_, err = e.ec2().CreateSubnet(t.Context(), &ec2.CreateSubnetInput{VpcId: &id, CidrBlock: aws.String("10.0.0.0/24")})
		got = append(got, "subnet "+codeOf(err))
		roles, err := e.as(admin).iam().ListRoles(t.Context(), &iam.ListRolesInput{})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range roles.Roles {
			got = append(got, "listed "+*r.RoleName)
		}
		_, err = e.as(admin).iam().GetRole(t.Context(), &iam.GetRoleInput{RoleName: aws.String("late")})
		return append(got, "role "+codeOf(err))
	}
	if diff := cmp.Diff([]string{"InvalidVpcID.NotFound", "subnet InvalidVpcID.NotFound", "role NoSuchEntity"}, seen()); diff != "" {
		t.Errorf("at first (-want +got):\n%s", diff)
	}
	e.clock.Step(time.Minute)
	if diff := cmp.Diff([]string{id, "listed " + id, "subnet ", "listed late", "role "}, seen()); diff != "" {
		t.Errorf("later (-want +got):\n%s", diff)
	}
}

func TestAGateStopsACall(t *testing.T) {
	faulty := injector(t)
	e := newEstate(t, awssim.WithFaults(faulty))
	gate := faulty.Stop(func(c faults.Call) bool { return c.Operation == "CreateVpc" })
	answered := make(chan error)
	go func() {
		_, err := createVPC(context.Background(), e.ec2())
		answered <- err
	}()
	call, err := gate.Await(t.Context())
	if diff := cmp.Diff(faults.Call{Service: "ec2", Operation: "CreateVpc", Region: "eu-central-1", Principal: admin.ARN}, call); err != nil || diff != "" {
		t.Errorf("%v, (-want +got):\n%s", err, diff)
	}
	if got := len(e.server.Report().Existing); got != 0 {
		t.Errorf("%d VPCs while the call is stopped", got)
	}
	gate.Open()
	if err := <-answered; err != nil {
		t.Error(err)
	}
}

func TestAwaitCall(t *testing.T) {
	e := newEstate(t)
	isCreate := func(o awssim.Outcome) bool { return o.Operation == "CreateVpc" }
	found := make(chan awssim.Outcome)
	go func() {
		o, err := e.server.AwaitCall(context.Background(), isCreate)
		if err != nil {
			t.Error(err)
		}
		found <- o
	}()
	if _, err := e.ec2().DescribeVpcs(t.Context(), &ec2.DescribeVpcsInput{}); err != nil {
		t.Fatal(err)
	}
	if _, err := createVPC(t.Context(), e.ec2()); err != nil {
		t.Fatal(err)
	}
	if o := <-found; o.Number != 2 || o.Principal != admin.ARN {
		t.Errorf("got %+v", o)
	}
	t.Run("a call that was", func(t *testing.T) {
		if o, err := e.server.AwaitCall(t.Context(), isCreate); err != nil || o.Number != 2 {
			t.Errorf("got %+v, %v", o, err)
		}
	})
	t.Run("a call that never comes", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := e.server.AwaitCall(ctx, func(o awssim.Outcome) bool { return o.Number > 2 && isCreate(o) }); err == nil {
			t.Error("it was found")
		}
	})
}

func TestTheCallLog(t *testing.T) {
	var log bytes.Buffer
	e := newEstate(t, awssim.WithCallLog(&log))
	if _, err := createVPC(t.Context(), e.ec2()); err != nil {
		t.Fatal(err)
	}
	_, err := e.ec2().DeleteVpc(t.Context(), &ec2.DeleteVpcInput{VpcId: aws.String("vpc-00000000000000000")})
	if codeOf(err) != "InvalidVpcID.NotFound" {
		t.Fatal(err)
	}
	e.close(t)
	var got []awssim.Outcome
	for lines := bufio.NewScanner(&log); lines.Scan(); {
		var o awssim.Outcome
		if err := json.Unmarshal(lines.Bytes(), &o); err != nil {
			t.Fatal(err)
		}
		got = append(got, o)
	}
	want := []awssim.Outcome{
		{Number: 1, At: e.clock.Now().UTC(), Region: "eu-central-1", Principal: admin.ARN, Service: "ec2", Operation: "CreateVpc"},
		{Number: 2, At: e.clock.Now().UTC(), Region: "eu-central-1", Principal: admin.ARN, Service: "ec2", Operation: "DeleteVpc", Code: "InvalidVpcID.NotFound"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
