package ekssim

import (
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/asgsim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

func (s *Service) nodeGroupOperations() []service.Operation {
	return []service.Operation{
		service.Write("CreateNodegroup", s.createNodegroup, "ClusterName", "NodegroupName", "NodeRole", "Subnets", "AmiType",
			"CapacityType", "ClientRequestToken", "DiskSize", "InstanceTypes", "Labels", "LaunchTemplate", "NodeRepairConfig", "ReleaseVersion",
			"ScalingConfig", "Tags", "Taints", "UpdateConfig", "Version"),
		service.Read("DescribeNodegroup", s.describeNodegroup, "ClusterName", "NodegroupName"),
		service.Read("ListNodegroups", s.listNodegroups, "ClusterName", "MaxResults", "NextToken"),
		service.Write("UpdateNodegroupConfig", s.updateNodegroupConfig, "ClusterName", "NodegroupName", "ClientRequestToken",
			"Labels", "NodeRepairConfig", "ScalingConfig", "Taints", "UpdateConfig"),
		service.Write("UpdateNodegroupVersion", s.updateNodegroupVersion, "ClusterName", "NodegroupName", "ClientRequestToken",
			"LaunchTemplate", "ReleaseVersion", "Version"),
		service.Write("DeleteNodegroup", s.deleteNodegroup, "ClusterName", "NodegroupName"),
	}
}

func (s *Service) createNodegroup(c *service.Call, in *eks.CreateNodegroupInput) (*eks.CreateNodegroupOutput, error) {
	cl, err := s.lookup(c.Region, in.ClusterName)
	if err != nil {
		return nil, err
	}
	name, err := checkName("nodegroupName", in.NodegroupName, 63)
	if err != nil {
		return nil, err
	}
	if ng := cl.NodeGroups[name]; ng != nil {
		if token := aws.ToString(in.ClientRequestToken); token == "" || token != ng.Token {
			return nil, inUse("NodeGroup already exists with name %s and cluster name %s", name, cl.ID.Name)
		}
		view := ng.View
		return &eks.CreateNodegroupOutput{Nodegroup: &view}, nil
	}
	if err := cl.requireActive("create nodegroup " + name); err != nil {
		return nil, err
	}
	ng, spec, err := s.plan(c, cl, name, in)
	if err != nil {
		return nil, err
	}
	if err := s.roles.CreateOwnedInstanceProfile(c.World, cl.Account, ng.Profile, *ng.View.NodeRole); err != nil {
		return nil, invalidParameter("%s", err)
	}
	if err := s.groups.Create(c.World, spec); err != nil {
		s.roles.DeleteOwnedInstanceProfile(ng.Profile)
		return nil, invalidParameter("%s", err)
	}
	cl.NodeGroups[name] = ng
	if cl.apiMode() {
		cl.admit(c.World.Now(), *ng.View.NodeRole, linuxEntry)
	}
	if err := s.groups.Launch(c.Region, ng.Group, int(spec.Size.Desired)); err != nil {
		cl.failNodeGroup(ng, types.NodegroupIssueCodeAsgInstanceLaunchFailures, err)
	} else {
		s.converge(c.World, cl, ng)
	}
	view := ng.View
	return &eks.CreateNodegroupOutput{Nodegroup: &view}, nil
}

// plan checks a request for a node group and works out what it asks for.
func (s *Service) plan(c *service.Call, cl *cluster, name string, in *eks.CreateNodegroupInput) (*nodeGroup, asgsim.Spec, error) {
	var none asgsim.Spec
	if err := s.checkRole(in.NodeRole, "ec2.amazonaws.com"); err != nil {
		return nil, none, err
	}
	if len(in.Subnets) == 0 {
		return nil, none, invalidParameter("subnets must be given")
	}
	subnets, err := s.lookupSubnets(c.Region, in.Subnets)
	if err != nil {
		return nil, none, err
	}
	for _, subnet := range subnets {
		if subnet.VPC != *cl.View.ResourcesVpcConfig.VpcId {
			return nil, none, invalidParameter("Subnet %s is not in the VPC of cluster %s", subnet.ID, cl.ID.Name)
		}
	}
	version, err := cl.nodeVersion(withDefault(in.Version, *cl.View.Version))
	if err != nil {
		return nil, none, err
	}
	chosen, err := s.choose(c.Region, version, in)
	if err != nil {
		return nil, none, err
	}
	size, err := sizeOf(in.ScalingConfig)
	if err != nil {
		return nil, none, err
	}
	now, uuid := c.World.Now().UTC(), newUUID(c.World)
	ng := &nodeGroup{
		Token: aws.ToString(in.ClientRequestToken), Group: "eks-" + name + "-" + uuid, Profile: "eks-" + uuid,
		BoundsAsked: in.ScalingConfig != nil && in.ScalingConfig.MinSize != nil && in.ScalingConfig.MaxSize != nil,
	}
	ng.View = types.Nodegroup{
		ClusterName: cl.View.Name, NodegroupName: aws.String(name), NodegroupArn: aws.String(cl.arn("nodegroup", name, uuid)),
		Status: types.NodegroupStatusCreating, CreatedAt: aws.Time(now), ModifiedAt: aws.Time(now),
		Version: aws.String(version.Minor), ReleaseVersion: aws.String(chosen.release),
		AmiType: chosen.image, InstanceTypes: chosen.shown, LaunchTemplate: chosen.template, CapacityType: in.CapacityType, DiskSize: in.DiskSize,
		NodeRole: in.NodeRole, Subnets: slices.Clone(in.Subnets),
		Resources:        &types.NodegroupResources{AutoScalingGroups: []types.AutoScalingGroup{{Name: aws.String(ng.Group)}}},
		Health:           &types.NodegroupHealth{Issues: []types.Issue{}},
		ScalingConfig:    scalingView(size),
		UpdateConfig:     &types.NodegroupUpdateConfig{MaxUnavailable: aws.Int32(1)},
		NodeRepairConfig: &types.NodeRepairConfig{Enabled: aws.Bool(false)},
	}
	if ng.View.DiskSize == nil && chosen.template == nil {
		ng.View.DiskSize = aws.Int32(20)
	}
	switch ng.View.CapacityType {
	case "":
		ng.View.CapacityType = types.CapacityTypesOnDemand
	case types.CapacityTypesOnDemand, types.CapacityTypesSpot:
	default:
		return nil, none, notModelled("capacityType " + string(in.CapacityType))
	}
	if ng.View.Tags, err = tagged(nil, in.Tags); err != nil {
		return nil, none, err
	}
	if ng.View.Labels, err = relabelled(nil, &types.UpdateLabelsPayload{AddOrUpdateLabels: in.Labels}); err != nil {
		return nil, none, err
	}
	if ng.View.Taints, err = retainted(nil, &types.UpdateTaintsPayload{AddOrUpdateTaints: in.Taints}); err != nil {
		return nil, none, err
	}
	if in.UpdateConfig != nil {
		if ng.View.UpdateConfig, err = updateConfig(in.UpdateConfig); err != nil {
			return nil, none, err
		}
	}
	if in.NodeRepairConfig != nil {
		ng.View.NodeRepairConfig = repairConfig(in.NodeRepairConfig)
	}
	return ng, asgsim.Spec{
		Region: c.Region, Account: cl.Account, Name: ng.Group, Size: size, Subnets: subnets, InstanceType: chosen.instanceType,
		SecurityGroups: cl.nodeGroups(chosen.groups),
		Tags: map[string]string{
			"eks:cluster-name": cl.ID.Name, "eks:nodegroup-name": name, "kubernetes.io/cluster/" + cl.ID.Name: "owned",
			"k8s.io/cluster-autoscaler/enabled": "true", "k8s.io/cluster-autoscaler/" + cl.ID.Name: "owned",
		},
	}, nil
}

// nodeVersion is a version that nodes of the cluster can have.
func (cl *cluster) nodeVersion(minor string) (kubernetesVersion, error) {
	version, err := lookupVersion(minor)
	if err != nil {
		return version, err
	}
	if versionIndex(minor) > versionIndex(*cl.View.Version) {
		return version, invalidParameter("Requested Nodegroup version %s is newer than the cluster's, %s", minor, *cl.View.Version)
	}
	return version, nil
}

func (s *Service) describeNodegroup(c *service.Call, in *eks.DescribeNodegroupInput) (*eks.DescribeNodegroupOutput, error) {
	if _, _, err := s.lookupNodeGroup(c.Region, in.ClusterName, in.NodegroupName); err != nil {
		return nil, err
	}
	if c.Waiter {
		c.Hold(func() bool {
			_, ng, err := s.lookupNodeGroup(c.Region, in.ClusterName, in.NodegroupName)
			return err != nil || ng.atRest()
		})
	}
	_, ng, err := s.lookupNodeGroup(c.Region, in.ClusterName, in.NodegroupName)
	if err != nil {
		return nil, err
	}
	view := ng.View
	return &eks.DescribeNodegroupOutput{Nodegroup: &view}, nil
}

func (ng *nodeGroup) atRest() bool {
	switch ng.View.Status {
	case types.NodegroupStatusCreating, types.NodegroupStatusUpdating, types.NodegroupStatusDeleting:
		return false
	}
	return true
}

func (s *Service) listNodegroups(c *service.Call, in *eks.ListNodegroupsInput) (*eks.ListNodegroupsOutput, error) {
	cl, err := s.lookup(c.Region, in.ClusterName)
	if err != nil {
		return nil, err
	}
	part, next, err := page(slices.Sorted(maps.Keys(cl.NodeGroups)), in.NextToken, in.MaxResults)
	if err != nil {
		return nil, err
	}
	return &eks.ListNodegroupsOutput{Nodegroups: part, NextToken: next}, nil
}

func (s *Service) deleteNodegroup(c *service.Call, in *eks.DeleteNodegroupInput) (*eks.DeleteNodegroupOutput, error) {
	cl, ng, err := s.lookupNodeGroup(c.Region, in.ClusterName, in.NodegroupName)
	if err != nil {
		return nil, err
	}
	if !ng.atRest() {
		return nil, inUse("Cannot delete nodegroup %s because it has status %s", *ng.View.NodegroupName, ng.View.Status)
	}
	ng.View.Status = types.NodegroupStatusDeleting
	ng.View.Health = &types.NodegroupHealth{Issues: []types.Issue{}}
	ng.Leaving = s.instanceIDs(cl, ng)
	s.converge(c.World, cl, ng)
	view := ng.View
	return &eks.DeleteNodegroupOutput{Nodegroup: &view}, nil
}

// removeNodeGroup takes what is left of a node group out of the account.
func (s *Service) removeNodeGroup(cl *cluster, ng *nodeGroup) error {
	if err := s.groups.Delete(cl.ID.Region, ng.Group); err != nil {
		return err
	}
	s.roles.DeleteOwnedInstanceProfile(ng.Profile)
	delete(cl.NodeGroups, *ng.View.NodegroupName)
	role := *ng.View.NodeRole
	if e := cl.AccessEntries[role]; e != nil && *e.View.Type == linuxEntry && !cl.usesRole(role) {
		delete(cl.AccessEntries, role)
	}
	return nil
}

func (cl *cluster) usesRole(role string) bool {
	for _, ng := range cl.NodeGroups {
		if *ng.View.NodeRole == role {
			return true
		}
	}
	return false
}

// failNodeGroup ends whatever the node group was doing with a failure.
func (cl *cluster) failNodeGroup(ng *nodeGroup, code types.NodegroupIssueCode, err error) {
	switch ng.View.Status {
	case types.NodegroupStatusCreating:
		ng.View.Status = types.NodegroupStatusCreateFailed
	case types.NodegroupStatusDeleting:
		ng.View.Status = types.NodegroupStatusDeleteFailed
	default: // a failed update leaves the node group in service
		ng.View.Status = types.NodegroupStatusActive
		cl.end(*ng.View.NodegroupName, "", err)
	}
	ng.View.Health = &types.NodegroupHealth{Issues: []types.Issue{{
		Code: code, Message: aws.String(err.Error()), ResourceIds: []string{ng.Group},
	}}}
	ng.Pending, ng.Leaving, ng.Relabel, ng.Due = nil, nil, false, time.Time{}
}

var errNoGroup = errors.New("its Auto Scaling group is gone")
