package ekssim

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// updateClusterVersion changes what EKS says of the cluster. The API server
// that runs stays the one it is.
func (s *Service) updateClusterVersion(c *service.Call, in *eks.UpdateClusterVersionInput) (*eks.UpdateClusterVersionOutput, error) {
	cl, err := s.lookup(c.Region, in.Name)
	if err != nil {
		return nil, err
	}
	if u := cl.replayed(in.ClientRequestToken, "", ""); u != nil {
		return &eks.UpdateClusterVersionOutput{Update: u}, nil
	}
	if err := cl.requireActive(string(types.UpdateTypeVersionUpdate)); err != nil {
		return nil, err
	}
	version, err := lookupVersion(aws.ToString(in.Version))
	if err != nil {
		return nil, err
	}
	current := *cl.View.Version
	switch {
	case version.Minor == current:
		return nil, invalidParameter("Cluster is already at the desired configuration with version: %s", current)
	case versionIndex(version.Minor) != versionIndex(current)+1:
		return nil, invalidParameter("Unsupported Kubernetes minor version update from %s to %s", current, version.Minor)
	}
	pending := cl.View
	pending.Version, pending.PlatformVersion = aws.String(version.Minor), aws.String(version.Platform)
	s.change(c, cl, pending, true)
	u := cl.begin(c.World, update{Token: aws.ToString(in.ClientRequestToken)}, types.UpdateTypeVersionUpdate,
		param(types.UpdateParamTypeVersion, version.Minor), param(types.UpdateParamTypePlatformVersion, version.Platform))
	return &eks.UpdateClusterVersionOutput{Update: u}, nil
}

// updateClusterConfig takes one kind of change per call ("EKS API,
// UpdateClusterConfig").
func (s *Service) updateClusterConfig(c *service.Call, in *eks.UpdateClusterConfigInput) (*eks.UpdateClusterConfigOutput, error) {
	cl, err := s.lookup(c.Region, in.Name)
	if err != nil {
		return nil, err
	}
	if u := cl.replayed(in.ClientRequestToken, "", ""); u != nil {
		return &eks.UpdateClusterConfigOutput{Update: u}, nil
	}
	asked := 0
	for _, given := range []bool{in.AccessConfig != nil, in.Logging != nil, in.ResourcesVpcConfig != nil, in.UpgradePolicy != nil,
		in.ZonalShiftConfig != nil} {
		if given {
			asked++
		}
	}
	if asked != 1 {
		return nil, invalidParameter("Only one type of update can be allowed, %d were requested", asked)
	}
	pending := cl.View
	var kind types.UpdateType
	var params []types.UpdateParam
	switch {
	case in.AccessConfig != nil:
		kind, params, err = withAccess(&pending, in.AccessConfig)
	case in.Logging != nil:
		kind, params, err = withLogging(&pending, in.Logging)
	case in.ResourcesVpcConfig != nil:
		kind, params, err = withEndpointAccess(&pending, in.ResourcesVpcConfig)
	case in.ZonalShiftConfig != nil:
		kind, params, err = withZonalShift(&pending, in.ZonalShiftConfig)
	default:
		kind, params, err = withUpgradePolicy(&pending, in.UpgradePolicy)
	}
	if err != nil {
		return nil, err
	}
	if err := cl.requireActive(string(kind)); err != nil {
		return nil, err
	}
	s.change(c, cl, pending, in.AccessConfig != nil)
	u := cl.begin(c.World, update{Token: aws.ToString(in.ClientRequestToken)}, kind, params...)
	return &eks.UpdateClusterConfigOutput{Update: u}, nil
}

// withAccess allows CONFIG_MAP to API_AND_CONFIG_MAP to API, and no way back
// ("EKS user guide, Change authentication mode to use access entries").
func withAccess(pending *types.Cluster, in *types.UpdateAccessConfigRequest) (types.UpdateType, []types.UpdateParam, error) {
	from, to := pending.AccessConfig.AuthenticationMode, in.AuthenticationMode
	order := []types.AuthenticationMode{types.AuthenticationModeConfigMap, types.AuthenticationModeApiAndConfigMap, types.AuthenticationModeApi}
	if slices.Index(order, to) != slices.Index(order, from)+1 {
		return "", nil, invalidParameter("Unsupported authentication mode update from %s to %s", from, to)
	}
	access := *pending.AccessConfig
	access.AuthenticationMode = to
	pending.AccessConfig = &access
	return types.UpdateTypeAccessConfigUpdate, []types.UpdateParam{param(types.UpdateParamTypeAuthenticationMode, to)}, nil
}

func withLogging(pending *types.Cluster, in *types.Logging) (types.UpdateType, []types.UpdateParam, error) {
	merged, err := mergedLogging(pending.Logging, in)
	if err != nil {
		return "", nil, err
	}
	if sameLogging(merged, pending.Logging) {
		return "", nil, invalidParameter("No changes needed for the logging config provided")
	}
	pending.Logging = merged
	var on []types.LogType
	for _, setup := range merged.ClusterLogging {
		if *setup.Enabled {
			on = setup.Types
		}
	}
	return types.UpdateTypeLoggingUpdate, []types.UpdateParam{param(types.UpdateParamTypeClusterLogging, on)}, nil
}

func withEndpointAccess(pending *types.Cluster, in *types.VpcConfigRequest) (types.UpdateType, []types.UpdateParam, error) {
	if len(in.SubnetIds) > 0 || len(in.SecurityGroupIds) > 0 {
		return "", nil, notModelled("an update of resourcesVpcConfig.subnetIds or securityGroupIds")
	}
	current := pending.ResourcesVpcConfig
	wanted, err := withEndpoints(current, in)
	if err != nil {
		return "", nil, err
	}
	if wanted.EndpointPublicAccess == current.EndpointPublicAccess && wanted.EndpointPrivateAccess == current.EndpointPrivateAccess &&
		slices.Equal(wanted.PublicAccessCidrs, current.PublicAccessCidrs) {
		return "", nil, invalidParameter("Cluster is already at the desired configuration with endpointPrivateAccess: %t , endpointPublicAccess: %t, and Public Endpoint Restrictions: %s",
			current.EndpointPrivateAccess, current.EndpointPublicAccess, current.PublicAccessCidrs)
	}
	pending.ResourcesVpcConfig = wanted
	return types.UpdateTypeEndpointAccessUpdate, []types.UpdateParam{
		param(types.UpdateParamTypeEndpointPublicAccess, wanted.EndpointPublicAccess),
		param(types.UpdateParamTypeEndpointPrivateAccess, wanted.EndpointPrivateAccess),
		param(types.UpdateParamTypePublicAccessCidrs, wanted.PublicAccessCidrs),
	}, nil
}

func withUpgradePolicy(pending *types.Cluster, in *types.UpgradePolicyRequest) (types.UpdateType, []types.UpdateParam, error) {
	if !slices.Contains(in.SupportType.Values(), in.SupportType) {
		return "", nil, invalidParameter("unknown upgradePolicy.supportType %q", in.SupportType)
	}
	if in.SupportType == pending.UpgradePolicy.SupportType {
		return "", nil, invalidParameter("Cluster is already at the desired configuration with supportType: %s", in.SupportType)
	}
	pending.UpgradePolicy = &types.UpgradePolicyResponse{SupportType: in.SupportType}
	return types.UpdateTypeUpgradePolicyUpdate, []types.UpdateParam{param(types.UpdateParamTypeUpgradePolicy, in.SupportType)}, nil
}

// withZonalShift is kept and shown; no zone is ever shifted away from.
func withZonalShift(pending *types.Cluster, in *types.ZonalShiftConfigRequest) (types.UpdateType, []types.UpdateParam, error) {
	enabled := aws.ToBool(in.Enabled)
	if was := pending.ZonalShiftConfig; was != nil && aws.ToBool(was.Enabled) == enabled || was == nil && !enabled {
		return "", nil, invalidParameter("Cluster is already at the desired configuration with zonalShiftConfig.enabled: %t", enabled)
	}
	pending.ZonalShiftConfig = &types.ZonalShiftConfigResponse{Enabled: aws.Bool(enabled)}
	return types.UpdateTypeZonalShiftConfigUpdate, []types.UpdateParam{param(types.UpdateParamTypeZonalShiftConfig, enabled)}, nil
}

// associateEncryptionConfig goes from none to one, once ("EKS API,
// AssociateEncryptionConfig").
func (s *Service) associateEncryptionConfig(c *service.Call, in *eks.AssociateEncryptionConfigInput) (*eks.AssociateEncryptionConfigOutput, error) {
	cl, err := s.lookup(c.Region, in.ClusterName)
	if err != nil {
		return nil, err
	}
	if u := cl.replayed(in.ClientRequestToken, "", ""); u != nil {
		return &eks.AssociateEncryptionConfigOutput{Update: u}, nil
	}
	wanted, err := encryption(in.EncryptionConfig)
	if err != nil {
		return nil, err
	}
	if len(wanted) == 0 {
		return nil, invalidParameter("encryptionConfig must be given")
	}
	if len(cl.View.EncryptionConfig) > 0 {
		return nil, invalidParameter("Cluster %s already has an encryption configuration, which cannot be changed", cl.ID.Name)
	}
	if err := cl.requireActive(string(types.UpdateTypeAssociateEncryptionConfig)); err != nil {
		return nil, err
	}
	pending := cl.View
	pending.EncryptionConfig = wanted
	s.change(c, cl, pending, true)
	u := cl.begin(c.World, update{Token: aws.ToString(in.ClientRequestToken)}, types.UpdateTypeAssociateEncryptionConfig,
		param(types.UpdateParamTypeEncryptionConfig, *wanted[0].Provider.KeyArn))
	return &eks.AssociateEncryptionConfigOutput{Update: u}, nil
}
