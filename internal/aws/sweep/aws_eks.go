package sweep

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/krops-go/krops/internal/aws/inventory"
)

func (a *account) nodeGroupState(ctx context.Context, item inventory.Item) (State, error) {
	out, err := a.eks(item).DescribeNodegroup(ctx, &eks.DescribeNodegroupInput{
		ClusterName: aws.String(item.Parent), NodegroupName: aws.String(item.ID),
	})
	if err != nil {
		return State{}, err
	}
	switch out.Nodegroup.Status {
	case types.NodegroupStatusDeleting:
		return State{Phase: Deleting}, nil
	case types.NodegroupStatusDeleteFailed:
		return State{Phase: Present, Detail: "its deletion failed: " + healthIssues(out.Nodegroup.Health)}, nil
	}
	return State{Phase: Present}, nil
}

func healthIssues(health *types.NodegroupHealth) string {
	if health == nil || len(health.Issues) == 0 {
		return "EKS names no reason"
	}
	var issues []string
	for _, issue := range health.Issues {
		issues = append(issues, fmt.Sprintf("%s: %s %v", issue.Code, aws.ToString(issue.Message), issue.ResourceIds))
	}
	return strings.Join(issues, "; ")
}

func (a *account) deleteNodeGroup(ctx context.Context, item inventory.Item) error {
	_, err := a.eks(item).DeleteNodegroup(ctx, &eks.DeleteNodegroupInput{
		ClusterName: aws.String(item.Parent), NodegroupName: aws.String(item.ID),
	})
	return err
}

func (a *account) addonState(ctx context.Context, item inventory.Item) (State, error) {
	out, err := a.eks(item).DescribeAddon(ctx, &eks.DescribeAddonInput{
		ClusterName: aws.String(item.Parent), AddonName: aws.String(item.ID),
	})
	if err != nil {
		return State{}, err
	}
	if out.Addon.Status == types.AddonStatusDeleting {
		return State{Phase: Deleting}, nil
	}
	return State{Phase: Present}, nil
}

func (a *account) deleteAddon(ctx context.Context, item inventory.Item) error {
	_, err := a.eks(item).DeleteAddon(ctx, &eks.DeleteAddonInput{
		ClusterName: aws.String(item.Parent), AddonName: aws.String(item.ID),
	})
	return err
}

func (a *account) clusterState(ctx context.Context, item inventory.Item) (State, error) {
	out, err := a.eks(item).DescribeCluster(ctx, &eks.DescribeClusterInput{Name: aws.String(item.ID)})
	if err != nil {
		return State{}, err
	}
	if out.Cluster.Status == types.ClusterStatusDeleting {
		return State{Phase: Deleting}, nil
	}
	return State{Phase: Present}, nil
}

func (a *account) deleteCluster(ctx context.Context, item inventory.Item) error {
	_, err := a.eks(item).DeleteCluster(ctx, &eks.DeleteClusterInput{Name: aws.String(item.ID)})
	return err
}
