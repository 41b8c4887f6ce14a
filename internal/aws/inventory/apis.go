package inventory

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/iam"
)

// APIs are the read calls that an inventory makes. The SDK's clients have
// them; they are expected to retry throttling by themselves.
type APIs struct {
	IAM IAM
	// Region returns the services of one region.
	Region func(region string) Regional
}

// Regional are the services of one region.
type Regional struct {
	EC2         EC2
	EKS         EKS
	AutoScaling AutoScaling
	ELB         ELB
	ELBV2       ELBV2
}

// FromConfig makes the SDK's clients for every region with the credentials,
// endpoint and retries of one configuration.
func FromConfig(cfg aws.Config) APIs {
	return APIs{
		IAM: iam.NewFromConfig(cfg),
		Region: func(region string) Regional {
			regional := cfg.Copy()
			regional.Region = region
			return Regional{
				EC2:         ec2.NewFromConfig(regional),
				EKS:         eks.NewFromConfig(regional),
				AutoScaling: autoscaling.NewFromConfig(regional),
				ELB:         elb.NewFromConfig(regional),
				ELBV2:       elbv2.NewFromConfig(regional),
			}
		},
	}
}

// IAM is what an inventory reads of IAM.
type IAM interface {
	iam.ListRolesAPIClient
	iam.GetRoleAPIClient
	ListOpenIDConnectProviders(context.Context, *iam.ListOpenIDConnectProvidersInput, ...func(*iam.Options)) (*iam.ListOpenIDConnectProvidersOutput, error)
	GetOpenIDConnectProvider(context.Context, *iam.GetOpenIDConnectProviderInput, ...func(*iam.Options)) (*iam.GetOpenIDConnectProviderOutput, error)
}

// EC2 is what an inventory reads of EC2.
type EC2 interface {
	ec2.DescribeInstancesAPIClient
	ec2.DescribeNatGatewaysAPIClient
	ec2.DescribeVpcEndpointsAPIClient
	ec2.DescribeNetworkInterfacesAPIClient
	ec2.DescribeInternetGatewaysAPIClient
	ec2.DescribeRouteTablesAPIClient
	ec2.DescribeSecurityGroupsAPIClient
	ec2.DescribeSubnetsAPIClient
	ec2.DescribeVpcsAPIClient
	DescribeAddresses(context.Context, *ec2.DescribeAddressesInput, ...func(*ec2.Options)) (*ec2.DescribeAddressesOutput, error)
}

// EKS is what an inventory reads of EKS.
type EKS interface {
	eks.DescribeClusterAPIClient
	eks.ListNodegroupsAPIClient
	eks.DescribeNodegroupAPIClient
	eks.ListAddonsAPIClient
}

// AutoScaling is what an inventory reads of EC2 Auto Scaling.
type AutoScaling interface {
	autoscaling.DescribeAutoScalingGroupsAPIClient
}

// ELB is what an inventory reads of the classic load balancers.
type ELB interface {
	elb.DescribeLoadBalancersAPIClient
	DescribeTags(context.Context, *elb.DescribeTagsInput, ...func(*elb.Options)) (*elb.DescribeTagsOutput, error)
}

// ELBV2 is what an inventory reads of application and network load balancers.
type ELBV2 interface {
	elbv2.DescribeLoadBalancersAPIClient
	elbv2.DescribeTargetGroupsAPIClient
	DescribeTags(context.Context, *elbv2.DescribeTagsInput, ...func(*elbv2.Options)) (*elbv2.DescribeTagsOutput, error)
}
