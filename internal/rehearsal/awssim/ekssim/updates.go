package ekssim

import (
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

func (s *Service) updateOperations() []service.Operation {
	return []service.Operation{
		service.Write("UpdateClusterVersion", s.updateClusterVersion, "Name", "Version", "ClientRequestToken"),
		service.Write("UpdateClusterConfig", s.updateClusterConfig, "Name", "AccessConfig", "ClientRequestToken", "Logging",
			"ResourcesVpcConfig", "UpgradePolicy", "ZonalShiftConfig"),
		service.Write("AssociateEncryptionConfig", s.associateEncryptionConfig, "ClusterName", "EncryptionConfig", "ClientRequestToken"),
		service.Read("DescribeUpdate", s.describeUpdate, "Name", "UpdateId", "NodegroupName", "AddonName"),
		service.Read("ListUpdates", s.listUpdates, "Name", "NodegroupName", "AddonName", "MaxResults", "NextToken"),
	}
}

// openUpdate is the id of the update under way in the cluster itself, or in
// one of its node groups or add-ons, or empty.
func (cl *cluster) openUpdate(nodeGroup, addon string) string {
	if u := cl.lookupOpen(nodeGroup, addon); u != nil {
		return *u.View.Id
	}
	return ""
}

func (cl *cluster) lookupOpen(nodeGroup, addon string) *update {
	for _, u := range cl.Updates {
		if u.NodeGroup == nodeGroup && u.Addon == addon && u.View.Status == types.UpdateStatusInProgress {
			return u
		}
	}
	return nil
}

// replayed returns the update that an earlier request with the same token began.
func (cl *cluster) replayed(token *string, nodeGroup, addon string) *types.Update {
	for _, u := range cl.Updates {
		if aws.ToString(token) != "" && u.Token == *token && u.NodeGroup == nodeGroup && u.Addon == addon {
			view := u.View
			return &view
		}
	}
	return nil
}

// begin records an update that is under way from now on.
func (cl *cluster) begin(w service.World, u update, kind types.UpdateType, params ...types.UpdateParam) *types.Update {
	u.View = types.Update{
		Id: aws.String(newUUID(w)), Type: kind, Status: types.UpdateStatusInProgress,
		CreatedAt: aws.Time(w.Now().UTC()), Params: params, Errors: []types.ErrorDetail{},
	}
	cl.Updates = append(cl.Updates, &u)
	view := u.View
	return &view
}

// end closes the update under way, if there is one.
func (cl *cluster) end(nodeGroup, addon string, err error) {
	u := cl.lookupOpen(nodeGroup, addon)
	if u == nil {
		return
	}
	u.View.Status = types.UpdateStatusSuccessful
	if err != nil {
		u.View.Status = types.UpdateStatusFailed
		u.View.Errors = []types.ErrorDetail{{ErrorCode: types.ErrorCodeUnknown, ErrorMessage: aws.String(err.Error())}}
	}
}

func param(kind types.UpdateParamType, value any) types.UpdateParam {
	return types.UpdateParam{Type: kind, Value: aws.String(fmt.Sprint(value))}
}

// change puts a cluster into UPDATING till it shows pending. Where announced,
// clients wait for UPDATING itself before they wait for the end of it, see
// describeCluster.
func (s *Service) change(c *service.Call, cl *cluster, pending types.Cluster, announced bool) {
	now := c.World.Now()
	cl.View.Status = types.ClusterStatusUpdating
	cl.Pending = &pending
	cl.Due = now.Add(s.timing.ClusterUpdate)
	cl.ShowUntil = time.Time{}
	if announced {
		cl.ShowUntil = now.Add(s.timing.UpdateShown)
	}
}

// changed makes what an update asked for visible.
func (cl *cluster) changed(now time.Time) {
	p := cl.Pending
	wasAPI := cl.apiMode()
	cl.View.Version, cl.View.PlatformVersion = p.Version, p.PlatformVersion
	cl.View.Logging, cl.View.ResourcesVpcConfig, cl.View.AccessConfig = p.Logging, p.ResourcesVpcConfig, p.AccessConfig
	cl.View.UpgradePolicy, cl.View.EncryptionConfig = p.UpgradePolicy, p.EncryptionConfig
	cl.View.ZonalShiftConfig = p.ZonalShiftConfig
	cl.View.Status = types.ClusterStatusActive
	cl.settleIdentityProvider()
	cl.Pending, cl.Due, cl.ShowUntil = nil, time.Time{}, time.Time{}
	if cl.apiMode() && !wasAPI {
		cl.admitOwnPrincipals(now)
	}
	cl.end("", "", nil)
}

// updateScope checks that what DescribeUpdate and ListUpdates name exists.
func (s *Service) updateScope(region string, name, nodeGroup, addon *string) (cl *cluster, err error) {
	switch {
	case nodeGroup != nil && addon != nil:
		return nil, invalidParameter("nodegroupName and addonName cannot both be given")
	case nodeGroup != nil:
		cl, _, err = s.lookupNodeGroup(region, name, nodeGroup)
	case addon != nil:
		cl, _, err = s.lookupAddon(region, name, addon)
	default:
		cl, err = s.lookup(region, name)
	}
	return cl, err
}

func (s *Service) describeUpdate(c *service.Call, in *eks.DescribeUpdateInput) (*eks.DescribeUpdateOutput, error) {
	cl, err := s.updateScope(c.Region, in.Name, in.NodegroupName, in.AddonName)
	if err != nil {
		return nil, err
	}
	for _, u := range cl.Updates {
		if u.NodeGroup == aws.ToString(in.NodegroupName) && u.Addon == aws.ToString(in.AddonName) && *u.View.Id == aws.ToString(in.UpdateId) {
			view := u.View
			return &eks.DescribeUpdateOutput{Update: &view}, nil
		}
	}
	return nil, notFound("No update found for ID: %s", aws.ToString(in.UpdateId))
}

func (s *Service) listUpdates(c *service.Call, in *eks.ListUpdatesInput) (*eks.ListUpdatesOutput, error) {
	cl, err := s.updateScope(c.Region, in.Name, in.NodegroupName, in.AddonName)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, u := range cl.Updates {
		if u.NodeGroup == aws.ToString(in.NodegroupName) && u.Addon == aws.ToString(in.AddonName) {
			ids = append(ids, *u.View.Id)
		}
	}
	slices.Sort(ids)
	part, next, err := page(ids, in.NextToken, in.MaxResults)
	if err != nil {
		return nil, err
	}
	return &eks.ListUpdatesOutput{UpdateIds: part, NextToken: next}, nil
}
