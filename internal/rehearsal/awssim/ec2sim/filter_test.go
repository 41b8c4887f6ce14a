package ec2sim_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"

	"github.com/krops-go/krops/internal/rehearsal/awssim/ec2sim"
)

func TestFilters(t *testing.T) {
	a := newAccount(t, ec2sim.Options{})
	for name, tags := range map[string]map[string]string{
		"10.0.0.0/16": {"Name": "acme-vpc", "owner": "a"},
		"10.1.0.0/16": {"Name": "acme*vpc", "owner": "b"},
		"10.2.0.0/16": {"Name": "acme-vpc-2", "note": ""},
		"10.3.0.0/16": {},
	} {
		in := &ec2.CreateVpcInput{CidrBlock: aws.String(name)}
		for key, value := range tags {
			if in.TagSpecifications == nil {
				in.TagSpecifications = []types.TagSpecification{{ResourceType: types.ResourceTypeVpc}}
			}
			in.TagSpecifications[0].Tags = append(in.TagSpecifications[0].Tags, types.Tag{Key: aws.String(key), Value: aws.String(value)})
		}
		a.ok(in)
	}
	for _, c := range []struct {
		name    string
		filters []types.Filter
		want    []string
	}{
		{"none matches all", nil, []string{"10.0", "10.1", "10.2", "10.3"}},
		{"a foreign owner matches nothing", []types.Filter{filter("tag:owner", "somebody")}, nil},
		{"an exact tag", []types.Filter{filter("tag:Name", "acme-vpc")}, []string{"10.0"}},
		{"case matters", []types.Filter{filter("tag:Name", "Acme-vpc")}, nil},
		{"values are or-ed", []types.Filter{filter("tag:owner", "a", "b")}, []string{"10.0", "10.1"}},
		{"filters are and-ed", []types.Filter{filter("tag:owner", "a", "b"), filter("cidr", "10.1.0.0/16")}, []string{"10.1"}},
		{"star", []types.Filter{filter("tag:Name", "acme*")}, []string{"10.0", "10.1", "10.2"}},
		{"question mark", []types.Filter{filter("tag:Name", "acme?vpc")}, []string{"10.0", "10.1"}},
		{"escaped star", []types.Filter{filter("tag:Name", `acme\*vpc`)}, []string{"10.1"}},
		{"a pattern covers the whole value", []types.Filter{filter("tag:Name", "*me")}, nil},
		{"a dot is a dot", []types.Filter{filter("cidr", "10*0/16")}, []string{"10.0", "10.1", "10.2", "10.3"}},
		{"tag-key", []types.Filter{filter("tag-key", "owner", "note")}, []string{"10.0", "10.1", "10.2"}},
		{"an empty id matches nothing", []types.Filter{filter("vpc-id", "")}, nil},
		{"an empty tag value matches only that", []types.Filter{filter("tag:note", "")}, []string{"10.2"}},
		{"no values match nothing", []types.Filter{filter("vpc-id")}, nil},
		{"not the default", []types.Filter{filter("is-default", "true")}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			found := map[string]bool{}
			for _, v := range must[ec2.DescribeVpcsOutput](a, &ec2.DescribeVpcsInput{Filters: c.filters}).Vpcs {
				found[(*v.CidrBlock)[:4]] = true
			}
			want := map[string]bool{}
			for _, cidr := range c.want {
				want[cidr] = true
			}
			if diff := cmp.Diff(want, found); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Every describe call refuses a filter it does not know, even with nothing to
// filter.
func TestUnknownFilters(t *testing.T) {
	a := newAccount(t, ec2sim.Options{})
	unknown := []types.Filter{filter("favourite-colour", "blue")}
	for _, in := range []any{
		&ec2.DescribeAddressesInput{Filters: unknown},
		&ec2.DescribeAvailabilityZonesInput{Filters: unknown},
		&ec2.DescribeInstanceTypeOfferingsInput{Filters: unknown},
		&ec2.DescribeInstanceTypesInput{Filters: unknown},
		&ec2.DescribeInstancesInput{Filters: unknown},
		&ec2.DescribeInternetGatewaysInput{Filters: unknown},
		&ec2.DescribeNatGatewaysInput{Filter: unknown},
		&ec2.DescribeNetworkAclsInput{Filters: unknown},
		&ec2.DescribeNetworkInterfacesInput{Filters: unknown},
		&ec2.DescribeRegionsInput{Filters: unknown},
		&ec2.DescribeRouteTablesInput{Filters: unknown},
		&ec2.DescribeSecurityGroupRulesInput{Filters: unknown},
		&ec2.DescribeSecurityGroupsInput{Filters: unknown},
		&ec2.DescribeSubnetsInput{Filters: unknown},
		&ec2.DescribeTagsInput{Filters: unknown},
		&ec2.DescribeVolumesInput{Filters: unknown},
		&ec2.DescribeVpcEndpointsInput{Filters: unknown},
		&ec2.DescribeVpcsInput{Filters: unknown},
	} {
		a.refused(in, "InvalidParameterValue")
	}
	a.refused(&ec2.DescribeVpcsInput{Filters: []types.Filter{{Values: []string{"x"}}}}, "InvalidParameterValue")
	a.refused(&ec2.DescribeVpcsInput{Filters: []types.Filter{filter("vpc-id", make([]string, 201)...)}}, "FilterLimitExceeded")
}

func TestPaging(t *testing.T) {
	a := newAccount(t, ec2sim.Options{Quotas: ec2sim.Quotas{VPCs: 20}})
	for range 7 {
		a.ok(&ec2.CreateVpcInput{CidrBlock: aws.String("10.0.0.0/16"), TagSpecifications: named(types.ResourceTypeVpc, "mine")})
		a.vpc("10.1.0.0/16")
	}
	in := &ec2.DescribeVpcsInput{Filters: []types.Filter{filter("tag:Name", "mine")}, MaxResults: aws.Int32(5)}
	first := must[ec2.DescribeVpcsOutput](a, in)
	if len(first.Vpcs) != 5 || first.NextToken == nil {
		t.Fatalf("first page has %d, token %v; want 5 and a token", len(first.Vpcs), first.NextToken)
	}
	// What is deleted and created between two pages must not disturb them.
	a.ok(&ec2.DeleteVpcInput{VpcId: first.Vpcs[4].VpcId})
	in.NextToken = first.NextToken
	second := must[ec2.DescribeVpcsOutput](a, in)
	if len(second.Vpcs) != 2 || second.NextToken != nil {
		t.Fatalf("second page has %d, token %v; want 2 and none", len(second.Vpcs), second.NextToken)
	}
	for _, v := range append(first.Vpcs, second.Vpcs...) {
		if *v.CidrBlock != "10.0.0.0/16" {
			t.Errorf("%s does not pass the filter", *v.VpcId)
		}
	}
	if all := must[ec2.DescribeVpcsOutput](a, &ec2.DescribeVpcsInput{}); len(all.Vpcs) != 13 || all.NextToken != nil {
		t.Errorf("without a size there are %d and token %v", len(all.Vpcs), all.NextToken)
	}
	a.refused(&ec2.DescribeVpcsInput{MaxResults: aws.Int32(4)}, "InvalidParameterValue")
	a.refused(&ec2.DescribeVpcsInput{MaxResults: aws.Int32(1001)}, "InvalidParameterValue")
	a.refused(&ec2.DescribeVpcsInput{NextToken: aws.String("?")}, "InvalidNextToken")
	a.refused(&ec2.DescribeInstancesInput{InstanceIds: []string{}, MaxResults: aws.Int32(1)}, "InvalidParameterValue")
}
