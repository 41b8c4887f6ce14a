package ekssim_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/google/go-cmp/cmp"

	"github.com/krops-go/krops/internal/rehearsal/awssim/ec2sim"
)

func TestNodegroupWithALaunchTemplate(t *testing.T) {
	e := newEnv(t)
	e.createCluster()
	e.network.templates = map[string]ec2sim.LaunchTemplate{
		"nodes/1": {ID: "lt-1", Name: "nodes", Version: 1, InstanceType: "t3.medium", SecurityGroups: []string{"sg-nodes"}},
		"nodes/2": {ID: "lt-1", Name: "nodes", Version: 2, InstanceType: "t3.medium"},
		"other/1": {ID: "lt-2", Name: "other", Version: 1},
		"own/1":   {ID: "lt-3", Name: "own", Version: 1, InstanceType: "t3.medium", ImageID: "ami-1"},
	}
	input := func(template, version string) *eks.CreateNodegroupInput {
		in := nodegroupInput(1)
		in.InstanceTypes = nil
		in.LaunchTemplate = &types.LaunchTemplateSpecification{Name: aws.String(template), Version: aws.String(version)}
		return in
	}
	for name, change := range map[string]func(*eks.CreateNodegroupInput){
		"a template that is not there": func(in *eks.CreateNodegroupInput) { in.LaunchTemplate.Name = aws.String("none") },
		"neither id nor name":          func(in *eks.CreateNodegroupInput) { in.LaunchTemplate.Name = nil },
		"instance types twice":         func(in *eks.CreateNodegroupInput) { in.InstanceTypes = []string{"t3.medium"} },
		"a disk size":                  func(in *eks.CreateNodegroupInput) { in.DiskSize = aws.Int32(20) },
		"an image and an image type":   func(in *eks.CreateNodegroupInput) { in.LaunchTemplate.Name = aws.String("own") },
	} {
		t.Run("refuses "+name, func(t *testing.T) {
			in := input("nodes", "1")
			change(in)
			_, err := call[eks.CreateNodegroupOutput](e, e.eks, "CreateNodegroup", in)
			refused(t, err, "InvalidParameterException")
		})
	}
	must[eks.CreateNodegroupOutput](e, e.eks, "CreateNodegroup", input("nodes", "1"))
	ng := e.awaitNodegroup()
	if ng.Status != types.NodegroupStatusActive || *ng.LaunchTemplate.Id != "lt-1" || *ng.LaunchTemplate.Version != "1" || len(ng.InstanceTypes) != 0 || ng.DiskSize != nil {
		t.Errorf("got %s, template %+v, types %v, disk %v", ng.Status, ng.LaunchTemplate, ng.InstanceTypes, ng.DiskSize)
	}
	if diff := cmp.Diff([]string{"t3.medium[sg-nodes]"}, e.network.launched); diff != "" {
		t.Errorf("launched (-want +got):\n%s", diff)
	}
	before := e.instances()

	_, err := call[eks.UpdateNodegroupVersionOutput](e, e.eks, "UpdateNodegroupVersion", &eks.UpdateNodegroupVersionInput{
		ClusterName: aws.String("c1"), NodegroupName: aws.String("pool"),
		LaunchTemplate: &types.LaunchTemplateSpecification{Name: aws.String("other"), Version: aws.String("1")},
	})
	refused(t, err, "InvalidParameterException")
	must[eks.UpdateNodegroupVersionOutput](e, e.eks, "UpdateNodegroupVersion", &eks.UpdateNodegroupVersionInput{
		ClusterName: aws.String("c1"), NodegroupName: aws.String("pool"),
		LaunchTemplate: &types.LaunchTemplateSpecification{Name: aws.String("nodes"), Version: aws.String("2")},
	})
	if ng := e.awaitNodegroup(); *ng.LaunchTemplate.Version != "2" {
		t.Errorf("the version is %s", *ng.LaunchTemplate.Version)
	}
	if after := e.instances(); len(after) != 1 || after[0] == before[0] {
		t.Errorf("instances were %v and are %v", before, after)
	}
}

func TestNodegroupWithAnImageOfItsOwn(t *testing.T) {
	e := newEnv(t)
	e.createCluster()
	e.network.templates = map[string]ec2sim.LaunchTemplate{"own/1": {ID: "lt-3", Name: "own", Version: 1, InstanceType: "t3.medium", ImageID: "ami-1"}}
	in := nodegroupInput(1)
	in.InstanceTypes, in.AmiType = nil, ""
	in.LaunchTemplate = &types.LaunchTemplateSpecification{Name: aws.String("own"), Version: aws.String("1")}
	must[eks.CreateNodegroupOutput](e, e.eks, "CreateNodegroup", in)
	if ng := e.awaitNodegroup(); ng.AmiType != types.AMITypesCustom || *ng.ReleaseVersion != "ami-1" {
		t.Errorf("image type %s, release %s", ng.AmiType, *ng.ReleaseVersion)
	}
}
