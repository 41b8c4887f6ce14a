package inventory

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// ec2Page is the largest page that all of EC2's describe calls accept. Without
// a size EC2 answers in one piece and, in a big account, throttles or times out.
const ec2Page = 100

// ec2Listings reads whole regions without filters: one place then decides what
// is owned, and a filter that a service understands differently can neither
// hide an item nor let a foreign one in.
func ec2Listings(api EC2, region string) []listing {
	one := func(name string, kind Kind, list func(context.Context, EC2) ([]Item, error)) listing {
		return listing{
			service: "ec2", region: region, name: name, kinds: []Kind{kind},
			list: func(ctx context.Context) ([]Item, error) { return list(ctx, api) },
		}
	}
	return []listing{
		one("vpcs", VPC, vpcs),
		one("subnets", Subnet, subnets),
		one("route tables", RouteTable, routeTables),
		one("internet gateways", InternetGateway, internetGateways),
		one("nat gateways", NATGateway, natGateways),
		one("addresses", ElasticIP, addresses),
		one("security groups", SecurityGroup, securityGroups),
		one("network interfaces", NetworkInterface, networkInterfaces),
		one("vpc endpoints", VPCEndpoint, vpcEndpoints),
		one("instances", Instance, instances),
	}
}

func instances(ctx context.Context, api EC2) ([]Item, error) {
	var items []Item
	pages := ec2.NewDescribeInstancesPaginator(api, &ec2.DescribeInstancesInput{MaxResults: aws.Int32(ec2Page)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return items, err
		}
		for _, reservation := range page.Reservations {
			for _, instance := range reservation.Instances {
				// A terminated instance stays listed for about an hour.
				if instance.State != nil && instance.State.Name == types.InstanceStateNameTerminated {
					continue
				}
				items = append(items, ec2Item(Instance, instance.InstanceId, instance.VpcId, instance.Tags))
			}
		}
	}
	return items, nil
}

func networkInterfaces(ctx context.Context, api EC2) ([]Item, error) {
	var items []Item
	pages := ec2.NewDescribeNetworkInterfacesPaginator(api, &ec2.DescribeNetworkInterfacesInput{MaxResults: aws.Int32(ec2Page)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return items, err
		}
		for _, eni := range page.NetworkInterfaces {
			item := ec2Item(NetworkInterface, eni.NetworkInterfaceId, eni.VpcId, eni.TagSet)
			if item.Name == "" {
				item.Name = aws.ToString(eni.Description)
			}
			item.Uses = []string{aws.ToString(eni.SubnetId)}
			for _, group := range eni.Groups {
				item.Uses = append(item.Uses, aws.ToString(group.GroupId))
			}
			items = append(items, item)
		}
	}
	return items, nil
}

func securityGroups(ctx context.Context, api EC2) ([]Item, error) {
	var items []Item
	pages := ec2.NewDescribeSecurityGroupsPaginator(api, &ec2.DescribeSecurityGroupsInput{MaxResults: aws.Int32(ec2Page)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return items, err
		}
		for _, group := range page.SecurityGroups {
			// The default group goes with its VPC and cannot be deleted.
			if aws.ToString(group.GroupName) == "default" {
				continue
			}
			item := ec2Item(SecurityGroup, group.GroupId, group.VpcId, group.Tags)
			if item.Name == "" {
				item.Name = aws.ToString(group.GroupName)
			}
			items = append(items, item)
		}
	}
	return items, nil
}

// ec2Item fills what all kinds of EC2 have in common.
func ec2Item(kind Kind, id, vpc *string, tags []types.Tag) Item {
	item := Item{
		Kind: kind,
		ID:   aws.ToString(id),
		VPC:  aws.ToString(vpc),
		Tags: pairs(tags, func(t types.Tag) (*string, *string) { return t.Key, t.Value }),
	}
	item.Name = item.Tags["Name"]
	return item
}
