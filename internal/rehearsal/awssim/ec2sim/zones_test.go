package ec2sim_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"

	"github.com/krops-go/krops/internal/rehearsal/awssim/ec2sim"
)

func TestZones(t *testing.T) {
	a := newAccount(t, ec2sim.Options{})
	names := func(in *ec2.DescribeAvailabilityZonesInput) []string {
		var names []string
		for _, z := range must[ec2.DescribeAvailabilityZonesOutput](a, in).AvailabilityZones {
			names = append(names, *z.ZoneName+" "+*z.ZoneId+" "+*z.ZoneType)
		}
		return names
	}
	plain := []types.Filter{filter("state", "available"), filter("opt-in-status", "opt-in-not-required")}
	want := []string{
		"eu-north-1a eun1-az1 availability-zone", "eu-north-1b eun1-az2 availability-zone", "eu-north-1c eun1-az3 availability-zone",
	}
	if diff := cmp.Diff(want, names(&ec2.DescribeAvailabilityZonesInput{Filters: plain})); diff != "" {
		t.Errorf("zones (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want[1:2], names(&ec2.DescribeAvailabilityZonesInput{ZoneNames: []string{home + "b"}})); diff != "" {
		t.Errorf("one zone (-want +got):\n%s", diff)
	}
	if got := names(&ec2.DescribeAvailabilityZonesInput{Filters: []types.Filter{filter("opt-in-status", "not-opted-in")}}); len(got) > 0 {
		t.Errorf("zones to opt in to: %v", got)
	}
	a.refused(&ec2.DescribeAvailabilityZonesInput{ZoneNames: []string{"eu-west-1a"}}, "InvalidParameterValue")
	byName := &ec2.DescribeRegionsInput{Filters: []types.Filter{filter("region-name", "eu-*")}}
	if got := must[ec2.DescribeRegionsOutput](a, byName).Regions; len(got) != 5 {
		t.Errorf("%d regions in Europe, want 5", len(got))
	}
}

func TestInstanceTypes(t *testing.T) {
	a := newAccount(t, ec2sim.Options{})
	if got, ok := a.ec2.LookupInstanceType(home, "t4g.medium"); !ok || got != (ec2sim.InstanceType{Name: "t4g.medium", VCPUs: 2, MemoryMiB: 4096, Architecture: "arm64"}) {
		t.Errorf("t4g.medium is %v, %v", got, ok)
	}
	if _, ok := a.ec2.LookupInstanceType(home, "t3a.medium"); ok {
		t.Error("eu-north-1 has no t3a")
	}
	if _, ok := a.ec2.LookupInstanceType("eu-west-1", "t3a.medium"); !ok {
		t.Error("eu-west-1 has t3a")
	}
	a.refused(&ec2.DescribeInstanceTypesInput{InstanceTypes: []types.InstanceType{"t3a.medium"}}, "InvalidInstanceType")
	info := must[ec2.DescribeInstanceTypesOutput](a, &ec2.DescribeInstanceTypesInput{InstanceTypes: []types.InstanceType{"m5.large"}}).InstanceTypes[0]
	if *info.VCpuInfo.DefaultVCpus != 2 || *info.VCpuInfo.DefaultCores != 1 || *info.MemoryInfo.SizeInMiB != 8192 {
		t.Errorf("m5.large is %+v", info)
	}
	seen := map[types.InstanceType]bool{}
	in := &ec2.DescribeInstanceTypesInput{MaxResults: aws.Int32(5), Filters: []types.Filter{filter("processor-info.supported-architecture", "arm64")}}
	for {
		out := must[ec2.DescribeInstanceTypesOutput](a, in)
		for _, i := range out.InstanceTypes {
			if seen[i.InstanceType] || i.ProcessorInfo.SupportedArchitectures[0] != types.ArchitectureTypeArm64 {
				t.Errorf("%s twice or of the wrong architecture", i.InstanceType)
			}
			seen[i.InstanceType] = true
		}
		if in.NextToken = out.NextToken; in.NextToken == nil {
			break
		}
	}
	if !seen["t4g.small"] || !seen["c6g.large"] || seen["t3.small"] {
		t.Errorf("arm types are %v", seen)
	}
	offered := func(region string) int {
		a.region = region
		return len(must[ec2.DescribeInstanceTypeOfferingsOutput](a, &ec2.DescribeInstanceTypeOfferingsInput{
			LocationType: types.LocationTypeAvailabilityZone, Filters: []types.Filter{filter("instance-type", "t3a.medium")},
		}).InstanceTypeOfferings)
	}
	if here, there := offered(home), offered("eu-west-1"); here != 0 || there != 3 {
		t.Errorf("t3a.medium is offered in %d zones of eu-north-1 and %d of eu-west-1, want 0 and 3", here, there)
	}
}

func TestWhatDoesNotExist(t *testing.T) {
	a := newAccount(t, ec2sim.Options{})
	owned := []types.Filter{filter("vpc-id", a.vpc("10.0.0.0/16")), filter("tag:owner", "me")}
	if got := must[ec2.DescribeVpcEndpointsOutput](a, &ec2.DescribeVpcEndpointsInput{Filters: owned}).VpcEndpoints; len(got) > 0 {
		t.Errorf("endpoints: %v", got)
	}
	if got := must[ec2.DescribeVolumesOutput](a, &ec2.DescribeVolumesInput{Filters: owned[1:]}).Volumes; len(got) > 0 {
		t.Errorf("volumes: %v", got)
	}
	a.refused(&ec2.DescribeVolumesInput{VolumeIds: []string{"vol-00000000000000fff"}}, "InvalidVolume.NotFound")
	failed := must[ec2.DeleteVpcEndpointsOutput](a, &ec2.DeleteVpcEndpointsInput{VpcEndpointIds: []string{"vpce-00000000000000fff"}}).Unsuccessful
	if len(failed) != 1 || *failed[0].Error.Code != "InvalidVpcEndpointId.NotFound" {
		t.Errorf("deleting an endpoint that is not there: %v", failed)
	}
	attributes := must[ec2.DescribeAccountAttributesOutput](a, &ec2.DescribeAccountAttributesInput{
		AttributeNames: []types.AccountAttributeName{types.AccountAttributeNameDefaultVpc},
	}).AccountAttributes
	if len(attributes) != 1 || *attributes[0].AttributeValues[0].AttributeValue != "none" {
		t.Errorf("default VPC: %v", attributes)
	}
}
