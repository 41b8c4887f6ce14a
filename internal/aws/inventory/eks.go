package inventory

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"

	"github.com/krops-go/krops/internal/aws/awserr"
)

// eksListings asks for the clusters of the scope by name: EKS names are unique
// in a region, so a cluster of another name is not one of ours.
func eksListings(api EKS, region string, clusters []ClusterName) []listing {
	each := func(list func(context.Context, EKS, string) ([]Item, error)) func(context.Context) ([]Item, error) {
		return func(ctx context.Context) ([]Item, error) {
			var items []Item
			var errs []error
			for _, c := range clusters {
				found, err := list(ctx, api, c.EKS)
				items = append(items, found...)
				if err != nil {
					errs = append(errs, fmt.Errorf("cluster %s: %w", c.EKS, err))
				}
			}
			return items, errors.Join(errs...)
		}
	}
	return []listing{
		{service: "eks", region: region, name: "clusters", kinds: []Kind{Cluster}, list: each(cluster)},
		{service: "eks", region: region, name: "node groups", kinds: []Kind{NodeGroup}, list: each(nodeGroups)},
		{service: "eks", region: region, name: "add-ons", kinds: []Kind{Addon}, list: each(addons)},
	}
}

func cluster(ctx context.Context, api EKS, name string) ([]Item, error) {
	out, err := api.DescribeCluster(ctx, &eks.DescribeClusterInput{Name: aws.String(name)})
	if awserr.NotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	item := Item{Kind: Cluster, ID: name, Name: name, Tags: out.Cluster.Tags}
	if network := out.Cluster.ResourcesVpcConfig; network != nil {
		item.VPC = aws.ToString(network.VpcId)
		item.Uses = append(item.Uses, network.SubnetIds...)
	}
	return []Item{item}, nil
}

func nodeGroups(ctx context.Context, api EKS, cluster string) ([]Item, error) {
	var names []string
	pages := eks.NewListNodegroupsPaginator(api, &eks.ListNodegroupsInput{ClusterName: aws.String(cluster)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if awserr.NotFound(err) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		names = append(names, page.Nodegroups...)
	}
	return readEach(ctx, names, func(ctx context.Context, name string) (*Item, error) {
		out, err := api.DescribeNodegroup(ctx, &eks.DescribeNodegroupInput{
			ClusterName: aws.String(cluster), NodegroupName: aws.String(name),
		})
		if awserr.NotFound(err) {
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("node group %s: %w", name, err)
		}
		item := &Item{Kind: NodeGroup, ID: name, Name: name, Parent: cluster, Tags: out.Nodegroup.Tags}
		if out.Nodegroup.Resources != nil {
			for _, group := range out.Nodegroup.Resources.AutoScalingGroups {
				item.Uses = append(item.Uses, aws.ToString(group.Name))
			}
		}
		return item, nil
	})
}

func addons(ctx context.Context, api EKS, cluster string) ([]Item, error) {
	var items []Item
	pages := eks.NewListAddonsPaginator(api, &eks.ListAddonsInput{ClusterName: aws.String(cluster)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if awserr.NotFound(err) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		for _, name := range page.Addons {
			items = append(items, Item{Kind: Addon, ID: name, Name: name, Parent: cluster})
		}
	}
	return items, nil
}
