package ec2sim_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/krops-go/krops/internal/rehearsal/awssim/ec2sim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

const (
	accountID = "111122223333"
	home      = "eu-north-1"
)

// account drives EC2 the way the front does, on a clock that only moves when a
// test or a held call moves it.
type account struct {
	t      *testing.T
	clock  *clocktesting.FakeClock
	ids    int
	opts   ec2sim.Options
	ec2    *ec2sim.Service
	region string
	waiter bool // whether calls come from an SDK waiter
	held   int  // how many calls were held
}

func newAccount(t *testing.T, opts ec2sim.Options) *account {
	a := &account{
		t: t, clock: clocktesting.NewFakeClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)), opts: opts, region: home,
	}
	a.ec2 = ec2sim.New(accountID, a, opts)
	return a
}

func (a *account) Now() time.Time { return a.clock.Now() }

func (a *account) NewID(prefix string, n int) string {
	a.ids++
	return prefix + fmt.Sprintf("%0*x", n, a.ids)
}

func (a *account) Async(func(context.Context) error, func(error)) {
	a.t.Fatal("EC2 has no work of its own")
}

// Await lets the account's time pass until done.
func (a *account) Await(_ context.Context, _ time.Duration, done func() bool) bool {
	a.held++
	for !done() {
		next := a.ec2.Settle(a.clock.Now())
		if next.IsZero() {
			return false
		}
		a.clock.SetTime(next)
		a.ec2.Settle(next)
	}
	return true
}

func (a *account) pass(d time.Duration) {
	a.clock.Step(d)
	a.ec2.Settle(a.clock.Now())
}

// restart replaces the service by a new one with the state of the old.
func (a *account) restart() {
	a.t.Helper()
	saved, err := json.Marshal(a.ec2.State())
	if err != nil {
		a.t.Fatal(err)
	}
	a.ec2 = ec2sim.New(accountID, a, a.opts)
	if err := json.Unmarshal(saved, a.ec2.State()); err != nil {
		a.t.Fatal(err)
	}
}

// do makes the call that the input is for.
func (a *account) do(in any) (any, error) {
	a.t.Helper()
	input := reflect.ValueOf(in).Elem()
	name := strings.TrimSuffix(input.Type().Name(), "Input")
	operations := a.ec2.Operations()
	at := slices.IndexFunc(operations, func(o service.Operation) bool { return o.Name == name })
	if at < 0 {
		a.t.Fatalf("%s is not modelled", name)
	}
	for i := range input.NumField() {
		field := input.Type().Field(i)
		if field.IsExported() && !input.Field(i).IsZero() && !slices.Contains(operations[at].Fields, field.Name) {
			a.t.Fatalf("%s does not honour %s", name, field.Name)
		}
	}
	a.ec2.Settle(a.clock.Now())
	return operations[at].Invoke(&service.Call{
		Context: context.Background(), Region: a.region, Account: accountID, Waiter: a.waiter, World: a,
	}, in)
}

func must[Out any](a *account, in any) *Out {
	a.t.Helper()
	out, err := a.do(in)
	if err != nil {
		a.t.Fatalf("%T: %v", in, err)
	}
	return out.(*Out)
}

func (a *account) ok(in any) {
	a.t.Helper()
	if _, err := a.do(in); err != nil {
		a.t.Fatalf("%T: %v", in, err)
	}
}

func (a *account) refused(in any, code string) {
	a.t.Helper()
	_, err := a.do(in)
	wantCode(a.t, err, code)
}

func wantCode(t *testing.T, err error, code string) {
	t.Helper()
	var refusal *service.Error
	if !errors.As(err, &refusal) {
		t.Fatalf("got error %v, want %s", err, code)
	}
	if refusal.Code != code {
		t.Errorf("got %v, want %s", refusal, code)
	}
}

// objects lists what exists, as "kind id".
func (a *account) objects() []string {
	var list []string
	for _, o := range a.ec2.Objects() {
		list = append(list, o.Kind+" "+o.ID)
	}
	return list
}

func filter(name string, values ...string) types.Filter {
	return types.Filter{Name: aws.String(name), Values: values}
}

func named(typ types.ResourceType, name string) []types.TagSpecification {
	return []types.TagSpecification{{ResourceType: typ, Tags: []types.Tag{{Key: aws.String("Name"), Value: aws.String(name)}}}}
}

func (a *account) vpc(cidr string) string {
	a.t.Helper()
	return *must[ec2.CreateVpcOutput](a, &ec2.CreateVpcInput{CidrBlock: aws.String(cidr)}).Vpc.VpcId
}

func (a *account) subnet(vpc, zone, cidr string) string {
	a.t.Helper()
	return *must[ec2.CreateSubnetOutput](a, &ec2.CreateSubnetInput{
		VpcId: aws.String(vpc), AvailabilityZone: aws.String(zone), CidrBlock: aws.String(cidr),
	}).Subnet.SubnetId
}

func (a *account) gateway(vpc string) string {
	a.t.Helper()
	id := *must[ec2.CreateInternetGatewayOutput](a, &ec2.CreateInternetGatewayInput{}).InternetGateway.InternetGatewayId
	a.ok(&ec2.AttachInternetGatewayInput{InternetGatewayId: aws.String(id), VpcId: aws.String(vpc)})
	return id
}

func (a *account) address() string {
	a.t.Helper()
	return *must[ec2.AllocateAddressOutput](a, &ec2.AllocateAddressInput{}).AllocationId
}

func (a *account) nat(subnet, address string) string {
	a.t.Helper()
	return *must[ec2.CreateNatGatewayOutput](a, &ec2.CreateNatGatewayInput{
		SubnetId: aws.String(subnet), AllocationId: aws.String(address),
	}).NatGateway.NatGatewayId
}

func (a *account) natState(id string) types.NatGatewayState {
	a.t.Helper()
	out := must[ec2.DescribeNatGatewaysOutput](a, &ec2.DescribeNatGatewaysInput{Filter: []types.Filter{filter("nat-gateway-id", id)}})
	if len(out.NatGateways) == 0 {
		return ""
	}
	return out.NatGateways[0].State
}

func (a *account) table(vpc string) string {
	a.t.Helper()
	return *must[ec2.CreateRouteTableOutput](a, &ec2.CreateRouteTableInput{VpcId: aws.String(vpc)}).RouteTable.RouteTableId
}

func (a *account) group(vpc, name string) string {
	a.t.Helper()
	return *must[ec2.CreateSecurityGroupOutput](a, &ec2.CreateSecurityGroupInput{
		VpcId: aws.String(vpc), GroupName: aws.String(name), Description: aws.String(name),
	}).GroupId
}
