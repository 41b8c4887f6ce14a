package sweep

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/krops-go/krops/internal/aws/awserr"
	"github.com/krops-go/krops/internal/aws/inventory"
)

func (a *account) natGatewayState(ctx context.Context, item inventory.Item) (State, error) {
	out, err := a.ec2(item).DescribeNatGateways(ctx, &ec2.DescribeNatGatewaysInput{NatGatewayIds: []string{item.ID}})
	if err != nil {
		return State{}, err
	}
	for _, gateway := range out.NatGateways {
		switch gateway.State {
		case types.NatGatewayStateDeleted:
			return State{Phase: Absent}, nil
		case types.NatGatewayStateDeleting:
			return State{Phase: Deleting}, nil
		}
	}
	return listed(len(out.NatGateways)), nil
}

func (a *account) deleteNATGateway(ctx context.Context, item inventory.Item) error {
	_, err := a.ec2(item).DeleteNatGateway(ctx, &ec2.DeleteNatGatewayInput{NatGatewayId: aws.String(item.ID)})
	return err
}

func (a *account) address(ctx context.Context, item inventory.Item) (*ec2.DescribeAddressesOutput, error) {
	return a.ec2(item).DescribeAddresses(ctx, &ec2.DescribeAddressesInput{AllocationIds: []string{item.ID}})
}

func (a *account) addressState(ctx context.Context, item inventory.Item) (State, error) {
	out, err := a.address(ctx, item)
	if err != nil {
		return State{}, err
	}
	return listed(len(out.Addresses)), nil
}

func (a *account) releaseAddress(ctx context.Context, item inventory.Item) error {
	out, err := a.address(ctx, item)
	if err != nil {
		return err
	}
	for _, address := range out.Addresses {
		if aws.ToString(address.AssociationId) == "" {
			continue
		}
		_, err := a.ec2(item).DisassociateAddress(ctx, &ec2.DisassociateAddressInput{AssociationId: address.AssociationId})
		if err != nil && !awserr.NotFound(err) {
			return fmt.Errorf("disassociate from interface %s: %w", aws.ToString(address.NetworkInterfaceId), heldByService(err))
		}
	}
	_, err = a.ec2(item).ReleaseAddress(ctx, &ec2.ReleaseAddressInput{AllocationId: aws.String(item.ID)})
	return heldByService(err)
}

// heldByService translates EC2's answer about an address that a NAT gateway or
// load balancer has not let go of yet. It reads like a lack of permission, but
// passes.
func heldByService(err error) error {
	if awserr.Code(err) == "AuthFailure" {
		return fmt.Errorf("%w: %w", awserr.ErrBusy, err)
	}
	return err
}

func (a *account) vpcEndpointState(ctx context.Context, item inventory.Item) (State, error) {
	out, err := a.ec2(item).DescribeVpcEndpoints(ctx, &ec2.DescribeVpcEndpointsInput{VpcEndpointIds: []string{item.ID}})
	if err != nil {
		return State{}, err
	}
	for _, endpoint := range out.VpcEndpoints {
		switch endpoint.State {
		case types.StateDeleted:
			return State{Phase: Absent}, nil
		case types.StateDeleting:
			return State{Phase: Deleting}, nil
		}
	}
	return listed(len(out.VpcEndpoints)), nil
}

// deleteVPCEndpoint reads the answer too: the call succeeds even when the
// deletion was refused.
func (a *account) deleteVPCEndpoint(ctx context.Context, item inventory.Item) error {
	out, err := a.ec2(item).DeleteVpcEndpoints(ctx, &ec2.DeleteVpcEndpointsInput{VpcEndpointIds: []string{item.ID}})
	if err != nil {
		return err
	}
	var errs []error
	for _, refused := range out.Unsuccessful {
		if refused.Error != nil {
			errs = append(errs, awserr.New(aws.ToString(refused.Error.Code), aws.ToString(refused.Error.Message)))
		}
	}
	return errors.Join(errs...)
}
