package ekssim

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/ec2sim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

func (s *Service) instanceIDs(cl *cluster, ng *nodeGroup) []string {
	var ids []string
	instances, _ := s.groups.Instances(cl.ID.Region, ng.Group)
	for _, i := range instances {
		ids = append(ids, i.ID)
	}
	return ids
}

// converge makes the cluster's nodes those instances of the group that do not
// leave. It may be started over at any point.
func (s *Service) converge(w service.World, cl *cluster, ng *nodeGroup) {
	id, name := cl.ID, *ng.View.NodegroupName
	instances, ok := s.groups.Instances(id.Region, ng.Group)
	if !ok && ng.View.Status != types.NodegroupStatusDeleting {
		cl.failNodeGroup(ng, types.NodegroupIssueCodeAutoScalingGroupNotFound, errNoGroup)
		return
	}
	var stay []Node
	var leave []string
	for _, i := range instances {
		if slices.Contains(ng.Leaving, i.ID) {
			leave = append(leave, i.PrivateDNSName)
		} else {
			stay = append(stay, s.node(id.Region, ng, i))
		}
	}
	ng.Due = time.Time{}
	relabel := ng.Relabel
	s.enqueue(w, id, job{
		work: func(ctx context.Context) error { return s.setNodes(ctx, id, stay, leave, relabel) },
		finish: func(err error) {
			cl := s.byID(id)
			if cl == nil || cl.NodeGroups[name] == nil {
				return
			}
			ng := cl.NodeGroups[name]
			if err != nil {
				cl.failNodeGroup(ng, types.NodegroupIssueCodeNodeCreationFailure, err)
				return
			}
			ng.Due = w.Now().Add(s.timing.NodeGroup)
		},
	})
}

// setNodes runs outside the account's lock.
func (s *Service) setNodes(ctx context.Context, id ClusterID, stay []Node, leave []string, relabel bool) error {
	for _, node := range stay {
		if relabel {
			if err := s.clusters.RemoveNode(ctx, id, node.Name); err != nil {
				return fmt.Errorf("node %s was not taken away to be labelled anew: %w", node.Name, err)
			}
		}
		if err := s.clusters.AddNode(ctx, id, node); err != nil {
			return fmt.Errorf("instance %s did not join the cluster: %w", node.ProviderID, err)
		}
	}
	for _, name := range leave {
		if err := s.clusters.RemoveNode(ctx, id, name); err != nil {
			return fmt.Errorf("node %s did not leave the cluster: %w", name, err)
		}
	}
	return nil
}

// node is the instance with the labels and taints that a node group's nodes
// have ("EKS user guide, Simplify node lifecycle with managed node groups").
func (s *Service) node(region string, ng *nodeGroup, i ec2sim.Instance) Node {
	view := ng.View
	if ng.Pending != nil {
		view = *ng.Pending
	}
	shape, _ := s.network.LookupInstanceType(region, i.Type) // checked when the group was made
	architecture := "amd64"
	if shape.Architecture == arm {
		architecture = "arm64"
	}
	hostname, _, _ := strings.Cut(i.PrivateDNSName, ".")
	node := Node{
		Name: i.PrivateDNSName, ProviderID: "aws:///" + i.Zone + "/" + i.ID, Architecture: architecture,
		VCPUs: shape.VCPUs, MemoryMiB: shape.MemoryMiB,
		Labels: map[string]string{
			"eks.amazonaws.com/nodegroup":      aws.ToString(view.NodegroupName),
			"eks.amazonaws.com/capacityType":   string(view.CapacityType),
			"node.kubernetes.io/instance-type": i.Type,
			"topology.kubernetes.io/region":    region,
			"topology.kubernetes.io/zone":      i.Zone,
			"kubernetes.io/arch":               architecture,
			"kubernetes.io/os":                 "linux",
			"kubernetes.io/hostname":           hostname,
		},
	}
	for k, v := range view.Labels {
		node.Labels[k] = v
	}
	for _, t := range view.Taints {
		node.Taints = append(node.Taints, Taint{Key: aws.ToString(t.Key), Value: aws.ToString(t.Value), Effect: kubernetesEffect(t.Effect)})
	}
	return node
}
