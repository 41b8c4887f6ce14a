package awssim_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// readyAfter is how long a tiny VPC is pending, in account time.
const readyAfter = time.Minute

// network is EC2 with nothing but VPCs.
type network struct {
	state struct{ VPCs map[string]*vpc }
	held  chan struct{} // receives whenever a describe call is about to be held
}

type vpc struct {
	ID, CIDR string
	ReadyAt  time.Time
	Ready    bool
}

func newNetwork() *network {
	n := &network{held: make(chan struct{}, 10)}
	n.state.VPCs = map[string]*vpc{}
	return n
}

func (n *network) Name() string { return "ec2" }
func (n *network) State() any   { return &n.state }

func (n *network) Settle(now time.Time) (next time.Time) {
	for _, v := range n.state.VPCs {
		if !v.Ready && !now.Before(v.ReadyAt) {
			v.Ready = true
		}
		if !v.Ready && (next.IsZero() || v.ReadyAt.Before(next)) {
			next = v.ReadyAt
		}
	}
	return next
}

func (n *network) Objects() (all []service.Object) {
	for _, id := range slices.Sorted(maps.Keys(n.state.VPCs)) {
		all = append(all, service.Object{Kind: "vpc", Region: "eu-central-1", ID: id})
	}
	return all
}

func (n *network) Operations() []service.Operation {
	return []service.Operation{
		service.Write("CreateVpc", n.create, "CidrBlock"),
		service.Write("DeleteVpc", n.delete, "VpcId"),
		service.Read("DescribeVpcs", n.describe, "VpcIds"),
	}
}

func (n *network) create(c *service.Call, in *ec2.CreateVpcInput) (*ec2.CreateVpcOutput, error) {
	if aws.ToString(in.CidrBlock) == "broken" {
		return nil, errors.New("the handler broke")
	}
	v := &vpc{ID: c.World.NewID("vpc-", 17), CIDR: aws.ToString(in.CidrBlock), ReadyAt: c.World.Now().Add(readyAfter)}
	n.state.VPCs[v.ID] = v
	return &ec2.CreateVpcOutput{Vpc: v.described()}, nil
}

func (n *network) delete(_ *service.Call, in *ec2.DeleteVpcInput) (*ec2.DeleteVpcOutput, error) {
	id := aws.ToString(in.VpcId)
	if n.state.VPCs[id] == nil {
		return nil, service.Refuse("InvalidVpcID.NotFound", "The vpc ID '%s' does not exist", id)
	}
	delete(n.state.VPCs, id)
	return &ec2.DeleteVpcOutput{}, nil
}

func (n *network) describe(c *service.Call, in *ec2.DescribeVpcsInput) (*ec2.DescribeVpcsOutput, error) {
	var all []ec2types.Vpc
	for _, id := range in.VpcIds {
		ready := func() bool { return n.state.VPCs[id] == nil || n.state.VPCs[id].Ready }
		if c.Waiter && !ready() {
			n.held <- struct{}{}
			c.Hold(ready)
		}
		if v := n.state.VPCs[id]; v != nil {
			all = append(all, *v.described())
		}
	}
	return &ec2.DescribeVpcsOutput{Vpcs: all}, nil
}

func (v *vpc) described() *ec2types.Vpc {
	state := ec2types.VpcStatePending
	if v.Ready {
		state = ec2types.VpcStateAvailable
	}
	return &ec2types.Vpc{VpcId: aws.String(v.ID), CidrBlock: aws.String(v.CIDR), State: state}
}

// clusters is EKS with clusters that start in the background, when started
// receives.
type clusters struct {
	state struct{ Clusters map[string]string } // status by name
	start chan error
	admin string // ARN of who may enter every cluster
}

func newClusters() *clusters {
	k := &clusters{start: make(chan error)}
	k.state.Clusters = map[string]string{}
	return k
}

func (k *clusters) Name() string               { return "eks" }
func (k *clusters) State() any                 { return &k.state }
func (k *clusters) Settle(time.Time) time.Time { return time.Time{} }
func (k *clusters) Objects() (all []service.Object) {
	for _, name := range slices.Sorted(maps.Keys(k.state.Clusters)) {
		all = append(all, service.Object{Kind: "cluster", Region: "eu-central-1", ID: name})
	}
	return all
}

func (k *clusters) Operations() []service.Operation {
	return []service.Operation{
		service.Write("CreateCluster", k.create, "Name", "RoleArn", "ResourcesVpcConfig", "ClientRequestToken"),
		service.Read("DescribeCluster", k.describe, "Name"),
		service.Write("TagResource", k.tag, "ResourceArn", "Tags"),
	}
}

func (k *clusters) Resume(w service.World) {
	for _, name := range slices.Sorted(maps.Keys(k.state.Clusters)) {
		if k.state.Clusters[name] == "CREATING" {
			k.bringUp(w, name)
		}
	}
}

func (k *clusters) bringUp(w service.World, name string) {
	w.Async(func(ctx context.Context) error {
		select {
		case err := <-k.start:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}, func(err error) {
		k.state.Clusters[name] = "ACTIVE"
		if err != nil {
			k.state.Clusters[name] = "FAILED"
		}
	})
}

func (k *clusters) create(c *service.Call, in *eks.CreateClusterInput) (*eks.CreateClusterOutput, error) {
	name := aws.ToString(in.Name)
	if _, ok := k.state.Clusters[name]; ok {
		return nil, service.RefuseStatus(409, "ResourceInUseException", "Cluster already exists with name: %s", name)
	}
	k.state.Clusters[name] = "CREATING"
	k.bringUp(c.World, name)
	return &eks.CreateClusterOutput{Cluster: &ekstypes.Cluster{Name: in.Name, Status: ekstypes.ClusterStatusCreating}}, nil
}

func (k *clusters) describe(c *service.Call, in *eks.DescribeClusterInput) (*eks.DescribeClusterOutput, error) {
	name := aws.ToString(in.Name)
	if c.Waiter {
		c.Hold(func() bool { return k.state.Clusters[name] != "CREATING" })
	}
	status, ok := k.state.Clusters[name]
	if !ok {
		return nil, service.RefuseStatus(404, "ResourceNotFoundException", "No cluster found for name: %s.", name)
	}
	return &eks.DescribeClusterOutput{Cluster: &ekstypes.Cluster{Name: in.Name, Status: ekstypes.ClusterStatus(status)}}, nil
}

func (k *clusters) tag(_ *service.Call, in *eks.TagResourceInput) (*eks.TagResourceOutput, error) {
	if want := "arn:aws:eks:eu-central-1:111122223333:cluster/one"; aws.ToString(in.ResourceArn) != want {
		return nil, service.Refuse("BadRequestException", "%s", aws.ToString(in.ResourceArn))
	}
	return &eks.TagResourceOutput{}, nil
}

func (k *clusters) MapPrincipal(_, cluster string, p service.Principal) (string, []string, bool) {
	if _, ok := k.state.Clusters[cluster]; !ok || p.ARN != k.admin {
		return "", nil, false
	}
	return "admin", []string{"system:masters"}, true
}

// identity is STS.
type identity struct{}

func (identity) Name() string               { return "sts" }
func (identity) State() any                 { return &struct{}{} }
func (identity) Settle(time.Time) time.Time { return time.Time{} }
func (identity) Objects() []service.Object  { return nil }
func (identity) Operations() []service.Operation {
	return []service.Operation{service.Read("GetCallerIdentity", func(c *service.Call, _ *sts.GetCallerIdentityInput) (*sts.GetCallerIdentityOutput, error) {
		return &sts.GetCallerIdentityOutput{Account: &c.Account, Arn: &c.Caller.ARN, UserId: &c.Caller.UserID}, nil
	})}
}

// roles is IAM with one role.
type roles struct{}

func (roles) Name() string               { return "iam" }
func (roles) State() any                 { return &struct{}{} }
func (roles) Settle(time.Time) time.Time { return time.Time{} }
func (roles) Objects() []service.Object  { return nil }
func (roles) Operations() []service.Operation {
	return []service.Operation{service.Read("GetRole", func(_ *service.Call, in *iam.GetRoleInput) (*iam.GetRoleOutput, error) {
		if *in.RoleName != "known" {
			return nil, service.RefuseStatus(404, "NoSuchEntity", "The role with name %s cannot be found.", *in.RoleName)
		}
		return &iam.GetRoleOutput{Role: &iamtypes.Role{RoleName: in.RoleName}}, nil
	}, "RoleName")}
}
