package ec2sim_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"

	"github.com/krops-go/krops/internal/rehearsal/awssim/ec2sim"
)

func TestLaunchTemplates(t *testing.T) {
	a := newAccount(t, ec2sim.Options{})
	data := &types.RequestLaunchTemplateData{
		InstanceType: types.InstanceTypeT3Medium, SecurityGroupIds: []string{"sg-1"},
		TagSpecifications: []types.LaunchTemplateTagSpecificationRequest{{
			ResourceType: types.ResourceTypeInstance, Tags: []types.Tag{{Key: aws.String("k"), Value: aws.String("v")}},
		}},
	}
	name := aws.String("nodes")
	create := &ec2.CreateLaunchTemplateInput{
		LaunchTemplateName: name, LaunchTemplateData: data, TagSpecifications: named(types.ResourceTypeLaunchTemplate, "nodes"),
	}
	made := must[ec2.CreateLaunchTemplateOutput](a, create).LaunchTemplate
	a.refused(create, "InvalidLaunchTemplateName.AlreadyExistsException")
	a.refused(&ec2.CreateLaunchTemplateInput{LaunchTemplateName: aws.String("a b"), LaunchTemplateData: data}, "InvalidLaunchTemplateName.MalformedException")
	a.ok(&ec2.CreateLaunchTemplateVersionInput{
		LaunchTemplateId: made.LaunchTemplateId, SourceVersion: aws.String("1"),
		LaunchTemplateData: &types.RequestLaunchTemplateData{InstanceType: types.InstanceTypeT3Large},
	})
	a.ok(&ec2.CreateLaunchTemplateVersionInput{LaunchTemplateName: name, LaunchTemplateData: &types.RequestLaunchTemplateData{}})
	a.restart()

	versions := func(in *ec2.DescribeLaunchTemplateVersionsInput) []string {
		t.Helper()
		in.LaunchTemplateName = name
		var list []string
		for _, v := range must[ec2.DescribeLaunchTemplateVersionsOutput](a, in).LaunchTemplateVersions {
			one := string(rune('0'+*v.VersionNumber)) + " " + string(v.LaunchTemplateData.InstanceType)
			if len(v.LaunchTemplateData.SecurityGroupIds) > 0 {
				one += " " + v.LaunchTemplateData.SecurityGroupIds[0]
			}
			list = append(list, one)
		}
		return list
	}
	for name, c := range map[string]struct {
		in   ec2.DescribeLaunchTemplateVersionsInput
		want []string
	}{
		"all, the newest first": {ec2.DescribeLaunchTemplateVersionsInput{}, []string{"3 ", "2 t3.large sg-1", "1 t3.medium sg-1"}},
		"the default one":       {ec2.DescribeLaunchTemplateVersionsInput{Versions: []string{"$Default"}}, []string{"1 t3.medium sg-1"}},
		"the latest":            {ec2.DescribeLaunchTemplateVersionsInput{Versions: []string{"$Latest"}}, []string{"3 "}},
		"a range":               {ec2.DescribeLaunchTemplateVersionsInput{MinVersion: aws.String("2"), MaxVersion: aws.String("2")}, []string{"2 t3.large sg-1"}},
	} {
		if diff := cmp.Diff(c.want, versions(&c.in)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	a.ok(&ec2.ModifyLaunchTemplateInput{LaunchTemplateName: name, DefaultVersion: aws.String("2")})
	deleted := must[ec2.DeleteLaunchTemplateVersionsOutput](a, &ec2.DeleteLaunchTemplateVersionsInput{
		LaunchTemplateName: name, Versions: []string{"1", "2", "9"},
	})
	if len(deleted.SuccessfullyDeletedLaunchTemplateVersions) != 1 || len(deleted.UnsuccessfullyDeletedLaunchTemplateVersions) != 2 {
		t.Errorf("got %+v", deleted)
	}
	found, err := a.ec2.LookupLaunchTemplate(home, "", "nodes", "")
	want := ec2sim.LaunchTemplate{
		ID: *made.LaunchTemplateId, Name: "nodes", Version: 2, InstanceType: "t3.large", SecurityGroups: []string{"sg-1"}, Tags: map[string]string{"k": "v"},
	}
	if diff := cmp.Diff(want, found); err != nil || diff != "" {
		t.Errorf("%v, (-want +got):\n%s", err, diff)
	}
	a.refused(&ec2.DescribeLaunchTemplateVersionsInput{LaunchTemplateName: name, Versions: []string{"1"}}, "InvalidLaunchTemplateId.VersionNotFound")

	list := must[ec2.DescribeLaunchTemplatesOutput](a, &ec2.DescribeLaunchTemplatesInput{Filters: []types.Filter{filter("tag:Name", "nodes")}}).LaunchTemplates
	if len(list) != 1 || *list[0].LatestVersionNumber != 3 || *list[0].DefaultVersionNumber != 2 {
		t.Errorf("got %+v", list)
	}
	a.ok(&ec2.DeleteLaunchTemplateInput{LaunchTemplateName: name})
	a.refused(&ec2.DescribeLaunchTemplatesInput{LaunchTemplateNames: []string{"nodes"}}, "InvalidLaunchTemplateName.NotFoundException")
	a.refused(&ec2.DeleteLaunchTemplateInput{LaunchTemplateId: made.LaunchTemplateId}, "InvalidLaunchTemplateId.NotFound")
}

func TestImagesForNodes(t *testing.T) {
	a := newAccount(t, ec2sim.Options{})
	out := must[ec2.DescribeImagesOutput](a, &ec2.DescribeImagesInput{Owners: []string{"amazon"}, Filters: []types.Filter{
		filter("name", "amazon-eks-node-al2023-arm64-standard-1.35-*"),
	}})
	if len(out.Images) != 1 || out.Images[0].Architecture != types.ArchitectureValuesArm64 {
		t.Fatalf("got %+v", out.Images)
	}
	byID := must[ec2.DescribeImagesOutput](a, &ec2.DescribeImagesInput{ImageIds: []string{*out.Images[0].ImageId}})
	if diff := cmp.Diff(*out.Images[0].Name, *byID.Images[0].Name); diff != "" {
		t.Error(diff)
	}
	if own := must[ec2.DescribeImagesOutput](a, &ec2.DescribeImagesInput{Owners: []string{"self"}}); len(own.Images) != 0 {
		t.Errorf("the account owns %+v", own.Images)
	}
	a.refused(&ec2.DescribeImagesInput{ImageIds: []string{"ami-00000000000000000"}}, "InvalidAMIID.NotFound")
}
