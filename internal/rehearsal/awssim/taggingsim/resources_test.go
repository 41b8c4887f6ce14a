package taggingsim_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	tagging "github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi"
	"github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi/types"
	"github.com/google/go-cmp/cmp"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
	"github.com/krops-go/krops/internal/rehearsal/awssim/taggingsim"
)

// source has the same resources in one region and none elsewhere.
type source []taggingsim.TaggedResource

const region = "eu-north-1"

func (s source) TaggedResources(in string) []taggingsim.TaggedResource {
	if in != region {
		return nil
	}
	return s
}

func arn(service, resource string) string {
	return "arn:aws:" + service + ":" + region + ":111122223333:" + resource
}

func search(t *testing.T, from string, in *tagging.GetResourcesInput, sources ...taggingsim.Taggable) (*tagging.GetResourcesOutput, error) {
	t.Helper()
	out, err := taggingsim.New(sources...).Operations()[0].Invoke(&service.Call{Context: context.Background(), Region: from}, in)
	if err != nil {
		return nil, err
	}
	return out.(*tagging.GetResourcesOutput), nil
}

func found(out *tagging.GetResourcesOutput) []string {
	var list []string
	for _, r := range out.ResourceTagMappingList {
		list = append(list, (*r.ResourceARN)[strings.LastIndexAny(*r.ResourceARN, "/:")+1:])
	}
	return list
}

func TestSearch(t *testing.T) {
	networks := source{
		{ARN: arn("ec2", "vpc/v"), Tags: map[string]string{"owner": "me", "tier": "a"}},
		{ARN: arn("ec2", "subnet/s"), Tags: map[string]string{"owner": "you"}},
	}
	clusters := source{{ARN: arn("eks", "cluster/c"), Tags: map[string]string{"owner": "me", "empty": ""}}}
	balancers := source{{ARN: arn("elasticloadbalancing", "loadbalancer/net/lb"), Tags: map[string]string{"other": "x"}}}
	by := func(key string, values ...string) types.TagFilter {
		return types.TagFilter{Key: aws.String(key), Values: values}
	}
	for _, c := range []struct {
		name  string
		in    tagging.GetResourcesInput
		where string
		want  []string
	}{
		{"everything, in the order of ARNs", tagging.GetResourcesInput{}, region, []string{"s", "v", "c", "lb"}},
		{"another region", tagging.GetResourcesInput{}, "eu-west-1", nil},
		{"by value", tagging.GetResourcesInput{TagFilters: []types.TagFilter{by("owner", "me")}}, region, []string{"v", "c"}},
		{"values are or-ed", tagging.GetResourcesInput{TagFilters: []types.TagFilter{by("owner", "me", "you")}}, region, []string{"s", "v", "c"}},
		{"filters are and-ed", tagging.GetResourcesInput{TagFilters: []types.TagFilter{by("owner", "me"), by("tier")}}, region, []string{"v"}},
		{"by key", tagging.GetResourcesInput{TagFilters: []types.TagFilter{by("empty")}}, region, []string{"c"}},
		{"a foreign owner", tagging.GetResourcesInput{TagFilters: []types.TagFilter{by("owner", "them")}}, region, nil},
		{"by service", tagging.GetResourcesInput{ResourceTypeFilters: []string{"ec2"}}, region, []string{"s", "v"}},
		{"by type", tagging.GetResourcesInput{ResourceTypeFilters: []string{"ec2:vpc", "eks:cluster"}}, region, []string{"v", "c"}},
		{"load balancers", tagging.GetResourcesInput{ResourceTypeFilters: []string{"elasticloadbalancing:loadbalancer"}}, region, []string{"lb"}},
		{"a part of a type is none", tagging.GetResourcesInput{ResourceTypeFilters: []string{"ec2:v"}}, region, nil},
		{"by ARN", tagging.GetResourcesInput{ResourceARNList: []string{arn("ec2", "vpc/v"), arn("ec2", "vpc/gone")}}, region, []string{"v"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, err := search(t, c.where, &c.in, balancers, networks, clusters)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, found(out)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestSearchPages(t *testing.T) {
	var many source
	for n := range 120 {
		many = append(many, taggingsim.TaggedResource{ARN: arn("ec2", fmt.Sprintf("vpc/%03d", n)), Tags: map[string]string{"n": fmt.Sprint(n)}})
	}
	seen := map[string]bool{}
	in := &tagging.GetResourcesInput{}
	var sizes []int
	for {
		out, err := search(t, region, in, many)
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, len(out.ResourceTagMappingList))
		for _, id := range found(out) {
			if seen[id] {
				t.Errorf("%s appears twice", id)
			}
			seen[id] = true
		}
		if in.PaginationToken = out.PaginationToken; aws.ToString(in.PaginationToken) == "" {
			break
		}
	}
	if diff := cmp.Diff([]int{50, 50, 20}, sizes); diff != "" || len(seen) != 120 {
		t.Errorf("saw %d; page sizes (-want +got):\n%s", len(seen), diff)
	}
}

func TestSearchRefusals(t *testing.T) {
	for name, in := range map[string]*tagging.GetResourcesInput{
		"page too small":       {ResourcesPerPage: aws.Int32(0)},
		"page too large":       {ResourcesPerPage: aws.Int32(101)},
		"a foreign token":      {PaginationToken: aws.String("?")},
		"a filter with no key": {TagFilters: []types.TagFilter{{Values: []string{"x"}}}},
		"too many values":      {TagFilters: []types.TagFilter{{Key: aws.String("k"), Values: make([]string, 21)}}},
		"too many types":       {ResourceTypeFilters: make([]string, 101)},
		"ARNs and pages":       {ResourceARNList: []string{"arn"}, ResourcesPerPage: aws.Int32(5)},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := search(t, region, in)
			var refusal *service.Error
			if !errors.As(err, &refusal) || refusal.Code != "InvalidParameterException" {
				t.Errorf("got %v, want InvalidParameterException", err)
			}
		})
	}
}
