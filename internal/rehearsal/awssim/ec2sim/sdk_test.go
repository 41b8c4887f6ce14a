package ec2sim_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	classic "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	v2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	tagging "github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi"
	taggingtypes "github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi/types"
	"github.com/aws/smithy-go"

	"github.com/krops-go/krops/internal/rehearsal/awssim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/ec2sim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/elbsim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
	"github.com/krops-go/krops/internal/rehearsal/awssim/taggingsim"
)

// serve puts EC2 and what searches it behind the front and returns how the SDK
// reaches it.
func serve(t *testing.T) (aws.Config, *awssim.Server) {
	t.Helper()
	soon := 20 * time.Millisecond
	opts := ec2sim.Options{Timing: ec2sim.Timing{VPC: soon, Subnet: soon, NATCreate: soon, NATDelete: soon, Instance: soon}}
	cred := awssim.Credential{AccessKeyID: "AKIAEXAMPLE", SecretAccessKey: "secret", ARN: "arn:aws:iam::" + accountID + ":user/admin", UserID: "AIDAEXAMPLE"}
	server, err := awssim.New(awssim.WithAccount(accountID), awssim.WithCredentials(cred),
		awssim.WithServicesOf(func(w service.World) []service.Service {
			network := ec2sim.New(accountID, w, opts)
			return []service.Service{network, elbsim.NewClassic(), elbsim.NewV2(), taggingsim.New(network)}
		}))
	if err != nil {
		t.Fatal(err)
	}
	listener := httptest.NewServer(server)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := server.Close(ctx); err != nil {
			t.Error(err)
		}
		listener.Close()
	})
	return aws.Config{
		Region: home, BaseEndpoint: aws.String(listener.URL),
		Retryer: func() aws.Retryer { return aws.NopRetryer{} },
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: cred.AccessKeyID, SecretAccessKey: cred.SecretAccessKey}, nil
		}),
	}, server
}

// answer ends the test unless the call succeeded.
func answer[Out any](t *testing.T) func(*Out, error) *Out {
	return func(out *Out, err error) *Out {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
}

func wantAPIError(t *testing.T, err error, code string) {
	t.Helper()
	var refusal smithy.APIError
	if !errors.As(err, &refusal) || refusal.ErrorCode() != code {
		t.Errorf("got %v, want %s", err, code)
	}
}

// firstPoll is shorter than any SDK waiter sleeps after its first poll: a
// waiter that is not answered finally at once fails.
const firstPoll = 10 * time.Second

// TestThroughSDK builds and removes a small network with the SDK's clients and
// waiters.
func TestThroughSDK(t *testing.T) {
	config, server := serve(t)
	client, ctx := ec2.NewFromConfig(config), t.Context()
	vpc := answer[ec2.CreateVpcOutput](t)(client.CreateVpc(ctx, &ec2.CreateVpcInput{
		CidrBlock: aws.String("10.0.0.0/16"), TagSpecifications: named(types.ResourceTypeVpc, "c-vpc"),
	})).Vpc
	if len(vpc.Tags) != 1 || *vpc.Tags[0].Value != "c-vpc" {
		t.Errorf("CreateVpc answered tags %v", vpc.Tags)
	}
	subnet := answer[ec2.CreateSubnetOutput](t)(client.CreateSubnet(ctx, &ec2.CreateSubnetInput{
		VpcId: vpc.VpcId, CidrBlock: aws.String("10.0.0.0/20"), AvailabilityZone: aws.String(home + "a"),
	})).Subnet
	if err := ec2.NewSubnetAvailableWaiter(client).Wait(ctx, &ec2.DescribeSubnetsInput{SubnetIds: []string{*subnet.SubnetId}}, firstPoll); err != nil {
		t.Fatal(err)
	}
	gateway := answer[ec2.CreateInternetGatewayOutput](t)(client.CreateInternetGateway(ctx, &ec2.CreateInternetGatewayInput{})).InternetGateway
	answer[ec2.AttachInternetGatewayOutput](t)(client.AttachInternetGateway(ctx, &ec2.AttachInternetGatewayInput{
		InternetGatewayId: gateway.InternetGatewayId, VpcId: vpc.VpcId,
	}))
	address := answer[ec2.AllocateAddressOutput](t)(client.AllocateAddress(ctx, &ec2.AllocateAddressInput{Domain: types.DomainTypeVpc}))
	nat := answer[ec2.CreateNatGatewayOutput](t)(client.CreateNatGateway(ctx, &ec2.CreateNatGatewayInput{
		SubnetId: subnet.SubnetId, AllocationId: address.AllocationId, TagSpecifications: named(types.ResourceTypeNatgateway, "c-nat"),
	})).NatGateway
	byID := &ec2.DescribeNatGatewaysInput{NatGatewayIds: []string{*nat.NatGatewayId}}
	if err := ec2.NewNatGatewayAvailableWaiter(client).Wait(ctx, byID, firstPoll); err != nil {
		t.Fatal(err)
	}

	search := &tagging.GetResourcesInput{
		TagFilters:          []taggingtypes.TagFilter{{Key: aws.String("Name"), Values: []string{"c-nat"}}},
		ResourceTypeFilters: []string{"ec2:natgateway"},
	}
	found := answer[tagging.GetResourcesOutput](t)(tagging.NewFromConfig(config).GetResources(ctx, search)).ResourceTagMappingList
	if len(found) != 1 || *found[0].ResourceARN != "arn:aws:ec2:eu-north-1:111122223333:natgateway/"+*nat.NatGatewayId {
		t.Errorf("the search by tag found %v", found)
	}
	answer[classic.DescribeLoadBalancersOutput](t)(classic.NewFromConfig(config).DescribeLoadBalancers(ctx, &classic.DescribeLoadBalancersInput{}))
	_, err := v2.NewFromConfig(config).DescribeLoadBalancers(ctx, &v2.DescribeLoadBalancersInput{Names: []string{"x"}})
	wantAPIError(t, err, "LoadBalancerNotFound")

	detach := &ec2.DetachInternetGatewayInput{InternetGatewayId: gateway.InternetGatewayId, VpcId: vpc.VpcId}
	_, err = client.DetachInternetGateway(ctx, detach)
	wantAPIError(t, err, "DependencyViolation")
	answer[ec2.DeleteNatGatewayOutput](t)(client.DeleteNatGateway(ctx, &ec2.DeleteNatGatewayInput{NatGatewayId: nat.NatGatewayId}))
	if gone := answer[ec2.DescribeNatGatewaysOutput](t)(client.DescribeNatGateways(ctx, byID)).NatGateways[0]; gone.State != types.NatGatewayStateDeleted {
		t.Errorf("the NAT gateway is %s when asked for by id, want deleted", gone.State)
	}
	if found := answer[tagging.GetResourcesOutput](t)(tagging.NewFromConfig(config).GetResources(ctx, search)).ResourceTagMappingList; len(found) > 0 {
		t.Errorf("the search by tag still finds %v", found)
	}
	answer[ec2.ReleaseAddressOutput](t)(client.ReleaseAddress(ctx, &ec2.ReleaseAddressInput{AllocationId: address.AllocationId}))
	answer[ec2.DetachInternetGatewayOutput](t)(client.DetachInternetGateway(ctx, detach))
	answer[ec2.DeleteInternetGatewayOutput](t)(client.DeleteInternetGateway(ctx, &ec2.DeleteInternetGatewayInput{InternetGatewayId: gateway.InternetGatewayId}))
	answer[ec2.DeleteSubnetOutput](t)(client.DeleteSubnet(ctx, &ec2.DeleteSubnetInput{SubnetId: subnet.SubnetId}))
	answer[ec2.DeleteVpcOutput](t)(client.DeleteVpc(ctx, &ec2.DeleteVpcInput{VpcId: vpc.VpcId}))
	if left := server.Report().Existing; len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}
