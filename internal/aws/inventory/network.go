package inventory

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

func vpcs(ctx context.Context, api EC2) ([]Item, error) {
	var items []Item
	pages := ec2.NewDescribeVpcsPaginator(api, &ec2.DescribeVpcsInput{MaxResults: aws.Int32(ec2Page)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return items, err
		}
		for _, vpc := range page.Vpcs {
			items = append(items, ec2Item(VPC, vpc.VpcId, vpc.VpcId, vpc.Tags))
		}
	}
	return items, nil
}

func subnets(ctx context.Context, api EC2) ([]Item, error) {
	var items []Item
	pages := ec2.NewDescribeSubnetsPaginator(api, &ec2.DescribeSubnetsInput{MaxResults: aws.Int32(ec2Page)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return items, err
		}
		for _, subnet := range page.Subnets {
			items = append(items, ec2Item(Subnet, subnet.SubnetId, subnet.VpcId, subnet.Tags))
		}
	}
	return items, nil
}

func routeTables(ctx context.Context, api EC2) ([]Item, error) {
	var items []Item
	pages := ec2.NewDescribeRouteTablesPaginator(api, &ec2.DescribeRouteTablesInput{MaxResults: aws.Int32(ec2Page)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return items, err
		}
		for _, table := range page.RouteTables {
			if isMain(table) {
				continue
			}
			items = append(items, ec2Item(RouteTable, table.RouteTableId, table.VpcId, table.Tags))
		}
	}
	return items, nil
}

// isMain reports the table that a VPC is born with and takes along when it is
// deleted.
func isMain(table types.RouteTable) bool {
	for _, association := range table.Associations {
		if aws.ToBool(association.Main) {
			return true
		}
	}
	return false
}

func internetGateways(ctx context.Context, api EC2) ([]Item, error) {
	var items []Item
	pages := ec2.NewDescribeInternetGatewaysPaginator(api, &ec2.DescribeInternetGatewaysInput{MaxResults: aws.Int32(ec2Page)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return items, err
		}
		for _, gateway := range page.InternetGateways {
			// A gateway is attached to at most one VPC.
			var vpc *string
			if len(gateway.Attachments) > 0 {
				vpc = gateway.Attachments[0].VpcId
			}
			items = append(items, ec2Item(InternetGateway, gateway.InternetGatewayId, vpc, gateway.Tags))
		}
	}
	return items, nil
}

func natGateways(ctx context.Context, api EC2) ([]Item, error) {
	var items []Item
	pages := ec2.NewDescribeNatGatewaysPaginator(api, &ec2.DescribeNatGatewaysInput{MaxResults: aws.Int32(ec2Page)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return items, err
		}
		for _, gateway := range page.NatGateways {
			// A deleted gateway stays listed for about an hour.
			if gateway.State == types.NatGatewayStateDeleted {
				continue
			}
			item := ec2Item(NATGateway, gateway.NatGatewayId, gateway.VpcId, gateway.Tags)
			item.Uses = []string{aws.ToString(gateway.SubnetId)}
			for _, address := range gateway.NatGatewayAddresses {
				if address.AllocationId != nil {
					item.Uses = append(item.Uses, *address.AllocationId)
				}
			}
			items = append(items, item)
		}
	}
	return items, nil
}

// addresses has no pages: the call answers with all of them.
func addresses(ctx context.Context, api EC2) ([]Item, error) {
	out, err := api.DescribeAddresses(ctx, &ec2.DescribeAddressesInput{})
	if err != nil {
		return nil, err
	}
	var items []Item
	for _, address := range out.Addresses {
		items = append(items, ec2Item(ElasticIP, address.AllocationId, nil, address.Tags))
	}
	return items, nil
}

func vpcEndpoints(ctx context.Context, api EC2) ([]Item, error) {
	var items []Item
	pages := ec2.NewDescribeVpcEndpointsPaginator(api, &ec2.DescribeVpcEndpointsInput{MaxResults: aws.Int32(ec2Page)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return items, err
		}
		for _, endpoint := range page.VpcEndpoints {
			if endpoint.State == types.StateDeleted {
				continue
			}
			item := ec2Item(VPCEndpoint, endpoint.VpcEndpointId, endpoint.VpcId, endpoint.Tags)
			item.Uses = append(item.Uses, endpoint.SubnetIds...)
			for _, group := range endpoint.Groups {
				item.Uses = append(item.Uses, aws.ToString(group.GroupId))
			}
			items = append(items, item)
		}
	}
	return items, nil
}
