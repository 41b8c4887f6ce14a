package inventory

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
)

func autoScalingListings(api AutoScaling, region string) []listing {
	return []listing{{
		service: "autoscaling", region: region, name: "groups", kinds: []Kind{AutoScalingGroup},
		list: func(ctx context.Context) ([]Item, error) { return autoScalingGroups(ctx, api) },
	}}
}

func autoScalingGroups(ctx context.Context, api AutoScaling) ([]Item, error) {
	var items []Item
	pages := autoscaling.NewDescribeAutoScalingGroupsPaginator(api, &autoscaling.DescribeAutoScalingGroupsInput{})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return items, err
		}
		for _, group := range page.AutoScalingGroups {
			item := Item{
				Kind: AutoScalingGroup,
				ID:   aws.ToString(group.AutoScalingGroupName),
				Name: aws.ToString(group.AutoScalingGroupName),
				Tags: make(map[string]string, len(group.Tags)),
			}
			for _, tag := range group.Tags {
				item.Tags[aws.ToString(tag.Key)] = aws.ToString(tag.Value)
			}
			for _, instance := range group.Instances {
				item.Uses = append(item.Uses, aws.ToString(instance.InstanceId))
			}
			items = append(items, item)
		}
	}
	return items, nil
}
