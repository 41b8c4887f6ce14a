package ekssim

import (
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/asgsim"
)

// sizeOf returns the size of a new node group. Limits that were not asked for
// follow the desired size; without any, EKS makes two nodes.
func sizeOf(in *types.NodegroupScalingConfig) (asgsim.Size, error) {
	if in == nil {
		return asgsim.Size{Min: 1, Max: 2, Desired: 2}, nil
	}
	size := asgsim.Size{Desired: 2}
	switch {
	case in.DesiredSize != nil:
		size.Desired = *in.DesiredSize
	case in.MinSize != nil:
		size.Desired = *in.MinSize
	}
	size.Min, size.Max = min(1, size.Desired), max(2, size.Desired)
	return limited(size, in)
}

// resized is the size after an update: what is not mentioned stays, except
// that limits nobody asked for make way for the desired size.
func resized(current asgsim.Size, boundsAsked bool, in *types.NodegroupScalingConfig) (asgsim.Size, error) {
	size := current
	if in.DesiredSize != nil {
		size.Desired = *in.DesiredSize
	}
	if !boundsAsked {
		size.Min, size.Max = min(size.Min, size.Desired), max(size.Max, size.Desired)
	}
	return limited(size, in)
}

func limited(size asgsim.Size, in *types.NodegroupScalingConfig) (asgsim.Size, error) {
	if in.MinSize != nil {
		size.Min = *in.MinSize
	}
	if in.MaxSize != nil {
		size.Max = *in.MaxSize
	}
	switch {
	case size.Min < 0 || size.Max < 1:
		return size, invalidParameter("minSize %d must be at least 0 and maxSize %d at least 1", size.Min, size.Max)
	case size.Min > size.Max:
		return size, invalidParameter("Minimum capacity %d can't be greater than maximum capacity %d", size.Min, size.Max)
	case size.Desired < size.Min:
		return size, invalidParameter("Minimum capacity %d can't be greater than desired size %d", size.Min, size.Desired)
	case size.Desired > size.Max:
		return size, invalidParameter("desired capacity %d can't be greater than max size %d", size.Desired, size.Max)
	}
	return size, nil
}

func scalingView(size asgsim.Size) *types.NodegroupScalingConfig {
	return &types.NodegroupScalingConfig{
		MinSize: aws.Int32(size.Min), MaxSize: aws.Int32(size.Max), DesiredSize: aws.Int32(size.Desired),
	}
}

func scalingSize(view *types.NodegroupScalingConfig) asgsim.Size {
	return asgsim.Size{Min: *view.MinSize, Max: *view.MaxSize, Desired: *view.DesiredSize}
}

// relabelled returns the labels after the change, as a new map.
func relabelled(current map[string]string, in *types.UpdateLabelsPayload) (map[string]string, error) {
	out := map[string]string{}
	maps.Copy(out, current)
	for k, v := range in.AddOrUpdateLabels {
		prefix, _, prefixed := strings.Cut(k, "/")
		for _, reserved := range []string{"kubernetes.io", "k8s.io", "eks.amazonaws.com"} {
			if prefixed && (prefix == reserved || strings.HasSuffix(prefix, "."+reserved)) {
				return nil, invalidParameter("Label cannot contain reserved prefixes [kubernetes.io/, k8s.io/, eks.amazonaws.com/]: %s", k)
			}
		}
		if len(k) == 0 || len(k) > 63 || len(v) > 63 {
			return nil, invalidParameter("label %q=%q must have a key of 1 to 63 characters and a value of at most 63", k, v)
		}
		out[k] = v
	}
	for _, k := range in.RemoveLabels {
		delete(out, k)
	}
	return out, nil
}

// retainted returns the taints after the change; key and effect name a taint.
func retainted(current []types.Taint, in *types.UpdateTaintsPayload) ([]types.Taint, error) {
	out := slices.Clone(current)
	drop := func(t types.Taint) {
		out = slices.DeleteFunc(out, func(o types.Taint) bool {
			return aws.ToString(o.Key) == aws.ToString(t.Key) && o.Effect == t.Effect
		})
	}
	for _, t := range in.RemoveTaints {
		drop(t)
	}
	for _, t := range in.AddOrUpdateTaints {
		if aws.ToString(t.Key) == "" || kubernetesEffect(t.Effect) == "" {
			return nil, invalidParameter("taint %q with effect %q needs a key and one of the effects %s", aws.ToString(t.Key), t.Effect, t.Effect.Values())
		}
		drop(t)
		out = append(out, types.Taint{Key: t.Key, Effect: t.Effect, Value: aws.String(aws.ToString(t.Value))})
	}
	if len(out) > 50 {
		return nil, invalidParameter("a node group can have at most 50 taints")
	}
	return out, nil
}

func kubernetesEffect(effect types.TaintEffect) string {
	switch effect {
	case types.TaintEffectNoSchedule:
		return "NoSchedule"
	case types.TaintEffectNoExecute:
		return "NoExecute"
	case types.TaintEffectPreferNoSchedule:
		return "PreferNoSchedule"
	}
	return ""
}

func updateConfig(in *types.NodegroupUpdateConfig) (*types.NodegroupUpdateConfig, error) {
	number, percentage := in.MaxUnavailable, in.MaxUnavailablePercentage
	switch {
	case in.UpdateStrategy != "" && in.UpdateStrategy != types.NodegroupUpdateStrategiesDefault:
		return nil, notModelled("updateConfig.updateStrategy " + string(in.UpdateStrategy))
	case (number == nil) == (percentage == nil):
		return nil, invalidParameter("updateConfig needs either maxUnavailable or maxUnavailablePercentage")
	case number != nil && (*number < 1 || *number > 100), percentage != nil && (*percentage < 1 || *percentage > 100):
		return nil, invalidParameter("updateConfig values must be between 1 and 100")
	}
	return &types.NodegroupUpdateConfig{MaxUnavailable: number, MaxUnavailablePercentage: percentage, UpdateStrategy: in.UpdateStrategy}, nil
}

func repairConfig(in *types.NodeRepairConfig) *types.NodeRepairConfig {
	return &types.NodeRepairConfig{Enabled: aws.Bool(aws.ToBool(in.Enabled))}
}
