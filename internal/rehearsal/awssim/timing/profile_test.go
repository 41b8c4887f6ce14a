package timing_test

import (
	"context"
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

	"github.com/krops-go/krops/internal/rehearsal/awssim/ec2sim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
	"github.com/krops-go/krops/internal/rehearsal/awssim/timing"
)

func TestTheRealProfileLeavesNothingToDefaults(t *testing.T) {
	profile := reflect.ValueOf(timing.Real())
	for i := range profile.NumField() {
		of := profile.Field(i)
		for n := range of.NumField() {
			if d := of.Field(n).Interface().(time.Duration); d < time.Second {
				t.Errorf("%s.%s is %s", profile.Type().Field(i).Name, of.Type().Field(n).Name, d)
			}
		}
	}
}

// world is one whose time a test sets.
type world struct {
	now time.Time
	ids int
}

func (w *world) Now() time.Time { return w.now }
func (w *world) NewID(prefix string, n int) string {
	w.ids++
	return prefix + fmt.Sprintf("%0*x", n, w.ids)
}
func (w *world) Async(func(context.Context) error, func(error)) {}
func (w *world) Await(_ context.Context, _ time.Duration, done func() bool) bool {
	return done()
}

func TestANATGatewayTakesItsTime(t *testing.T) {
	for name, profile := range map[string]timing.Profile{"real": timing.Real(), "fast": timing.Fast()} {
		t.Run(name, func(t *testing.T) {
			w := &world{now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
			network := ec2sim.New("111122223333", w, ec2sim.Options{Timing: profile.EC2})
			do := func(in any) any {
				t.Helper()
				operation := strings.TrimSuffix(reflect.TypeOf(in).Elem().Name(), "Input")
				operations := network.Operations()
				at := slices.IndexFunc(operations, func(o service.Operation) bool { return o.Name == operation })
				out, err := operations[at].Invoke(&service.Call{Context: t.Context(), Region: "eu-north-1", World: w}, in)
				if err != nil {
					t.Fatal(errors.Join(errors.New(operation), err))
				}
				return out
			}
			vpc := do(&ec2.CreateVpcInput{CidrBlock: aws.String("10.0.0.0/16")}).(*ec2.CreateVpcOutput).Vpc.VpcId
			subnet := do(&ec2.CreateSubnetInput{VpcId: vpc, CidrBlock: aws.String("10.0.0.0/24")}).(*ec2.CreateSubnetOutput).Subnet.SubnetId
			gateway := do(&ec2.CreateInternetGatewayInput{}).(*ec2.CreateInternetGatewayOutput).InternetGateway.InternetGatewayId
			do(&ec2.AttachInternetGatewayInput{InternetGatewayId: gateway, VpcId: vpc})
			address := do(&ec2.AllocateAddressInput{}).(*ec2.AllocateAddressOutput).AllocationId
			nat := do(&ec2.CreateNatGatewayInput{SubnetId: subnet, AllocationId: address}).(*ec2.CreateNatGatewayOutput).NatGateway.NatGatewayId
			state := func(after time.Duration) types.NatGatewayState {
				w.now = w.now.Add(after)
				network.Settle(w.now)
				return do(&ec2.DescribeNatGatewaysInput{NatGatewayIds: []string{*nat}}).(*ec2.DescribeNatGatewaysOutput).NatGateways[0].State
			}
			if got := state(0); got != types.NatGatewayStatePending {
				t.Errorf("at once it is %s", got)
			}
			early, late := time.Minute, 30*time.Second
			if name == "fast" {
				early, late = 100*time.Millisecond, 400*time.Millisecond
			}
			if got := state(early); got != types.NatGatewayStatePending {
				t.Errorf("after %s it is %s", early, got)
			}
			if got := state(late); got != types.NatGatewayStateAvailable {
				t.Errorf("after %s more it is %s", late, got)
			}
		})
	}
}
