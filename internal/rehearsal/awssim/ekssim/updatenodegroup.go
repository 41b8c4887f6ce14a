package ekssim

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// requireIdle refuses a change to a node group, or to its cluster, under way.
func (cl *cluster) requireIdle(ng *nodeGroup, action string) error {
	if err := cl.requireActive(action); err != nil {
		return err
	}
	if ng.View.Status == types.NodegroupStatusActive {
		return nil
	}
	return inUse("Nodegroup %s cannot be updated as it currently has status %s", *ng.View.NodegroupName, ng.View.Status)
}

func (s *Service) updateNodegroupConfig(c *service.Call, in *eks.UpdateNodegroupConfigInput) (*eks.UpdateNodegroupConfigOutput, error) {
	cl, ng, err := s.lookupNodeGroup(c.Region, in.ClusterName, in.NodegroupName)
	if err != nil {
		return nil, err
	}
	name := *ng.View.NodegroupName
	if u := cl.replayed(in.ClientRequestToken, name, ""); u != nil {
		return &eks.UpdateNodegroupConfigOutput{Update: u}, nil
	}
	if err := cl.requireIdle(ng, "update nodegroup "+name); err != nil {
		return nil, err
	}
	pending, params, err := ng.configured(in)
	if err != nil {
		return nil, err
	}
	if in.ScalingConfig != nil && in.ScalingConfig.MinSize != nil && in.ScalingConfig.MaxSize != nil {
		ng.BoundsAsked = true
	}
	ng.View.Status = types.NodegroupStatusUpdating
	ng.Pending = &pending
	ng.Relabel = in.Labels != nil || in.Taints != nil
	u := cl.begin(c.World, update{NodeGroup: name, Token: aws.ToString(in.ClientRequestToken)}, types.UpdateTypeConfigUpdate, params...)
	s.rescale(c, cl, ng)
	return &eks.UpdateNodegroupConfigOutput{Update: cl.shown(u)}, nil
}

// configured is the node group's view after the request.
func (ng *nodeGroup) configured(in *eks.UpdateNodegroupConfigInput) (types.Nodegroup, []types.UpdateParam, error) {
	pending := ng.View
	var params []types.UpdateParam
	var err error
	if in.ScalingConfig != nil {
		size, err := resized(scalingSize(pending.ScalingConfig), ng.BoundsAsked, in.ScalingConfig)
		if err != nil {
			return pending, nil, err
		}
		pending.ScalingConfig = scalingView(size)
		params = append(params, param(types.UpdateParamTypeMinSize, size.Min), param(types.UpdateParamTypeMaxSize, size.Max),
			param(types.UpdateParamTypeDesiredSize, size.Desired))
	}
	if in.Labels != nil {
		if pending.Labels, err = relabelled(pending.Labels, in.Labels); err != nil {
			return pending, nil, err
		}
		params = append(params, param(types.UpdateParamTypeLabelsToAdd, in.Labels.AddOrUpdateLabels),
			param(types.UpdateParamTypeLabelsToRemove, in.Labels.RemoveLabels))
	}
	if in.Taints != nil {
		if pending.Taints, err = retainted(pending.Taints, in.Taints); err != nil {
			return pending, nil, err
		}
		params = append(params, param(types.UpdateParamTypeTaintsToAdd, spelled(in.Taints.AddOrUpdateTaints)),
			param(types.UpdateParamTypeTaintsToRemove, spelled(in.Taints.RemoveTaints)))
	}
	if in.UpdateConfig != nil {
		if pending.UpdateConfig, err = updateConfig(in.UpdateConfig); err != nil {
			return pending, nil, err
		}
		if n := pending.UpdateConfig.MaxUnavailable; n != nil {
			params = append(params, param(types.UpdateParamTypeMaxUnavailable, *n))
		} else {
			params = append(params, param(types.UpdateParamTypeMaxUnavailablePercentage, *pending.UpdateConfig.MaxUnavailablePercentage))
		}
	}
	if in.NodeRepairConfig != nil {
		pending.NodeRepairConfig = repairConfig(in.NodeRepairConfig)
		params = append(params, param(types.UpdateParamTypeNodeRepairEnabled, *pending.NodeRepairConfig.Enabled))
	}
	return pending, params, nil
}

func spelled(taints []types.Taint) []string {
	var out []string
	for _, t := range taints {
		out = append(out, fmt.Sprintf("%s=%s:%s", aws.ToString(t.Key), aws.ToString(t.Value), t.Effect))
	}
	return out
}

// shown is the update as it stands now.
func (cl *cluster) shown(u *types.Update) *types.Update {
	for _, known := range cl.Updates {
		if *known.View.Id == *u.Id {
			view := known.View
			return &view
		}
	}
	return u
}

// rescale brings the number of instances to the pending desired size.
func (s *Service) rescale(c *service.Call, cl *cluster, ng *nodeGroup) {
	size := scalingSize(ng.Pending.ScalingConfig)
	have := len(s.instanceIDs(cl, ng))
	err := s.groups.SetSize(c.Region, ng.Group, size)
	switch want := int(size.Desired); {
	case err != nil:
	case want > have:
		err = s.groups.Launch(c.Region, ng.Group, want-have)
	case want < have:
		ng.Leaving = s.groups.Surplus(c.Region, ng.Group, have-want)
	}
	if err != nil {
		cl.failNodeGroup(ng, types.NodegroupIssueCodeAsgInstanceLaunchFailures, err)
		return
	}
	s.converge(c.World, cl, ng)
}

// updateNodegroupVersion replaces every instance: new ones join before the old
// ones leave.
func (s *Service) updateNodegroupVersion(c *service.Call, in *eks.UpdateNodegroupVersionInput) (*eks.UpdateNodegroupVersionOutput, error) {
	cl, ng, err := s.lookupNodeGroup(c.Region, in.ClusterName, in.NodegroupName)
	if err != nil {
		return nil, err
	}
	name := *ng.View.NodegroupName
	if u := cl.replayed(in.ClientRequestToken, name, ""); u != nil {
		return &eks.UpdateNodegroupVersionOutput{Update: u}, nil
	}
	if err := cl.requireIdle(ng, "update nodegroup "+name); err != nil {
		return nil, err
	}
	version, err := cl.nodeVersion(withDefault(in.Version, *ng.View.Version))
	if err != nil {
		return nil, err
	}
	if versionIndex(version.Minor) < versionIndex(*ng.View.Version) {
		return nil, invalidParameter("Requested Nodegroup version %s is older than its version, %s", version.Minor, *ng.View.Version)
	}
	pending := ng.View
	var imageRelease string
	var params []types.UpdateParam
	if in.LaunchTemplate != nil {
		template, err := s.retemplated(c.Region, ng, in.LaunchTemplate)
		if err != nil {
			return nil, err
		}
		pending.LaunchTemplate = templateView(template)
		params = append(params, param(types.UpdateParamTypeLaunchTemplateName, template.Name), param(types.UpdateParamTypeLaunchTemplateVersion, template.Version))
		if imageRelease = template.ImageID; imageRelease == "" {
			imageRelease = *ng.View.ReleaseVersion
		}
		if err := s.groups.SetLaunch(c.Region, ng.Group, template.InstanceType, cl.nodeGroups(template.SecurityGroups)); err != nil {
			return nil, err
		}
	} else if imageRelease, err = release(ng.View.AmiType, version, in.ReleaseVersion); err != nil {
		return nil, err
	}
	pending.Version, pending.ReleaseVersion = aws.String(version.Minor), aws.String(imageRelease)
	old := s.instanceIDs(cl, ng)
	ng.View.Status = types.NodegroupStatusUpdating
	ng.Pending = &pending
	u := cl.begin(c.World, update{NodeGroup: name, Token: aws.ToString(in.ClientRequestToken)}, types.UpdateTypeVersionUpdate,
		append(params, param(types.UpdateParamTypeVersion, version.Minor), param(types.UpdateParamTypeReleaseVersion, imageRelease))...)
	if err := s.groups.Launch(c.Region, ng.Group, len(old)); err != nil {
		cl.failNodeGroup(ng, types.NodegroupIssueCodeAsgInstanceLaunchFailures, err)
	} else {
		ng.Leaving = old
		s.converge(c.World, cl, ng)
	}
	return &eks.UpdateNodegroupVersionOutput{Update: cl.shown(u)}, nil
}
