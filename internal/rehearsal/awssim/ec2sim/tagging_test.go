package ec2sim_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"

	"github.com/krops-go/krops/internal/rehearsal/awssim/ec2sim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/taggingsim"
)

func tag(key, value string) types.Tag {
	return types.Tag{Key: aws.String(key), Value: aws.String(value)}
}

// described lists the tags of the region as "id key=value".
func described(a *account, filters ...types.Filter) []string {
	a.t.Helper()
	var list []string
	for _, t := range must[ec2.DescribeTagsOutput](a, &ec2.DescribeTagsInput{Filters: filters}).Tags {
		list = append(list, fmt.Sprintf("%s %s=%s", *t.ResourceId, *t.Key, *t.Value))
	}
	return list
}

func TestTags(t *testing.T) {
	a := newAccount(t, ec2sim.Options{})
	vpc := a.vpc("10.0.0.0/16")
	subnet := a.subnet(vpc, home+"a", "10.0.0.0/20")
	a.ok(&ec2.CreateTagsInput{Resources: []string{vpc, subnet}, Tags: []types.Tag{tag("a", "1"), tag("b", "")}})
	a.ok(&ec2.CreateTagsInput{Resources: []string{vpc}, Tags: []types.Tag{tag("a", "2")}})
	a.restart()
	want := []string{vpc + " a=2", vpc + " b=", subnet + " a=1", subnet + " b="}
	if diff := cmp.Diff(sortedText(want), sortedText(described(a))); diff != "" {
		t.Errorf("tags (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{subnet + " a=1"}, described(a, filter("resource-type", "subnet"), filter("tag:a", "1"))); diff != "" {
		t.Errorf("filtered tags (-want +got):\n%s", diff)
	}
	a.ok(&ec2.DeleteTagsInput{Resources: []string{vpc}, Tags: []types.Tag{tag("a", "1"), {Key: aws.String("b")}}})
	a.ok(&ec2.DeleteTagsInput{Resources: []string{subnet}})
	if diff := cmp.Diff([]string{vpc + " a=2"}, described(a)); diff != "" {
		t.Errorf("tags after deleting (-want +got):\n%s", diff)
	}
}

func TestTagRefusals(t *testing.T) {
	a := newAccount(t, ec2sim.Options{})
	vpc := a.vpc("10.0.0.0/16")
	for id, code := range map[string]string{
		"vpc-00000000000000fff":    "InvalidVpcID.NotFound",
		"subnet-00000000000000fff": "InvalidSubnetID.NotFound",
		"igw-00000000000000fff":    "InvalidInternetGatewayID.NotFound",
		"rtb-00000000000000fff":    "InvalidRouteTableID.NotFound",
		"sg-00000000000000fff":     "InvalidGroup.NotFound",
		"i-00000000000000fff":      "InvalidInstanceID.NotFound",
		"cow-00000000000000fff":    "InvalidID",
	} {
		a.refused(&ec2.CreateTagsInput{Resources: []string{vpc, id}, Tags: []types.Tag{tag("a", "1")}}, code)
	}
	a.refused(&ec2.CreateTagsInput{Resources: []string{vpc}, Tags: []types.Tag{tag("aws:mine", "1")}}, "InvalidParameterValue")
	a.refused(&ec2.CreateTagsInput{Resources: []string{vpc}, Tags: []types.Tag{tag("a", "1"), tag("a", "2")}}, "InvalidParameterValue")
	a.refused(&ec2.CreateTagsInput{Resources: []string{vpc}}, "MissingParameter")
	many := &ec2.CreateTagsInput{Resources: []string{vpc}}
	for n := range 50 {
		many.Tags = append(many.Tags, tag(fmt.Sprint(n), ""))
	}
	a.refused(&ec2.CreateTagsInput{Resources: []string{vpc}, Tags: append(many.Tags, tag("more", ""))}, "TagLimitExceeded")
	if left := described(a); len(left) > 0 {
		t.Errorf("refused calls set %v", left)
	}
	a.ok(many)
	a.refused(&ec2.CreateTagsInput{Resources: []string{vpc}, Tags: []types.Tag{tag("more", "")}}, "TagLimitExceeded")
}

// The search by tag shows what exists, and not what is only remembered.
func TestTaggedResources(t *testing.T) {
	a := newAccount(t, ec2sim.Options{})
	subnet := publicSubnet(a)
	nat := a.nat(subnet, a.address())
	a.ok(&ec2.CreateTagsInput{Resources: []string{nat, subnet}, Tags: []types.Tag{tag("owner", "me")}})
	arn := func(kind, id string) string { return "arn:aws:ec2:" + home + ":" + accountID + ":" + kind + "/" + id }
	mine := map[string]string{"owner": "me"}
	var source taggingsim.Taggable = a.ec2
	want := []taggingsim.TaggedResource{{ARN: arn("subnet", subnet), Tags: mine}, {ARN: arn("natgateway", nat), Tags: mine}}
	if diff := cmp.Diff(want, source.TaggedResources(home)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	a.ok(&ec2.DeleteNatGatewayInput{NatGatewayId: aws.String(nat)})
	a.pass(time.Second)
	if diff := cmp.Diff(want[:1], source.TaggedResources(home)); diff != "" {
		t.Errorf("after the NAT gateway is deleted (-want +got):\n%s", diff)
	}
	if other := source.TaggedResources("eu-west-1"); len(other) > 0 {
		t.Errorf("another region has %v", other)
	}
}
