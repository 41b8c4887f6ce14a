package ekssim

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

func (s *Service) addonOperations() []service.Operation {
	return []service.Operation{
		service.Write("CreateAddon", s.createAddon, "ClusterName", "AddonName", "AddonVersion", "ClientRequestToken",
			"ConfigurationValues", "ResolveConflicts", "ServiceAccountRoleArn", "Tags"),
		service.Read("DescribeAddon", s.describeAddon, "ClusterName", "AddonName"),
		service.Read("ListAddons", s.listAddons, "ClusterName", "MaxResults", "NextToken"),
		service.Write("UpdateAddon", s.updateAddon, "ClusterName", "AddonName", "AddonVersion", "ClientRequestToken",
			"ConfigurationValues", "ResolveConflicts", "ServiceAccountRoleArn"),
		service.Write("DeleteAddon", s.deleteAddon, "ClusterName", "AddonName", "Preserve"),
		service.Read("DescribeAddonVersions", s.describeAddonVersions, "AddonName", "KubernetesVersion", "MaxResults",
			"NextToken", "Owners", "Publishers", "Types"),
	}
}

// createAddon records the add-on. What it would put into the cluster is not
// put there: a new cluster comes with the self-managed ones.
func (s *Service) createAddon(c *service.Call, in *eks.CreateAddonInput) (*eks.CreateAddonOutput, error) {
	cl, err := s.lookup(c.Region, in.ClusterName)
	if err != nil {
		return nil, err
	}
	name := aws.ToString(in.AddonName)
	if a := cl.Addons[name]; a != nil {
		if token := aws.ToString(in.ClientRequestToken); token == "" || token != a.Token {
			return nil, inUse("Addon already exists: %s", name)
		}
		view := a.View
		return &eks.CreateAddonOutput{Addon: &view}, nil
	}
	if err := cl.requireActive("create addon " + name); err != nil {
		return nil, err
	}
	offered, err := lookupOffered(name)
	if err != nil {
		return nil, err
	}
	version, err := offered.version(in.AddonVersion, *cl.View.Version)
	if err != nil {
		return nil, err
	}
	if err := s.checkAddonInput(in.ConfigurationValues, in.ServiceAccountRoleArn, in.ResolveConflicts); err != nil {
		return nil, err
	}
	tags, err := tagged(nil, in.Tags)
	if err != nil {
		return nil, err
	}
	now := c.World.Now()
	a := &addon{
		Token: aws.ToString(in.ClientRequestToken), Due: now.Add(s.timing.Addon),
		View: types.Addon{
			AddonName: aws.String(name), AddonArn: aws.String(cl.arn("addon", name, newUUID(c.World))), ClusterName: cl.View.Name,
			AddonVersion: aws.String(version), ConfigurationValues: in.ConfigurationValues, ServiceAccountRoleArn: in.ServiceAccountRoleArn,
			Status: types.AddonStatusCreating, Health: &types.AddonHealth{Issues: []types.AddonIssue{}}, Tags: tags,
			CreatedAt: aws.Time(now.UTC()), ModifiedAt: aws.Time(now.UTC()),
		},
	}
	cl.Addons[name] = a
	view := a.View
	return &eks.CreateAddonOutput{Addon: &view}, nil
}

func (s *Service) checkAddonInput(configuration, roleARN *string, conflicts types.ResolveConflicts) error {
	if configuration != nil && *configuration != "" && !json.Valid([]byte(*configuration)) {
		// EKS takes YAML as well.
		return notModelled("configurationValues that are not JSON")
	}
	if roleARN != nil {
		if exists, _ := s.roles.TrustsService(*roleARN, ""); !exists {
			return invalidParameter("The role %s does not exist", *roleARN)
		}
	}
	if conflicts != "" && !slices.Contains(conflicts.Values(), conflicts) {
		return invalidParameter("unknown resolveConflicts %s", conflicts)
	}
	return nil
}

// describeAddon holds back transitional answers to everyone: clients poll it
// by themselves and sleep long in between.
func (s *Service) describeAddon(c *service.Call, in *eks.DescribeAddonInput) (*eks.DescribeAddonOutput, error) {
	if _, _, err := s.lookupAddon(c.Region, in.ClusterName, in.AddonName); err != nil {
		return nil, err
	}
	c.Hold(func() bool {
		_, a, err := s.lookupAddon(c.Region, in.ClusterName, in.AddonName)
		return err != nil || a.Due.IsZero()
	})
	_, a, err := s.lookupAddon(c.Region, in.ClusterName, in.AddonName)
	if err != nil {
		return nil, err
	}
	view := a.View
	return &eks.DescribeAddonOutput{Addon: &view}, nil
}

func (s *Service) listAddons(c *service.Call, in *eks.ListAddonsInput) (*eks.ListAddonsOutput, error) {
	cl, err := s.lookup(c.Region, in.ClusterName)
	if err != nil {
		return nil, err
	}
	part, next, err := page(slices.Sorted(maps.Keys(cl.Addons)), in.NextToken, in.MaxResults)
	if err != nil {
		return nil, err
	}
	return &eks.ListAddonsOutput{Addons: part, NextToken: next}, nil
}

func (s *Service) updateAddon(c *service.Call, in *eks.UpdateAddonInput) (*eks.UpdateAddonOutput, error) {
	cl, a, err := s.lookupAddon(c.Region, in.ClusterName, in.AddonName)
	if err != nil {
		return nil, err
	}
	name := *a.View.AddonName
	if u := cl.replayed(in.ClientRequestToken, "", name); u != nil {
		return &eks.UpdateAddonOutput{Update: u}, nil
	}
	if err := cl.requireActive("update addon " + name); err != nil {
		return nil, err
	}
	if !a.Due.IsZero() {
		return nil, inUse("Addon %s cannot be updated as it has status %s", name, a.View.Status)
	}
	if err := s.checkAddonInput(in.ConfigurationValues, in.ServiceAccountRoleArn, in.ResolveConflicts); err != nil {
		return nil, err
	}
	offered, err := lookupOffered(name)
	if err != nil {
		return nil, err
	}
	pending := a.View
	var params []types.UpdateParam
	if in.AddonVersion != nil {
		version, err := offered.version(in.AddonVersion, *cl.View.Version)
		if err != nil {
			return nil, err
		}
		pending.AddonVersion = aws.String(version)
		params = append(params, param(types.UpdateParamTypeAddonVersion, version))
	}
	if in.ConfigurationValues != nil {
		pending.ConfigurationValues = in.ConfigurationValues
		params = append(params, param(types.UpdateParamTypeConfigurationValues, *in.ConfigurationValues))
	}
	if in.ServiceAccountRoleArn != nil {
		pending.ServiceAccountRoleArn = in.ServiceAccountRoleArn
		params = append(params, param(types.UpdateParamTypeServiceAccountRoleArn, *in.ServiceAccountRoleArn))
	}
	if in.ResolveConflicts != "" {
		params = append(params, param(types.UpdateParamTypeResolveConflicts, in.ResolveConflicts))
	}
	a.View.Status, a.Pending, a.Due = types.AddonStatusUpdating, &pending, c.World.Now().Add(s.timing.Addon)
	u := cl.begin(c.World, update{Addon: name, Token: aws.ToString(in.ClientRequestToken)}, types.UpdateTypeAddonUpdate, params...)
	return &eks.UpdateAddonOutput{Update: u}, nil
}

// deleteAddon takes Preserve, which keeps the add-on's software in the
// cluster: as none was put there, both ways leave the cluster as it is.
func (s *Service) deleteAddon(c *service.Call, in *eks.DeleteAddonInput) (*eks.DeleteAddonOutput, error) {
	cl, a, err := s.lookupAddon(c.Region, in.ClusterName, in.AddonName)
	if err != nil {
		return nil, err
	}
	if err := cl.requireActive("delete addon " + *a.View.AddonName); err != nil {
		return nil, err
	}
	if !a.Due.IsZero() {
		return nil, inUse("Addon %s cannot be deleted as it has status %s", *a.View.AddonName, a.View.Status)
	}
	a.View.Status, a.Due = types.AddonStatusDeleting, c.World.Now().Add(s.timing.Addon)
	view := a.View
	return &eks.DeleteAddonOutput{Addon: &view}, nil
}

// settleAddon ends a transitional status that is due.
func (cl *cluster) settleAddon(name string, now time.Time) {
	a := cl.Addons[name]
	switch a.View.Status {
	case types.AddonStatusDeleting:
		delete(cl.Addons, name)
		return
	case types.AddonStatusUpdating:
		a.View.AddonVersion, a.View.ConfigurationValues = a.Pending.AddonVersion, a.Pending.ConfigurationValues
		a.View.ServiceAccountRoleArn = a.Pending.ServiceAccountRoleArn
		a.View.ModifiedAt = aws.Time(now.UTC())
		a.Pending = nil
		cl.end("", name, nil)
	}
	a.View.Status, a.Due = types.AddonStatusActive, time.Time{}
}
