package inventory

import (
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	elbtypes "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing/types"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	elbv2types "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"

	"github.com/krops-go/krops/internal/aws/awserr"
)

// tagBatch is how many resources one DescribeTags call of either load
// balancing API takes.
const tagBatch = 20

func elbListings(api ELB, region string) []listing {
	return []listing{{
		service: "elasticloadbalancing", region: region, name: "classic load balancers",
		kinds: []Kind{ClassicLoadBalancer},
		list:  func(ctx context.Context) ([]Item, error) { return classicLoadBalancers(ctx, api) },
	}}
}

func elbv2Listings(api ELBV2, region string) []listing {
	return []listing{
		{
			service: "elasticloadbalancingv2", region: region, name: "load balancers",
			kinds: []Kind{LoadBalancer},
			list:  func(ctx context.Context) ([]Item, error) { return loadBalancers(ctx, api) },
		},
		{
			service: "elasticloadbalancingv2", region: region, name: "target groups",
			kinds: []Kind{TargetGroup},
			list:  func(ctx context.Context) ([]Item, error) { return targetGroups(ctx, api) },
		},
	}
}

func classicLoadBalancers(ctx context.Context, api ELB) ([]Item, error) {
	var items []Item
	pages := elb.NewDescribeLoadBalancersPaginator(api, &elb.DescribeLoadBalancersInput{})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, lb := range page.LoadBalancerDescriptions {
			items = append(items, Item{
				Kind: ClassicLoadBalancer,
				ID:   aws.ToString(lb.LoadBalancerName),
				Name: aws.ToString(lb.LoadBalancerName),
				VPC:  aws.ToString(lb.VPCId),
				Uses: slices.Concat(lb.Subnets, lb.SecurityGroups),
			})
		}
	}
	return withTags(items, func(ids []string) (map[string]map[string]string, error) {
		out, err := api.DescribeTags(ctx, &elb.DescribeTagsInput{LoadBalancerNames: ids})
		if err != nil {
			return nil, err
		}
		tags := map[string]map[string]string{}
		for _, d := range out.TagDescriptions {
			tags[aws.ToString(d.LoadBalancerName)] = pairs(d.Tags, func(t elbtypes.Tag) (*string, *string) { return t.Key, t.Value })
		}
		return tags, nil
	})
}

func loadBalancers(ctx context.Context, api ELBV2) ([]Item, error) {
	var items []Item
	pages := elbv2.NewDescribeLoadBalancersPaginator(api, &elbv2.DescribeLoadBalancersInput{})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, lb := range page.LoadBalancers {
			item := Item{
				Kind: LoadBalancer,
				ID:   aws.ToString(lb.LoadBalancerArn),
				Name: aws.ToString(lb.LoadBalancerName),
				VPC:  aws.ToString(lb.VpcId),
				Uses: slices.Clone(lb.SecurityGroups),
			}
			for _, zone := range lb.AvailabilityZones {
				item.Uses = append(item.Uses, aws.ToString(zone.SubnetId))
				for _, address := range zone.LoadBalancerAddresses {
					if address.AllocationId != nil {
						item.Uses = append(item.Uses, *address.AllocationId)
					}
				}
			}
			items = append(items, item)
		}
	}
	return withTags(items, elbv2Tags(ctx, api))
}

func targetGroups(ctx context.Context, api ELBV2) ([]Item, error) {
	var items []Item
	pages := elbv2.NewDescribeTargetGroupsPaginator(api, &elbv2.DescribeTargetGroupsInput{})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, group := range page.TargetGroups {
			items = append(items, Item{
				Kind: TargetGroup,
				ID:   aws.ToString(group.TargetGroupArn),
				Name: aws.ToString(group.TargetGroupName),
				VPC:  aws.ToString(group.VpcId),
			})
		}
	}
	return withTags(items, elbv2Tags(ctx, api))
}

func elbv2Tags(ctx context.Context, api ELBV2) func([]string) (map[string]map[string]string, error) {
	return func(arns []string) (map[string]map[string]string, error) {
		out, err := api.DescribeTags(ctx, &elbv2.DescribeTagsInput{ResourceArns: arns})
		if err != nil {
			return nil, err
		}
		tags := map[string]map[string]string{}
		for _, d := range out.TagDescriptions {
			tags[aws.ToString(d.ResourceArn)] = pairs(d.Tags, func(t elbv2types.Tag) (*string, *string) { return t.Key, t.Value })
		}
		return tags, nil
	}
}

// withTags reads the tags of items in batches. A batch fails as a whole when
// one of its members vanished since it was listed; its members are then asked
// for one by one and the vanished ones dropped.
func withTags(items []Item, read func(ids []string) (map[string]map[string]string, error)) ([]Item, error) {
	var tagged []Item
	for batch := range slices.Chunk(items, tagBatch) {
		ids := make([]string, len(batch))
		for n, item := range batch {
			ids[n] = item.ID
		}
		tags, err := read(ids)
		if awserr.NotFound(err) {
			if len(batch) == 1 {
				continue
			}
			for _, item := range batch {
				one, err := withTags([]Item{item}, read)
				if err != nil {
					return nil, err
				}
				tagged = append(tagged, one...)
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, item := range batch {
			item.Tags = tags[item.ID]
			tagged = append(tagged, item)
		}
	}
	return tagged, nil
}

// pairs turns one of the SDK's tag types into a map.
func pairs[T any](tags []T, split func(T) (key, value *string)) map[string]string {
	m := make(map[string]string, len(tags))
	for _, tag := range tags {
		key, value := split(tag)
		m[aws.ToString(key)] = aws.ToString(value)
	}
	return m
}
