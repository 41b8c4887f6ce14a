package sweep

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"github.com/krops-go/krops/internal/aws/awserr"
	"github.com/krops-go/krops/internal/aws/inventory"
)

func (a *account) vpcState(ctx context.Context, item inventory.Item) (State, error) {
	out, err := a.ec2(item).DescribeVpcs(ctx, &ec2.DescribeVpcsInput{VpcIds: []string{item.ID}})
	if err != nil {
		return State{}, err
	}
	return listed(len(out.Vpcs)), nil
}

func (a *account) deleteVPC(ctx context.Context, item inventory.Item) error {
	_, err := a.ec2(item).DeleteVpc(ctx, &ec2.DeleteVpcInput{VpcId: aws.String(item.ID)})
	return err
}

func (a *account) subnetState(ctx context.Context, item inventory.Item) (State, error) {
	out, err := a.ec2(item).DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{SubnetIds: []string{item.ID}})
	if err != nil {
		return State{}, err
	}
	return listed(len(out.Subnets)), nil
}

func (a *account) deleteSubnet(ctx context.Context, item inventory.Item) error {
	_, err := a.ec2(item).DeleteSubnet(ctx, &ec2.DeleteSubnetInput{SubnetId: aws.String(item.ID)})
	return err
}

func (a *account) routeTable(ctx context.Context, item inventory.Item) (*ec2.DescribeRouteTablesOutput, error) {
	return a.ec2(item).DescribeRouteTables(ctx, &ec2.DescribeRouteTablesInput{RouteTableIds: []string{item.ID}})
}

func (a *account) routeTableState(ctx context.Context, item inventory.Item) (State, error) {
	out, err := a.routeTable(ctx, item)
	if err != nil {
		return State{}, err
	}
	return listed(len(out.RouteTables)), nil
}

func (a *account) deleteRouteTable(ctx context.Context, item inventory.Item) error {
	out, err := a.routeTable(ctx, item)
	if err != nil {
		return err
	}
	for _, table := range out.RouteTables {
		for _, association := range table.Associations {
			_, err := a.ec2(item).DisassociateRouteTable(ctx, &ec2.DisassociateRouteTableInput{
				AssociationId: association.RouteTableAssociationId,
			})
			// An association also goes with its subnet.
			if err != nil && !awserr.NotFound(err) {
				return fmt.Errorf("disassociate from subnet %s: %w", aws.ToString(association.SubnetId), err)
			}
		}
	}
	_, err = a.ec2(item).DeleteRouteTable(ctx, &ec2.DeleteRouteTableInput{RouteTableId: aws.String(item.ID)})
	return err
}

func (a *account) internetGateway(ctx context.Context, item inventory.Item) (*ec2.DescribeInternetGatewaysOutput, error) {
	return a.ec2(item).DescribeInternetGateways(ctx, &ec2.DescribeInternetGatewaysInput{InternetGatewayIds: []string{item.ID}})
}

func (a *account) internetGatewayState(ctx context.Context, item inventory.Item) (State, error) {
	out, err := a.internetGateway(ctx, item)
	if err != nil {
		return State{}, err
	}
	return listed(len(out.InternetGateways)), nil
}

func (a *account) deleteInternetGateway(ctx context.Context, item inventory.Item) error {
	out, err := a.internetGateway(ctx, item)
	if err != nil {
		return err
	}
	for _, gateway := range out.InternetGateways {
		for _, attachment := range gateway.Attachments {
			_, err := a.ec2(item).DetachInternetGateway(ctx, &ec2.DetachInternetGatewayInput{
				InternetGatewayId: aws.String(item.ID), VpcId: attachment.VpcId,
			})
			if err != nil && awserr.Code(err) != "Gateway.NotAttached" {
				return fmt.Errorf("detach from %s: %w", aws.ToString(attachment.VpcId), err)
			}
		}
	}
	_, err = a.ec2(item).DeleteInternetGateway(ctx, &ec2.DeleteInternetGatewayInput{InternetGatewayId: aws.String(item.ID)})
	return err
}
