package asgsim_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/google/go-cmp/cmp"

	"github.com/krops-go/krops/internal/rehearsal/awssim/asgsim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/ec2sim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

const region = "eu-north-1"

type world struct{ ids int }

func (w *world) Now() time.Time { return time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC) }
func (w *world) NewID(prefix string, n int) string {
	w.ids++
	return prefix + fmt.Sprintf("%0*x", n, w.ids)
}
func (w *world) Async(func(context.Context) error, func(error)) {}
func (w *world) Await(_ context.Context, _ time.Duration, done func() bool) bool {
	return done()
}

// network runs instances in subnets that are named after their zones.
type network struct {
	running map[string]map[string]string // tags by instance id
	made    int
	broken  bool
}

var errBroken = errors.New("broken")

func (n *network) LaunchOwned(_, subnet, kind string, _ []string, tags map[string]string) (ec2sim.Instance, error) {
	if n.broken {
		return ec2sim.Instance{}, errBroken
	}
	n.made++
	id := fmt.Sprintf("i-%d", n.made)
	n.running[id] = tags
	return ec2sim.Instance{ID: id, Zone: subnet, Type: kind}, nil
}

func (n *network) TerminateOwned(_, id string) error {
	if n.broken {
		return errBroken
	}
	delete(n.running, id)
	return nil
}

type env struct {
	t       *testing.T
	network *network
	asg     *asgsim.Service
}

func newEnv(t *testing.T) *env {
	e := &env{t: t, network: &network{running: map[string]map[string]string{}}}
	e.asg = asgsim.New(e.network)
	for _, name := range []string{"g1", "g2"} {
		err := e.asg.Create(&world{}, asgsim.Spec{
			Region: region, Account: "111122223333", Name: name, Size: asgsim.Size{Min: 0, Max: 9, Desired: 0}, InstanceType: "t3.medium",
			Subnets: []ec2sim.Subnet{{ID: "a", Zone: "a"}, {ID: "b", Zone: "b"}, {ID: "c", Zone: "c"}}, Tags: map[string]string{"owner": name},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return e
}

func call[Out any](e *env, name string, in any) (*Out, error) {
	e.t.Helper()
	ops := e.asg.Operations()
	i := slices.IndexFunc(ops, func(op service.Operation) bool { return op.Name == name })
	out, err := ops[i].Invoke(&service.Call{Context: context.Background(), Region: region, World: &world{}}, in)
	if err != nil {
		return nil, err
	}
	return out.(*Out), nil
}

func must[Out any](e *env, name string, in any) *Out {
	e.t.Helper()
	out, err := call[Out](e, name, in)
	if err != nil {
		e.t.Fatalf("%s: %v", name, err)
	}
	return out
}

func (e *env) zones(name string) map[string]int {
	e.t.Helper()
	instances, ok := e.asg.Instances(region, name)
	if !ok {
		e.t.Fatalf("no group %s", name)
	}
	out := map[string]int{}
	for _, i := range instances {
		out[i.Zone]++
	}
	return out
}

func TestInstancesStaySpreadOverZones(t *testing.T) {
	e := newEnv(t)
	if err := e.asg.Launch(region, "g1", 5); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]int{"a": 2, "b": 2, "c": 1}, e.zones("g1")); diff != "" {
		t.Error(diff)
	}
	surplus := e.asg.Surplus(region, "g1", 2)
	if !slices.Equal(surplus, []string{"i-1", "i-2"}) {
		t.Errorf("the surplus is %v", surplus)
	}
	if err := e.asg.Terminate(region, "g1", surplus); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]int{"a": 1, "b": 1, "c": 1}, e.zones("g1")); diff != "" {
		t.Error(diff)
	}
	if got := slices.Sorted(maps.Keys(e.network.running)); !slices.Equal(got, []string{"i-3", "i-4", "i-5"}) {
		t.Errorf("running are %v", got)
	}
	for id, tags := range e.network.running {
		if diff := cmp.Diff(map[string]string{"owner": "g1", "aws:autoscaling:groupName": "g1"}, tags); diff != "" {
			t.Errorf("%s: %s", id, diff)
		}
	}
	if err := e.asg.Delete(region, "g1"); err != nil {
		t.Fatal(err)
	}
	if len(e.network.running) != 0 || len(e.asg.Objects()) != 1 {
		t.Errorf("left instances %v and %v", e.network.running, e.asg.Objects())
	}
	if err := e.asg.Delete(region, "g1"); err != nil {
		t.Errorf("deleting what is gone: %v", err)
	}
}

func TestFailuresKeepWhatIsThere(t *testing.T) {
	e := newEnv(t)
	if err := e.asg.Launch(region, "g1", 1); err != nil {
		t.Fatal(err)
	}
	e.network.broken = true
	for what, err := range map[string]error{
		"launch":    e.asg.Launch(region, "g1", 1),
		"terminate": e.asg.Terminate(region, "g1", []string{"i-1"}),
		"delete":    e.asg.Delete(region, "g1"),
	} {
		if !errors.Is(err, errBroken) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if instances, ok := e.asg.Instances(region, "g1"); !ok || len(instances) != 1 {
		t.Errorf("the group has %v", instances)
	}
	if err := e.asg.Launch(region, "none", 1); err == nil {
		t.Error("an unknown group launched")
	}
}

func TestDescribeGroups(t *testing.T) {
	e := newEnv(t)
	if err := e.asg.SetSize(region, "g1", asgsim.Size{Min: 1, Max: 3, Desired: 2}); err != nil {
		t.Fatal(err)
	}
	if err := e.asg.Launch(region, "g1", 2); err != nil {
		t.Fatal(err)
	}
	names := func(in *autoscaling.DescribeAutoScalingGroupsInput) (out []string) {
		for _, g := range must[autoscaling.DescribeAutoScalingGroupsOutput](e, "DescribeAutoScalingGroups", in).AutoScalingGroups {
			out = append(out, *g.AutoScalingGroupName)
		}
		return out
	}
	filter := func(name string, values ...string) []types.Filter {
		return []types.Filter{{Name: aws.String(name), Values: values}}
	}
	for _, tc := range []struct {
		in   autoscaling.DescribeAutoScalingGroupsInput
		want []string
	}{
		{autoscaling.DescribeAutoScalingGroupsInput{}, []string{"g1", "g2"}},
		{autoscaling.DescribeAutoScalingGroupsInput{AutoScalingGroupNames: []string{"none", "g2"}}, []string{"g2"}},
		{autoscaling.DescribeAutoScalingGroupsInput{AutoScalingGroupNames: []string{"none"}}, nil},
		{autoscaling.DescribeAutoScalingGroupsInput{Filters: filter("tag:owner", "g1")}, []string{"g1"}},
		{autoscaling.DescribeAutoScalingGroupsInput{Filters: filter("tag-key", "owner")}, []string{"g1", "g2"}},
		{autoscaling.DescribeAutoScalingGroupsInput{Filters: filter("tag-value", "g2")}, []string{"g2"}},
		{autoscaling.DescribeAutoScalingGroupsInput{Filters: filter("tag:owner")}, nil},
		{autoscaling.DescribeAutoScalingGroupsInput{MaxRecords: aws.Int32(1)}, []string{"g1"}},
		{autoscaling.DescribeAutoScalingGroupsInput{NextToken: aws.String("g1")}, []string{"g2"}},
	} {
		if diff := cmp.Diff(tc.want, names(&tc.in)); diff != "" {
			t.Errorf("%+v: %s", tc.in, diff)
		}
	}
	g := must[autoscaling.DescribeAutoScalingGroupsOutput](e, "DescribeAutoScalingGroups", &autoscaling.DescribeAutoScalingGroupsInput{}).AutoScalingGroups[0]
	if *g.MinSize != 1 || *g.MaxSize != 3 || *g.DesiredCapacity != 2 || len(g.Instances) != 2 || *g.VPCZoneIdentifier != "a,b,c" {
		t.Errorf("it is %+v", g)
	}
	if i := g.Instances[0]; *i.InstanceId != "i-1" || *i.AvailabilityZone != "a" || i.LifecycleState != types.LifecycleStateInService {
		t.Errorf("its first instance is %+v", i)
	}
	_, err := call[autoscaling.DescribeAutoScalingGroupsOutput](e, "DescribeAutoScalingGroups",
		&autoscaling.DescribeAutoScalingGroupsInput{AutoScalingGroupNames: []string{"none"}, Filters: filter("colour", "red")})
	refused(t, err, "ValidationError")
}

func refused(t *testing.T, err error, code string) {
	t.Helper()
	var refusal *service.Error
	if !errors.As(err, &refusal) || refusal.Code != code {
		t.Fatalf("got %v, want a refusal with code %s", err, code)
	}
}

func TestTags(t *testing.T) {
	e := newEnv(t)
	asked := func(group, key, value string) []types.Tag {
		return []types.Tag{{
			ResourceId: aws.String(group), ResourceType: aws.String("auto-scaling-group"), Key: aws.String(key), Value: aws.String(value), PropagateAtLaunch: aws.Bool(true),
		}}
	}
	must[autoscaling.CreateOrUpdateTagsOutput](e, "CreateOrUpdateTags", &autoscaling.CreateOrUpdateTagsInput{Tags: asked("g1", "team", "blue")})
	must[autoscaling.DeleteTagsOutput](e, "DeleteTags", &autoscaling.DeleteTagsInput{Tags: asked("g1", "owner", "")})
	list := func(filters ...types.Filter) (out []string) {
		for _, t := range must[autoscaling.DescribeTagsOutput](e, "DescribeTags", &autoscaling.DescribeTagsInput{Filters: filters}).Tags {
			out = append(out, *t.ResourceId+" "+*t.Key+"="+*t.Value)
		}
		return out
	}
	if diff := cmp.Diff([]string{"g1 team=blue", "g2 owner=g2"}, list()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"g1 team=blue"}, list(types.Filter{Name: aws.String("auto-scaling-group"), Values: []string{"g1"}})); diff != "" {
		t.Error(diff)
	}
	_, err := call[autoscaling.DescribeTagsOutput](e, "DescribeTags", &autoscaling.DescribeTagsInput{Filters: []types.Filter{{Name: aws.String("colour")}}})
	refused(t, err, "ValidationError")
	_, err = call[autoscaling.CreateOrUpdateTagsOutput](e, "CreateOrUpdateTags", &autoscaling.CreateOrUpdateTagsInput{Tags: append(asked("g2", "x", "y"), asked("none", "x", "y")...)})
	refused(t, err, "ValidationError")
	if got := list(types.Filter{Name: aws.String("key"), Values: []string{"x"}}); len(got) != 0 {
		t.Errorf("a refused request set %v", got)
	}
	if got := e.asg.TaggedResources(region); len(got) != 2 || got[0].Tags["team"] != "blue" {
		t.Errorf("tagged resources are %v", got)
	}
}

func TestStateOutlivesTheProcess(t *testing.T) {
	e := newEnv(t)
	if err := e.asg.Launch(region, "g1", 2); err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(e.asg.State())
	if err != nil {
		t.Fatal(err)
	}
	e.asg = asgsim.New(e.network)
	if err := json.Unmarshal(data, e.asg.State()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]int{"a": 1, "b": 1}, e.zones("g1")); diff != "" {
		t.Error(diff)
	}
}
