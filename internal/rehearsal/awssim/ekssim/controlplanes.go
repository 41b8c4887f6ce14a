package ekssim

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

func (s *Service) clusterOperations() []service.Operation {
	return []service.Operation{
		service.Write("CreateCluster", s.createCluster, "Name", "Version", "RoleArn", "ResourcesVpcConfig", "AccessConfig",
			"BootstrapSelfManagedAddons", "ClientRequestToken", "EncryptionConfig", "KubernetesNetworkConfig", "Logging",
			"Tags", "UpgradePolicy"),
		service.Read("DescribeCluster", s.describeCluster, "Name").Saving(),
		service.Read("ListClusters", s.listClusters, "MaxResults", "NextToken"),
		service.Write("DeleteCluster", s.deleteCluster, "Name"),
		service.Read("DescribeClusterVersions", s.describeClusterVersions, "ClusterType", "ClusterVersions", "DefaultOnly",
			"IncludeAll", "MaxResults", "NextToken", "VersionStatus"),
	}
}

// describeCluster holds back what a waiter would have to ask for again, with
// one exception: a waiter sees UPDATING once after an update that clients wait
// to see begin. It also holds every answer about a cluster that is being
// started again, so that nobody is given its old endpoint.
func (s *Service) describeCluster(c *service.Call, in *eks.DescribeClusterInput) (*eks.DescribeClusterOutput, error) {
	cl, err := s.lookup(c.Region, in.Name)
	if err != nil {
		return nil, err
	}
	id := cl.ID
	if s.restarting[id] {
		c.Hold(func() bool { return !s.restarting[id] })
	}
	switch cl := s.byID(id); {
	case cl == nil || !c.Waiter:
	case !cl.ShowUntil.IsZero():
		cl.ShowUntil = time.Time{}
	default:
		c.Hold(func() bool { cl := s.byID(id); return cl == nil || cl.atRest() })
	}
	if cl, err = s.lookup(c.Region, in.Name); err != nil {
		return nil, err
	}
	view := cl.View
	return &eks.DescribeClusterOutput{Cluster: &view}, nil
}

func (cl *cluster) atRest() bool {
	return cl.View.Status == types.ClusterStatusActive || cl.View.Status == types.ClusterStatusFailed
}

func (s *Service) listClusters(c *service.Call, in *eks.ListClustersInput) (*eks.ListClustersOutput, error) {
	part, next, err := page(slices.Sorted(maps.Keys(s.state.Regions[c.Region])), in.NextToken, in.MaxResults)
	if err != nil {
		return nil, err
	}
	return &eks.ListClustersOutput{Clusters: part, NextToken: next}, nil
}

// startNew brings up the control plane of a cluster that is CREATING.
func (s *Service) startNew(w service.World, cl *cluster) {
	id := cl.ID
	s.start(w, cl, func(plane ControlPlane, err error) {
		cl := s.byID(id)
		if err != nil {
			cl.fail(types.ClusterIssueCodeInternalFailure, fmt.Errorf("the control plane did not start: %w", err))
			return
		}
		cl.serve(plane)
		cl.Due = w.Now().Add(s.timing.ClusterCreate)
	})
}

func (s *Service) start(w service.World, cl *cluster, finish func(ControlPlane, error)) {
	spec := ClusterSpec{ID: cl.ID, Version: aws.ToString(cl.View.Version), SelfManagedAddons: cl.SelfManagedAddons}
	var plane ControlPlane
	s.enqueue(w, cl.ID, job{
		work: func(ctx context.Context) (err error) {
			plane, err = s.clusters.Start(ctx, spec)
			return err
		},
		finish: func(err error) { finish(plane, err) },
	})
}

// serve shows where the control plane is reached.
func (cl *cluster) serve(plane ControlPlane) {
	cl.View.Endpoint = aws.String(plane.Endpoint)
	cl.View.CertificateAuthority = &types.Certificate{Data: aws.String(base64.StdEncoding.EncodeToString(plane.CA))}
	cl.View.Identity = &types.Identity{Oidc: &types.OIDC{Issuer: aws.String(plane.Issuer)}}
}

func (cl *cluster) fail(code types.ClusterIssueCode, err error) {
	cl.View.Status = types.ClusterStatusFailed
	cl.Due = time.Time{}
	cl.ailing(code, err)
}

// ailing adds to the cluster's health what is wrong with it.
func (cl *cluster) ailing(code types.ClusterIssueCode, err error) {
	cl.View.Health = &types.ClusterHealth{Issues: []types.ClusterIssue{{
		Code: code, Message: aws.String(err.Error()), ResourceIds: []string{cl.ID.Name},
	}}}
}

func (s *Service) deleteCluster(c *service.Call, in *eks.DeleteClusterInput) (*eks.DeleteClusterOutput, error) {
	cl, err := s.lookup(c.Region, in.Name)
	if err != nil {
		return nil, err
	}
	if !cl.atRest() {
		return nil, inUse("Cannot delete because cluster %s has status %s", cl.ID.Name, cl.View.Status)
	}
	if len(cl.NodeGroups) > 0 {
		return nil, inUse("Cluster has nodegroups attached: %s", slices.Sorted(maps.Keys(cl.NodeGroups)))
	}
	cl.View.Status = types.ClusterStatusDeleting
	cl.View.Health = &types.ClusterHealth{Issues: []types.ClusterIssue{}}
	s.stop(c.World, cl)
	view := cl.View
	return &eks.DeleteClusterOutput{Cluster: &view}, nil
}

// stop ends the control plane of a cluster that is DELETING.
func (s *Service) stop(w service.World, cl *cluster) {
	id := cl.ID
	s.enqueue(w, id, job{
		work: func(ctx context.Context) error { return s.clusters.Delete(ctx, id) },
		finish: func(err error) {
			cl := s.byID(id)
			if err != nil {
				// AWS has no status for a failed deletion of a cluster. FAILED
				// lets it be deleted again.
				cl.fail(types.ClusterIssueCodeInternalFailure, fmt.Errorf("the control plane was not deleted: %w", err))
				return
			}
			cl.Due = w.Now().Add(s.timing.ClusterDelete)
		},
	})
}

// remove takes the cluster's interfaces, its security group and then itself
// out of the account.
func (s *Service) remove(cl *cluster) {
	for len(cl.Interfaces) > 0 {
		if err := s.network.DeleteOwnedInterface(cl.ID.Region, cl.Interfaces[0]); err != nil {
			cl.fail(types.ClusterIssueCodeInternalFailure, fmt.Errorf("interface %s was not deleted: %w", cl.Interfaces[0], err))
			return
		}
		cl.Interfaces = cl.Interfaces[1:]
	}
	// The cluster goes even where the group cannot, because something else in
	// the VPC uses it: on AWS such a group is left behind.
	_ = s.network.DeleteOwnedSecurityGroup(cl.ID.Region, aws.ToString(cl.View.ResourcesVpcConfig.ClusterSecurityGroupId))
	delete(s.state.Regions[cl.ID.Region], cl.ID.Name)
	delete(s.restarts, cl.ID)
}
