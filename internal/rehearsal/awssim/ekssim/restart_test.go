package ekssim_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"
)

// Each story ends the process at a moment and looks at what the next makes of
// the state.

func TestRestartOfAnActiveCluster(t *testing.T) {
	e := newEnv(t)
	before := e.createCluster()
	e.createNodegroup(2)
	e.restart()
	if ready, _ := e.eks.Ready(); ready {
		t.Error("ready before the control plane was started again")
	}
	cl := e.cluster() // no waiter, yet held till the new endpoint is known
	if cl.Status != types.ClusterStatusActive || *cl.Endpoint == *before.Endpoint {
		t.Errorf("it is %s at %s, and was at %s", cl.Status, *cl.Endpoint, *before.Endpoint)
	}
	if ready, err := e.eks.Ready(); !ready || err != nil {
		t.Errorf("ready is %t, %v", ready, err)
	}
	if got := len(e.instances()); got != 2 {
		t.Errorf("%d instances", got)
	}
	e.wantWho(creator, who{"kubernetes-admin", []string{"system:masters"}, true})
}

func TestRestartThatFails(t *testing.T) {
	e := newEnv(t)
	e.createCluster()
	e.clusters.fail["start"] = errBoom
	e.restart()
	cl := e.cluster()
	if cl.Status != types.ClusterStatusActive || len(cl.Health.Issues) != 1 || cl.Health.Issues[0].Code != types.ClusterIssueCodeClusterUnreachable {
		t.Errorf("it is %s with %+v", cl.Status, cl.Health.Issues)
	}
	if ready, err := e.eks.Ready(); !ready || !errors.Is(err, errBoom) {
		t.Errorf("ready is %t, %v", ready, err)
	}
	must[eks.DeleteClusterOutput](e, e.eks, "DeleteCluster", &eks.DeleteClusterInput{Name: aws.String("c1")})
	e.world.quiet()
	if ready, err := e.eks.Ready(); !ready || err != nil || len(e.eks.Objects()) != 0 {
		t.Errorf("after the deletion: %t, %v, %v", ready, err, e.eks.Objects())
	}
}

func TestRestartDuringTransitions(t *testing.T) {
	// Steps after which the process ends: none of the work done, or all of it
	// with the status still to change.
	for name, steps := range map[string]int{"before the work": 0, "after the work": 1} {
		t.Run(name, func(t *testing.T) {
			interrupt := func(e *env) {
				for range steps {
					e.world.step()
				}
				e.restart()
			}
			t.Run("cluster CREATING", func(t *testing.T) {
				e := newEnv(t)
				must[eks.CreateClusterOutput](e, e.eks, "CreateCluster", clusterInput())
				interrupt(e)
				if got := e.cluster().Status; got != types.ClusterStatusCreating {
					t.Fatalf("it is %s", got)
				}
				if cl := e.awaitCluster(); cl.Status != types.ClusterStatusActive || cl.Endpoint == nil {
					t.Errorf("it became %s", cl.Status)
				}
			})
			t.Run("cluster UPDATING", func(t *testing.T) {
				e := newEnv(t)
				e.createCluster()
				if _, err := e.updateVersion("1.35"); err != nil {
					t.Fatal(err)
				}
				e.restart()
				if cl := e.awaitCluster(); cl.Status != types.ClusterStatusUpdating {
					t.Fatalf("it is %s", cl.Status)
				}
				if cl := e.awaitCluster(); cl.Status != types.ClusterStatusActive || *cl.Version != "1.35" || *cl.Endpoint != "https://127.0.0.1:6002" {
					t.Errorf("it became %s of %s at %s", cl.Status, *cl.Version, *cl.Endpoint)
				}
			})
			t.Run("cluster DELETING", func(t *testing.T) {
				e := newEnv(t)
				e.createCluster()
				must[eks.DeleteClusterOutput](e, e.eks, "DeleteCluster", &eks.DeleteClusterInput{Name: aws.String("c1")})
				interrupt(e)
				_, err := call[eks.DescribeClusterOutput](e, e.eks, "DescribeCluster", describeInput(), waiter)
				refused(t, err, "ResourceNotFoundException")
				if len(e.clusters.specs)+len(e.network.interfaces) != 0 {
					t.Errorf("left %v and %v", e.clusters.specs, e.network.interfaces)
				}
			})
			t.Run("node group CREATING", func(t *testing.T) {
				e := newEnv(t)
				e.createCluster()
				must[eks.CreateNodegroupOutput](e, e.eks, "CreateNodegroup", nodegroupInput(2))
				interrupt(e)
				if ng := e.awaitNodegroup(); ng.Status != types.NodegroupStatusActive || len(e.clusters.nodes) != 2 {
					t.Errorf("it became %s with nodes %v", ng.Status, e.clusters.nodeNames())
				}
			})
			t.Run("node group UPDATING", func(t *testing.T) {
				e := newEnv(t)
				e.createCluster()
				e.createNodegroup(3)
				must[eks.UpdateNodegroupConfigOutput](e, e.eks, "UpdateNodegroupConfig", &eks.UpdateNodegroupConfigInput{
					ClusterName: aws.String("c1"), NodegroupName: aws.String("pool"), ScalingConfig: &types.NodegroupScalingConfig{DesiredSize: aws.Int32(1)},
				})
				interrupt(e)
				if ng := e.awaitNodegroup(); ng.Status != types.NodegroupStatusActive || len(e.clusters.nodes) != 1 || len(e.network.instances) != 1 {
					t.Errorf("it became %s with nodes %v", ng.Status, e.clusters.nodeNames())
				}
			})
			t.Run("node group DELETING", func(t *testing.T) {
				e := newEnv(t)
				e.createCluster()
				e.createNodegroup(2)
				must[eks.DeleteNodegroupOutput](e, e.eks, "DeleteNodegroup", &eks.DeleteNodegroupInput{ClusterName: aws.String("c1"), NodegroupName: aws.String("pool")})
				interrupt(e)
				_, err := call[eks.DescribeNodegroupOutput](e, e.eks, "DescribeNodegroup", describeNodegroupInput(), waiter)
				refused(t, err, "ResourceNotFoundException")
				if len(e.clusters.nodes)+len(e.network.instances)+len(e.asg.Objects()) != 0 {
					t.Errorf("left nodes %v, instances %v, groups %v", e.clusters.nodeNames(), e.network.instances, e.asg.Objects())
				}
			})
			t.Run("add-on CREATING", func(t *testing.T) {
				e := newEnv(t)
				e.createCluster()
				must[eks.CreateAddonOutput](e, e.eks, "CreateAddon", addonInput())
				e.restart()
				if a, err := e.addon(); err != nil || a.Status != types.AddonStatusActive {
					t.Errorf("it is %+v, %v", a, err)
				}
			})
		})
	}
}

func TestRestartStartsTheControlPlaneBeforeItsNodes(t *testing.T) {
	e := newEnv(t)
	e.createCluster()
	must[eks.CreateNodegroupOutput](e, e.eks, "CreateNodegroup", nodegroupInput(1))
	e.clusters.calls = nil
	e.restart()
	e.world.quiet()
	if i := slices.Index(e.clusters.calls, "start c1"); i != 0 || len(e.clusters.calls) != 2 {
		t.Errorf("calls were %v", e.clusters.calls)
	}
}
