package ekssim_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/krops-go/krops/internal/rehearsal/awssim/asgsim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/ekssim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/iamsim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

const (
	region  = "eu-north-1"
	account = "111122223333"
	creator = "arn:aws:iam::111122223333:user/krops"

	clusterRole = "arn:aws:iam::111122223333:role/cluster"
	nodeRole    = "arn:aws:iam::111122223333:role/nodes"
)

// env is an account with EKS and what it works with.
type env struct {
	t        *testing.T
	world    *world
	clusters *clusters
	network  *network
	iam      *iamsim.Service
	asg      *asgsim.Service
	eks      *ekssim.Service
}

func newEnv(t *testing.T) *env {
	e := &env{t: t, world: newWorld(), clusters: newClusters(), network: newNetwork()}
	e.boot()
	for role, principal := range map[string]string{"cluster": "eks.amazonaws.com", "nodes": "ec2.amazonaws.com"} {
		must[iam.CreateRoleOutput](e, e.iam, "CreateRole", &iam.CreateRoleInput{
			RoleName: aws.String(role),
			AssumeRolePolicyDocument: aws.String(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":["` +
				principal + `"]},"Action":["sts:AssumeRole"]}]}`),
		})
	}
	return e
}

func (e *env) boot() {
	e.iam = iamsim.New()
	e.asg = asgsim.New(e.network)
	e.eks = ekssim.New(e.clusters, e.network, e.iam, e.asg, ekssim.Timing{})
	e.world.services = []service.Service{e.iam, e.asg, e.eks}
}

// restart replaces the services by new ones with the same state. Work in the
// background is lost, as when the process ends.
func (e *env) restart() {
	e.t.Helper()
	old := e.world.services
	e.world.work = nil
	e.boot()
	for i, s := range e.world.services {
		data, err := json.Marshal(old[i].State())
		if err != nil {
			e.t.Fatalf("marshal the state of %s: %v", s.Name(), err)
		}
		if err := json.Unmarshal(data, s.State()); err != nil {
			e.t.Fatalf("unmarshal the state of %s: %v", s.Name(), err)
		}
	}
	e.eks.Resume(e.world)
}

type caller func(*service.Call)

// waiter makes the call look like one of an SDK waiter.
func waiter(c *service.Call) { c.Waiter = true }

// call invokes the operation as the front would.
func call[Out any](e *env, s service.Service, name string, in any, as ...caller) (*Out, error) {
	e.t.Helper()
	ops := s.Operations()
	i := slices.IndexFunc(ops, func(op service.Operation) bool { return op.Name == name })
	if i < 0 {
		e.t.Fatalf("%s has no operation %s", s.Name(), name)
	}
	v := reflect.ValueOf(in).Elem()
	for f := range v.NumField() {
		if field := v.Type().Field(f); field.IsExported() && !v.Field(f).IsZero() && !slices.Contains(ops[i].Fields, field.Name) {
			e.t.Fatalf("%s does not honour %s", name, field.Name)
		}
	}
	c := &service.Call{
		Context: context.Background(), Region: region, Account: account, World: e.world,
		Caller: service.Principal{ARN: creator, UserID: "AIDA", AccessKeyID: "AKIA"},
	}
	for _, change := range as {
		change(c)
	}
	e.world.settle()
	out, err := ops[i].Invoke(c, in)
	if err != nil {
		return nil, err
	}
	return out.(*Out), nil
}

func must[Out any](e *env, s service.Service, name string, in any, as ...caller) *Out {
	e.t.Helper()
	out, err := call[Out](e, s, name, in, as...)
	if err != nil {
		e.t.Fatalf("%s: %v", name, err)
	}
	return out
}

// refused asserts the code of the refusal.
func refused(t *testing.T, err error, code string) {
	t.Helper()
	var refusal *service.Error
	if !errors.As(err, &refusal) || refusal.Code != code {
		t.Fatalf("got %v, want a refusal with code %s", err, code)
	}
}

func clusterInput() *eks.CreateClusterInput {
	return &eks.CreateClusterInput{
		Name: aws.String("c1"), Version: aws.String("1.34"), RoleArn: aws.String(clusterRole),
		ResourcesVpcConfig: &types.VpcConfigRequest{SubnetIds: []string{"subnet-a", "subnet-b", "subnet-c"}, SecurityGroupIds: []string{"sg-extra"}},
		Tags:               map[string]string{"kubernetes.io/cluster/c1": "owned"},
		EncryptionConfig:   []types.EncryptionConfig{},
	}
}

func (e *env) createCluster(change ...func(*eks.CreateClusterInput)) *types.Cluster {
	e.t.Helper()
	in := clusterInput()
	for _, c := range change {
		c(in)
	}
	must[eks.CreateClusterOutput](e, e.eks, "CreateCluster", in)
	return e.awaitCluster()
}

func apiMode(in *eks.CreateClusterInput) {
	in.AccessConfig = &types.CreateAccessConfigRequest{AuthenticationMode: types.AuthenticationModeApi}
}

func describeInput() *eks.DescribeClusterInput {
	return &eks.DescribeClusterInput{Name: aws.String("c1")}
}

func (e *env) cluster() *types.Cluster {
	e.t.Helper()
	return must[eks.DescribeClusterOutput](e, e.eks, "DescribeCluster", describeInput()).Cluster
}

func (e *env) awaitCluster() *types.Cluster {
	e.t.Helper()
	return must[eks.DescribeClusterOutput](e, e.eks, "DescribeCluster", describeInput(), waiter).Cluster
}

func nodegroupInput(desired int32) *eks.CreateNodegroupInput {
	return &eks.CreateNodegroupInput{
		ClusterName: aws.String("c1"), NodegroupName: aws.String("pool"), NodeRole: aws.String(nodeRole),
		Subnets: []string{"subnet-a", "subnet-b", "subnet-c"}, AmiType: types.AMITypesAl2023X8664Standard,
		InstanceTypes: []string{"t3.medium"}, ScalingConfig: &types.NodegroupScalingConfig{DesiredSize: aws.Int32(desired)},
		Labels: map[string]string{"team": "blue"}, Tags: map[string]string{"kubernetes.io/cluster/c1": "owned"},
		Taints: []types.Taint{{Key: aws.String("only"), Effect: types.TaintEffectNoSchedule}},
	}
}

func (e *env) createNodegroup(desired int32) *types.Nodegroup {
	e.t.Helper()
	must[eks.CreateNodegroupOutput](e, e.eks, "CreateNodegroup", nodegroupInput(desired))
	return e.awaitNodegroup()
}

func describeNodegroupInput() *eks.DescribeNodegroupInput {
	return &eks.DescribeNodegroupInput{ClusterName: aws.String("c1"), NodegroupName: aws.String("pool")}
}

func (e *env) nodegroup() *types.Nodegroup {
	e.t.Helper()
	return must[eks.DescribeNodegroupOutput](e, e.eks, "DescribeNodegroup", describeNodegroupInput()).Nodegroup
}

func (e *env) awaitNodegroup() *types.Nodegroup {
	e.t.Helper()
	return must[eks.DescribeNodegroupOutput](e, e.eks, "DescribeNodegroup", describeNodegroupInput(), waiter).Nodegroup
}

// instances are the ids that the node group's Auto Scaling group shows.
func (e *env) instances() []string {
	e.t.Helper()
	out := must[autoscaling.DescribeAutoScalingGroupsOutput](e, e.asg, "DescribeAutoScalingGroups",
		&autoscaling.DescribeAutoScalingGroupsInput{AutoScalingGroupNames: []string{*e.nodegroup().Resources.AutoScalingGroups[0].Name}})
	var ids []string
	for _, i := range out.AutoScalingGroups[0].Instances {
		ids = append(ids, *i.InstanceId)
	}
	return ids
}

func (e *env) update(id *string, nodegroup *string) *types.Update {
	e.t.Helper()
	return must[eks.DescribeUpdateOutput](e, e.eks, "DescribeUpdate",
		&eks.DescribeUpdateInput{Name: aws.String("c1"), UpdateId: id, NodegroupName: nodegroup}).Update
}
