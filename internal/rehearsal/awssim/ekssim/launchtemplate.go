package ekssim

import (
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/ec2sim"
)

// lookupTemplate returns the launch template that a request for a node group
// names.
func (s *Service) lookupTemplate(region string, asked *types.LaunchTemplateSpecification) (ec2sim.LaunchTemplate, error) {
	id, name := aws.ToString(asked.Id), aws.ToString(asked.Name)
	if (id == "") == (name == "") {
		return ec2sim.LaunchTemplate{}, invalidParameter("You must specify either the launch template ID or the launch template name, but not both")
	}
	template, err := s.network.LookupLaunchTemplate(region, id, name, aws.ToString(asked.Version))
	if err != nil {
		return template, invalidParameter("%s", err)
	}
	return template, nil
}

// applyTemplate checks a request for a node group against its launch template
// and returns the image type, release and instance type that follow (EKS User
// Guide, "Customize managed nodes with launch templates").
func (s *Service) applyTemplate(region string, version kubernetesVersion, in *eks.CreateNodegroupInput, template ec2sim.LaunchTemplate) (image types.AMITypes, imageRelease, instanceType string, err error) {
	if in.DiskSize != nil {
		return "", "", "", invalidParameter("Disk size must be specified within the launch template.")
	}
	names := in.InstanceTypes
	if template.InstanceType != "" {
		if len(names) > 0 {
			return "", "", "", invalidParameter("You cannot specify both instance types in launch template and API request")
		}
		names = []string{template.InstanceType}
	}
	if template.ImageID == "" {
		image, names, err := s.chooseImage(region, version.Minor, in.AmiType, names)
		if err != nil {
			return "", "", "", err
		}
		imageRelease, err := release(image, version, in.ReleaseVersion)
		return image, imageRelease, names[0], err
	}
	if in.AmiType != "" && in.AmiType != types.AMITypesCustom || in.ReleaseVersion != nil || in.Version != nil {
		return "", "", "", invalidParameter("You cannot specify amiType, version or releaseVersion when the launch template names an image")
	}
	if len(names) == 0 {
		return "", "", "", invalidParameter("instance types must be given in the launch template or the request when the template names an image")
	}
	if _, ok := s.network.LookupInstanceType(region, names[0]); !ok {
		return "", "", "", invalidParameter("The following supplied instance types do not exist: %s", names)
	}
	return types.AMITypesCustom, template.ImageID, names[0], nil
}

func templateView(t ec2sim.LaunchTemplate) *types.LaunchTemplateSpecification {
	return &types.LaunchTemplateSpecification{
		Id: aws.String(t.ID), Name: aws.String(t.Name), Version: aws.String(strconv.FormatInt(t.Version, 10)),
	}
}

// retemplated is the launch template that an update of the node group asks
// for: another version of the one it has.
func (s *Service) retemplated(region string, ng *nodeGroup, asked *types.LaunchTemplateSpecification) (ec2sim.LaunchTemplate, error) {
	template, err := s.lookupTemplate(region, asked)
	if err != nil {
		return template, err
	}
	if ng.View.LaunchTemplate == nil || *ng.View.LaunchTemplate.Id != template.ID {
		return template, invalidParameter("Nodegroup %s can only be updated to another version of the launch template it was created with", *ng.View.NodegroupName)
	}
	return template, nil
}

// choice is what the instances of a node group are made from.
type choice struct {
	image        types.AMITypes
	release      string
	instanceType string
	shown        []string // instance types that the node group itself names
	groups       []string // security groups of a launch template
	template     *types.LaunchTemplateSpecification
}

// choose works out what a request for a node group asks for, by itself or
// through a launch template.
func (s *Service) choose(region string, version kubernetesVersion, in *eks.CreateNodegroupInput) (choice, error) {
	if in.LaunchTemplate == nil {
		image, names, err := s.chooseImage(region, version.Minor, in.AmiType, in.InstanceTypes)
		if err != nil {
			return choice{}, err
		}
		imageRelease, err := release(image, version, in.ReleaseVersion)
		return choice{image: image, release: imageRelease, instanceType: names[0], shown: names}, err
	}
	template, err := s.lookupTemplate(region, in.LaunchTemplate)
	if err != nil {
		return choice{}, err
	}
	c := choice{groups: template.SecurityGroups, template: templateView(template)}
	c.image, c.release, c.instanceType, err = s.applyTemplate(region, version, in, template)
	if template.InstanceType == "" {
		c.shown = []string{c.instanceType}
	}
	return c, err
}

// nodeGroups are the security groups of nodes: those of the launch template,
// or else the cluster's.
func (cl *cluster) nodeGroups(template []string) []string {
	if len(template) > 0 {
		return template
	}
	return []string{*cl.View.ResourcesVpcConfig.ClusterSecurityGroupId}
}
