package ekssim_test

import (
	"context"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/krops-go/krops/internal/rehearsal/awssim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/asgsim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/ec2sim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/ekssim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/iamsim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// waits are far below the 30 s that an SDK waiter sleeps when it is given an
// answer that is not final.
const waits = 25 * time.Second

// serveAccount runs the whole account with the state in file, and returns how
// clients reach it and how it ends.
func serveAccount(t *testing.T, file string, c ekssim.Clusters) (aws.Config, func()) {
	t.Helper()
	server, err := awssim.New(
		awssim.WithAccount(account), awssim.WithStateFile(file),
		awssim.WithCredentials(awssim.Credential{AccessKeyID: "AKIA", SecretAccessKey: "secret", ARN: creator, UserID: "AIDA"}),
		awssim.WithServicesOf(func(w service.World) []service.Service {
			network, roles := ec2sim.New(account, w, ec2sim.Options{}), iamsim.New()
			groups := asgsim.New(network)
			return []service.Service{network, roles, groups, ekssim.New(c, network, roles, groups, ekssim.Timing{})}
		}),
	)
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(server)
	end := func() {
		if err := server.Close(context.Background()); err != nil {
			t.Error(err)
		}
		front.Close()
	}
	return aws.Config{
		Region: region, BaseEndpoint: aws.String(front.URL),
		Credentials: credentials.NewStaticCredentialsProvider("AKIA", "secret", ""),
	}, end
}

// TestWholeLifeThroughTheSDK lets real clients and waiters work with EKS on
// the simulated EC2 and IAM, with the process replaced in between.
func TestWholeLifeThroughTheSDK(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), waits)
	defer cancel()
	file := filepath.Join(t.TempDir(), "account.json")
	running := newClusters()
	config, end := serveAccount(t, file, running)
	vpc, subnets := makeNetwork(ctx, t, ec2.NewFromConfig(config))
	roles := iam.NewFromConfig(config)
	for role, principal := range map[string]string{"cluster": "eks.amazonaws.com", "nodes": "ec2.amazonaws.com"} {
		_, err := roles.CreateRole(ctx, &iam.CreateRoleInput{
			RoleName:                 aws.String(role),
			AssumeRolePolicyDocument: aws.String(`{"Statement":[{"Effect":"Allow","Principal":{"Service":"` + principal + `"},"Action":"sts:AssumeRole"}]}`),
		})
		if err != nil {
			t.Fatal(err)
		}
	}

	client := eks.NewFromConfig(config)
	if _, err := client.CreateCluster(ctx, &eks.CreateClusterInput{
		Name: aws.String("c1"), Version: aws.String("1.34"), RoleArn: aws.String(clusterRole),
		ResourcesVpcConfig: &types.VpcConfigRequest{SubnetIds: subnets}, EncryptionConfig: []types.EncryptionConfig{},
	}); err != nil {
		t.Fatal(err)
	}
	cl, err := eks.NewClusterActiveWaiter(client).WaitForOutput(ctx, describeInput(), waits)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.UpdateClusterVersion(ctx, &eks.UpdateClusterVersionInput{Name: aws.String("c1"), Version: aws.String("1.35")}); err != nil {
		t.Fatal(err)
	}
	// Cluster API waits for the update to begin before it waits for its end.
	begun := eks.NewClusterActiveWaiter(client, func(o *eks.ClusterActiveWaiterOptions) {
		o.Retryable = func(_ context.Context, _ *eks.DescribeClusterInput, out *eks.DescribeClusterOutput, err error) (bool, error) {
			return err == nil && out.Cluster.Status != types.ClusterStatusUpdating, err
		}
	})
	if err := begun.Wait(ctx, describeInput(), waits); err != nil {
		t.Fatal(err)
	}
	updated, err := eks.NewClusterActiveWaiter(client).WaitForOutput(ctx, describeInput(), waits)
	if err != nil {
		t.Fatal(err)
	}
	if got := *updated.Cluster.Version; got != "1.35" {
		t.Errorf("the version is %s", got)
	}
	in := nodegroupInput(2)
	in.Subnets = subnets
	if _, err := client.CreateNodegroup(ctx, in); err != nil {
		t.Fatal(err)
	}
	ng, err := eks.NewNodegroupActiveWaiter(client).WaitForOutput(ctx, describeNodegroupInput(), waits)
	if err != nil {
		t.Fatal(err)
	}

	end()
	config, end = serveAccount(t, file, running)
	defer end()
	client, network := eks.NewFromConfig(config), ec2.NewFromConfig(config)
	again, err := client.DescribeCluster(ctx, describeInput())
	if err != nil {
		t.Fatal(err)
	}
	if *again.Cluster.Endpoint == *cl.Cluster.Endpoint {
		t.Error("the endpoint is still the old process's")
	}
	groups, err := autoscaling.NewFromConfig(config).DescribeAutoScalingGroups(ctx, &autoscaling.DescribeAutoScalingGroupsInput{
		AutoScalingGroupNames: []string{*ng.Nodegroup.Resources.AutoScalingGroups[0].Name},
	})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(groups.AutoScalingGroups[0].Instances); n != 2 {
		t.Errorf("the group has %d instances", n)
	}
	if _, err := network.DeleteSubnet(ctx, &ec2.DeleteSubnetInput{SubnetId: aws.String(subnets[0])}); err == nil {
		t.Error("a subnet went from under the cluster")
	}

	if _, err := client.DeleteNodegroup(ctx, &eks.DeleteNodegroupInput{ClusterName: aws.String("c1"), NodegroupName: aws.String("pool")}); err != nil {
		t.Fatal(err)
	}
	if err := eks.NewNodegroupDeletedWaiter(client).Wait(ctx, describeNodegroupInput(), waits); err != nil {
		t.Fatal(err)
	}
	if _, err := client.DeleteCluster(ctx, &eks.DeleteClusterInput{Name: aws.String("c1")}); err != nil {
		t.Fatal(err)
	}
	if err := eks.NewClusterDeletedWaiter(client).Wait(ctx, describeInput(), waits); err != nil {
		t.Fatal(err)
	}
	for _, id := range subnets {
		if _, err := network.DeleteSubnet(ctx, &ec2.DeleteSubnetInput{SubnetId: aws.String(id)}); err != nil {
			t.Error(err)
		}
	}
	if _, err := network.DeleteVpc(ctx, &ec2.DeleteVpcInput{VpcId: aws.String(vpc)}); err != nil {
		t.Error(err)
	}
	for _, role := range []string{"cluster", "nodes"} {
		if _, err := iam.NewFromConfig(config).DeleteRole(ctx, &iam.DeleteRoleInput{RoleName: aws.String(role)}); err != nil {
			t.Error(err)
		}
	}
}

func makeNetwork(ctx context.Context, t *testing.T, client *ec2.Client) (vpc string, subnets []string) {
	t.Helper()
	made, err := client.CreateVpc(ctx, &ec2.CreateVpcInput{CidrBlock: aws.String("10.0.0.0/16")})
	if err != nil {
		t.Fatal(err)
	}
	vpc = *made.Vpc.VpcId
	zones, err := client.DescribeAvailabilityZones(ctx, &ec2.DescribeAvailabilityZonesInput{
		Filters: []ec2types.Filter{{Name: aws.String("opt-in-status"), Values: []string{"opt-in-not-required"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, cidr := range []string{"10.0.0.0/20", "10.0.16.0/20"} {
		subnet, err := client.CreateSubnet(ctx, &ec2.CreateSubnetInput{
			VpcId: aws.String(vpc), CidrBlock: aws.String(cidr), AvailabilityZone: zones.AvailabilityZones[i].ZoneName,
		})
		if err != nil {
			t.Fatal(err)
		}
		subnets = append(subnets, *subnet.Subnet.SubnetId)
	}
	return vpc, subnets
}
