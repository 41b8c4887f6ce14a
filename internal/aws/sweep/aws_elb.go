package sweep

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"

	"github.com/krops-go/krops/internal/aws/inventory"
)

func (a *account) classicLoadBalancerState(ctx context.Context, item inventory.Item) (State, error) {
	out, err := a.elb(item).DescribeLoadBalancers(ctx, &elb.DescribeLoadBalancersInput{LoadBalancerNames: []string{item.ID}})
	if err != nil {
		return State{}, err
	}
	return listed(len(out.LoadBalancerDescriptions)), nil
}

func (a *account) deleteClassicLoadBalancer(ctx context.Context, item inventory.Item) error {
	_, err := a.elb(item).DeleteLoadBalancer(ctx, &elb.DeleteLoadBalancerInput{LoadBalancerName: aws.String(item.ID)})
	return err
}

func (a *account) loadBalancerState(ctx context.Context, item inventory.Item) (State, error) {
	out, err := a.elbv2(item).DescribeLoadBalancers(ctx, &elbv2.DescribeLoadBalancersInput{LoadBalancerArns: []string{item.ID}})
	if err != nil {
		return State{}, err
	}
	return listed(len(out.LoadBalancers)), nil
}

func (a *account) deleteLoadBalancer(ctx context.Context, item inventory.Item) error {
	_, err := a.elbv2(item).DeleteLoadBalancer(ctx, &elbv2.DeleteLoadBalancerInput{LoadBalancerArn: aws.String(item.ID)})
	return err
}

func (a *account) targetGroupState(ctx context.Context, item inventory.Item) (State, error) {
	out, err := a.elbv2(item).DescribeTargetGroups(ctx, &elbv2.DescribeTargetGroupsInput{TargetGroupArns: []string{item.ID}})
	if err != nil {
		return State{}, err
	}
	return listed(len(out.TargetGroups)), nil
}

func (a *account) deleteTargetGroup(ctx context.Context, item inventory.Item) error {
	_, err := a.elbv2(item).DeleteTargetGroup(ctx, &elbv2.DeleteTargetGroupInput{TargetGroupArn: aws.String(item.ID)})
	return err
}
