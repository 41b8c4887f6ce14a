package ekssim

import (
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"
)

// Settle ends the transitional statuses that are due.
func (s *Service) Settle(now time.Time) time.Time {
	var next time.Time
	due := func(at time.Time) bool {
		switch {
		case at.IsZero():
			return false
		case !at.After(now):
			return true
		case next.IsZero() || at.Before(next):
			next = at
		}
		return false
	}
	for _, cl := range slices.Collect(s.all()) {
		for _, name := range slices.Sorted(maps.Keys(cl.Addons)) {
			if due(cl.Addons[name].Due) {
				cl.settleAddon(name, now)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(cl.NodeGroups)) {
			if due(cl.NodeGroups[name].Due) {
				s.settleNodeGroup(cl, cl.NodeGroups[name], now)
			}
		}
		if due(cl.ends()) {
			s.settleCluster(cl, now)
		}
	}
	return next
}

// ends is when the cluster's transitional status ends: not before UPDATING was
// shown to who has to see it.
func (cl *cluster) ends() time.Time {
	if cl.ShowUntil.After(cl.Due) {
		return cl.ShowUntil
	}
	return cl.Due
}

func (s *Service) settleCluster(cl *cluster, now time.Time) {
	switch cl.View.Status {
	case types.ClusterStatusCreating:
		cl.View.Status, cl.Due = types.ClusterStatusActive, time.Time{}
	case types.ClusterStatusUpdating:
		cl.changed(now)
	case types.ClusterStatusDeleting:
		s.remove(cl)
	}
}

func (s *Service) settleNodeGroup(cl *cluster, ng *nodeGroup, now time.Time) {
	switch ng.View.Status {
	case types.NodegroupStatusDeleting:
		if err := s.removeNodeGroup(cl, ng); err != nil {
			cl.failNodeGroup(ng, types.NodegroupIssueCodeNodeTerminationFailure, err)
		}
		return
	case types.NodegroupStatusUpdating:
		if err := s.groups.Terminate(cl.ID.Region, ng.Group, ng.Leaving); err != nil {
			cl.failNodeGroup(ng, types.NodegroupIssueCodeNodeTerminationFailure, err)
			return
		}
		p := ng.Pending
		ng.View.ScalingConfig, ng.View.Labels, ng.View.Taints = p.ScalingConfig, p.Labels, p.Taints
		ng.View.UpdateConfig, ng.View.NodeRepairConfig = p.UpdateConfig, p.NodeRepairConfig
		ng.View.Version, ng.View.ReleaseVersion, ng.View.LaunchTemplate = p.Version, p.ReleaseVersion, p.LaunchTemplate
		ng.View.ModifiedAt = aws.Time(now.UTC())
		cl.end(*ng.View.NodegroupName, "", nil)
	}
	ng.View.Status = types.NodegroupStatusActive
	ng.View.Health = &types.NodegroupHealth{Issues: []types.Issue{}}
	ng.Pending, ng.Leaving, ng.Relabel, ng.Due = nil, nil, false, time.Time{}
}
