package sweep

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/krops-go/krops/internal/aws/inventory"
)

func (a *account) autoScalingGroupState(ctx context.Context, item inventory.Item) (State, error) {
	out, err := a.autoScaling(item).DescribeAutoScalingGroups(ctx, &autoscaling.DescribeAutoScalingGroupsInput{
		AutoScalingGroupNames: []string{item.ID},
	})
	if err != nil {
		return State{}, err
	}
	if len(out.AutoScalingGroups) == 0 {
		return State{Phase: Absent}, nil
	}
	// Status is set only while a group is being deleted.
	if aws.ToString(out.AutoScalingGroups[0].Status) != "" {
		return State{Phase: Deleting}, nil
	}
	return State{Phase: Present}, nil
}

// deleteAutoScalingGroup takes the group's instances along.
func (a *account) deleteAutoScalingGroup(ctx context.Context, item inventory.Item) error {
	_, err := a.autoScaling(item).DeleteAutoScalingGroup(ctx, &autoscaling.DeleteAutoScalingGroupInput{
		AutoScalingGroupName: aws.String(item.ID), ForceDelete: aws.Bool(true),
	})
	return err
}

func (a *account) instanceState(ctx context.Context, item inventory.Item) (State, error) {
	out, err := a.ec2(item).DescribeInstances(ctx, &ec2.DescribeInstancesInput{InstanceIds: []string{item.ID}})
	if err != nil {
		return State{}, err
	}
	var state types.InstanceStateName
	for _, reservation := range out.Reservations {
		for _, instance := range reservation.Instances {
			if instance.State != nil {
				state = instance.State.Name
			}
		}
	}
	switch {
	case len(out.Reservations) == 0, state == types.InstanceStateNameTerminated:
		return State{Phase: Absent}, nil
	case state == types.InstanceStateNameShuttingDown:
		return State{Phase: Deleting}, nil
	}
	return State{Phase: Present}, nil
}

func (a *account) terminateInstance(ctx context.Context, item inventory.Item) error {
	_, err := a.ec2(item).TerminateInstances(ctx, &ec2.TerminateInstancesInput{InstanceIds: []string{item.ID}})
	return err
}
