package ekssim_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/google/go-cmp/cmp"

	"github.com/krops-go/krops/internal/rehearsal/awssim/ekssim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

func TestNodegroupLife(t *testing.T) {
	e := newEnv(t)
	e.createCluster()
	created := must[eks.CreateNodegroupOutput](e, e.eks, "CreateNodegroup", nodegroupInput(3)).Nodegroup
	if created.Status != types.NodegroupStatusCreating {
		t.Fatalf("right after creation: %s", created.Status)
	}
	ng := e.awaitNodegroup()
	if ng.Status != types.NodegroupStatusActive {
		t.Fatalf("a waiter was let go with %s", ng.Status)
	}

	t.Run("shows what clients dereference, and nothing they did not ask for", func(t *testing.T) {
		if *ng.NodeRepairConfig.Enabled || *ng.UpdateConfig.MaxUnavailable != 1 || *ng.Version != "1.34" || *ng.ReleaseVersion != "1.34.9-20260714" {
			t.Errorf("repair %v, update %v, version %s, release %s", *ng.NodeRepairConfig.Enabled, ng.UpdateConfig, *ng.Version, *ng.ReleaseVersion)
		}
		if s := ng.ScalingConfig; *s.DesiredSize != 3 || *s.MinSize > 3 || *s.MaxSize < 3 {
			t.Errorf("scaling is %d..%d, desired %d", *s.MinSize, *s.MaxSize, *s.DesiredSize)
		}
		if diff := cmp.Diff(map[string]string{"team": "blue"}, ng.Labels); diff != "" {
			t.Error(diff)
		}
		if len(ng.Taints) != 1 || ng.Taints[0].Value == nil {
			t.Errorf("taints are %+v", ng.Taints)
		}
	})
	t.Run("has an Auto Scaling group over all zones", func(t *testing.T) {
		zones := map[string]int{}
		for _, i := range e.network.instances {
			zones[i.Zone]++
		}
		if diff := cmp.Diff(map[string]int{"eu-north-1a": 1, "eu-north-1b": 1, "eu-north-1c": 1}, zones); diff != "" {
			t.Error(diff)
		}
		if got := e.instances(); !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(maps.Keys(e.network.instances))) {
			t.Errorf("the group shows %v", got)
		}
	})
	t.Run("has its nodes", func(t *testing.T) {
		for id, i := range e.network.instances {
			want := ekssim.Node{
				Name: i.PrivateDNSName, ProviderID: "aws:///" + i.Zone + "/" + id, Architecture: "amd64", VCPUs: 2, MemoryMiB: 4096,
				Taints: []ekssim.Taint{{Key: "only", Effect: "NoSchedule"}},
				Labels: map[string]string{
					"team": "blue", "eks.amazonaws.com/nodegroup": "pool", "eks.amazonaws.com/capacityType": "ON_DEMAND",
					"node.kubernetes.io/instance-type": "t3.medium", "topology.kubernetes.io/region": region, "topology.kubernetes.io/zone": i.Zone,
					"kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux", "kubernetes.io/hostname": strings.TrimSuffix(i.PrivateDNSName, ".internal"),
				},
			}
			if diff := cmp.Diff(want, e.clusters.nodes[i.PrivateDNSName]); diff != "" {
				t.Error(diff)
			}
		}
	})
	t.Run("keeps its role and its cluster from being deleted", func(t *testing.T) {
		_, err := call[iam.DeleteRoleOutput](e, e.iam, "DeleteRole", &iam.DeleteRoleInput{RoleName: aws.String("nodes")})
		refused(t, err, "DeleteConflict")
		_, err = call[eks.DeleteClusterOutput](e, e.eks, "DeleteCluster", &eks.DeleteClusterInput{Name: aws.String("c1")})
		refused(t, err, "ResourceInUseException")
	})

	in := &eks.DeleteNodegroupInput{ClusterName: aws.String("c1"), NodegroupName: aws.String("pool")}
	must[eks.DeleteNodegroupOutput](e, e.eks, "DeleteNodegroup", in)
	_, err := call[eks.DeleteNodegroupOutput](e, e.eks, "DeleteNodegroup", in)
	refused(t, err, "ResourceInUseException")
	_, err = call[eks.DescribeNodegroupOutput](e, e.eks, "DescribeNodegroup", describeNodegroupInput(), waiter)
	refused(t, err, "ResourceNotFoundException")
	if len(e.network.instances)+len(e.clusters.nodes)+len(e.asg.Objects()) != 0 {
		t.Errorf("left behind: instances %v, nodes %v, groups %v", e.network.instances, e.clusters.nodeNames(), e.asg.Objects())
	}
	must[iam.DeleteRoleOutput](e, e.iam, "DeleteRole", &iam.DeleteRoleInput{RoleName: aws.String("nodes")})
	must[eks.DeleteClusterOutput](e, e.eks, "DeleteCluster", &eks.DeleteClusterInput{Name: aws.String("c1")})
}

func TestNodegroupScaling(t *testing.T) {
	e := newEnv(t)
	e.createCluster()
	e.createNodegroup(2)
	scale := func(in *types.NodegroupScalingConfig) (*types.Update, error) {
		out, err := call[eks.UpdateNodegroupConfigOutput](e, e.eks, "UpdateNodegroupConfig", &eks.UpdateNodegroupConfigInput{
			ClusterName: aws.String("c1"), NodegroupName: aws.String("pool"), ScalingConfig: in,
		})
		if err != nil {
			return nil, err
		}
		return out.Update, nil
	}
	for _, desired := range []int32{5, 1, 0, 3} {
		u, err := scale(&types.NodegroupScalingConfig{DesiredSize: aws.Int32(desired)})
		if err != nil {
			t.Fatal(err)
		}
		if got := e.nodegroup().Status; got != types.NodegroupStatusUpdating {
			t.Errorf("while scaling to %d it is %s", desired, got)
		}
		ng := e.awaitNodegroup()
		if ng.Status != types.NodegroupStatusActive || *ng.ScalingConfig.DesiredSize != desired {
			t.Errorf("after scaling to %d: %s, desired %d", desired, ng.Status, *ng.ScalingConfig.DesiredSize)
		}
		if i, n := len(e.instances()), len(e.clusters.nodes); i != int(desired) || n != int(desired) || len(e.network.instances) != int(desired) {
			t.Errorf("scaled to %d: %d instances in the group, %d running, %d nodes", desired, i, len(e.network.instances), n)
		}
		if got := e.update(u.Id, aws.String("pool")); got.Status != types.UpdateStatusSuccessful {
			t.Errorf("the update is %s", got.Status)
		}
	}
	t.Run("stays within limits that were asked for", func(t *testing.T) {
		if _, err := scale(&types.NodegroupScalingConfig{MinSize: aws.Int32(1), MaxSize: aws.Int32(4)}); err != nil {
			t.Fatal(err)
		}
		e.world.quiet()
		_, err := scale(&types.NodegroupScalingConfig{DesiredSize: aws.Int32(5)})
		refused(t, err, "InvalidParameterException")
		_, err = scale(&types.NodegroupScalingConfig{DesiredSize: aws.Int32(0)})
		refused(t, err, "InvalidParameterException")
	})
	t.Run("takes one update at a time", func(t *testing.T) {
		if _, err := scale(&types.NodegroupScalingConfig{DesiredSize: aws.Int32(4)}); err != nil {
			t.Fatal(err)
		}
		_, err := scale(&types.NodegroupScalingConfig{DesiredSize: aws.Int32(3)})
		refused(t, err, "ResourceInUseException")
	})
}

func TestNodegroupRelabelling(t *testing.T) {
	e := newEnv(t)
	e.createCluster()
	e.createNodegroup(2)
	must[eks.UpdateNodegroupConfigOutput](e, e.eks, "UpdateNodegroupConfig", &eks.UpdateNodegroupConfigInput{
		ClusterName: aws.String("c1"), NodegroupName: aws.String("pool"),
		Labels: &types.UpdateLabelsPayload{AddOrUpdateLabels: map[string]string{"tier": "web"}, RemoveLabels: []string{"team"}},
		Taints: &types.UpdateTaintsPayload{RemoveTaints: []types.Taint{{Key: aws.String("only"), Effect: types.TaintEffectNoSchedule}}},
	})
	ng := e.awaitNodegroup()
	if diff := cmp.Diff(map[string]string{"tier": "web"}, ng.Labels); diff != "" || len(ng.Taints) != 0 {
		t.Errorf("labels %s, taints %v", diff, ng.Taints)
	}
	for name, node := range e.clusters.nodes {
		if _, old := node.Labels["team"]; old || node.Labels["tier"] != "web" || len(node.Taints) != 0 {
			t.Errorf("node %s has labels %v and taints %v", name, node.Labels, node.Taints)
		}
	}
}

func TestNodegroupVersionUpdateReplacesInstances(t *testing.T) {
	e := newEnv(t)
	e.createCluster()
	e.createNodegroup(2)
	old := e.instances()
	_, err := call[eks.UpdateNodegroupVersionOutput](e, e.eks, "UpdateNodegroupVersion", &eks.UpdateNodegroupVersionInput{
		ClusterName: aws.String("c1"), NodegroupName: aws.String("pool"), Version: aws.String("1.35"),
	})
	refused(t, err, "InvalidParameterException") // newer than the cluster
	if _, err := e.updateVersion("1.35"); err != nil {
		t.Fatal(err)
	}
	e.world.quiet()
	must[eks.UpdateNodegroupVersionOutput](e, e.eks, "UpdateNodegroupVersion", &eks.UpdateNodegroupVersionInput{
		ClusterName: aws.String("c1"), NodegroupName: aws.String("pool"), Version: aws.String("1.35"),
	})
	ng := e.awaitNodegroup()
	if *ng.Version != "1.35" || *ng.ReleaseVersion != "1.35.6-20260714" {
		t.Errorf("version %s, release %s", *ng.Version, *ng.ReleaseVersion)
	}
	now := e.instances()
	if len(now) != 2 || len(e.clusters.nodes) != 2 || slices.ContainsFunc(now, func(id string) bool { return slices.Contains(old, id) }) {
		t.Errorf("instances went from %v to %v, nodes are %v", old, now, e.clusters.nodeNames())
	}
}

func TestNodegroupFailures(t *testing.T) {
	deletion := &eks.DeleteNodegroupInput{ClusterName: aws.String("c1"), NodegroupName: aws.String("pool")}
	t.Run("instances that cannot be launched", func(t *testing.T) {
		e := newEnv(t)
		e.createCluster()
		e.network.launchErr = service.Refuse("InsufficientFreeAddressesInSubnet", "no addresses")
		ng := e.createNodegroup(1)
		if ng.Status != types.NodegroupStatusCreateFailed || ng.Health.Issues[0].Code != types.NodegroupIssueCodeAsgInstanceLaunchFailures {
			t.Fatalf("%s with %+v", ng.Status, ng.Health.Issues)
		}
		must[eks.DeleteNodegroupOutput](e, e.eks, "DeleteNodegroup", deletion)
		e.world.quiet()
		if len(e.asg.Objects()) != 0 {
			t.Errorf("left %v", e.asg.Objects())
		}
	})
	t.Run("a node that does not join", func(t *testing.T) {
		e := newEnv(t)
		e.createCluster()
		e.clusters.fail["add"] = errBoom
		ng := e.createNodegroup(1)
		if ng.Status != types.NodegroupStatusCreateFailed || !strings.Contains(*ng.Health.Issues[0].Message, "did not join the cluster: boom") {
			t.Fatalf("%s with %+v", ng.Status, ng.Health.Issues)
		}
	})
	t.Run("an update in which a node does not join", func(t *testing.T) {
		e := newEnv(t)
		e.createCluster()
		e.createNodegroup(1)
		e.clusters.fail["add"] = errBoom
		u := must[eks.UpdateNodegroupConfigOutput](e, e.eks, "UpdateNodegroupConfig", &eks.UpdateNodegroupConfigInput{
			ClusterName: aws.String("c1"), NodegroupName: aws.String("pool"), ScalingConfig: &types.NodegroupScalingConfig{DesiredSize: aws.Int32(2)},
		}).Update
		ng := e.awaitNodegroup()
		if ng.Status != types.NodegroupStatusActive || len(ng.Health.Issues) != 1 || *ng.ScalingConfig.DesiredSize != 1 {
			t.Errorf("%s, desired %d, health %+v", ng.Status, *ng.ScalingConfig.DesiredSize, ng.Health.Issues)
		}
		if got := e.update(u.Id, aws.String("pool")); got.Status != types.UpdateStatusFailed || len(got.Errors) != 1 {
			t.Errorf("the update is %s with %v", got.Status, got.Errors)
		}
	})
	t.Run("a node that does not leave", func(t *testing.T) {
		e := newEnv(t)
		e.createCluster()
		e.createNodegroup(1)
		e.clusters.fail["remove"] = errBoom
		must[eks.DeleteNodegroupOutput](e, e.eks, "DeleteNodegroup", deletion)
		if ng := e.awaitNodegroup(); ng.Status != types.NodegroupStatusDeleteFailed || len(e.network.instances) != 1 {
			t.Fatalf("%s with instances %v", ng.Status, e.network.instances)
		}
		must[eks.DeleteNodegroupOutput](e, e.eks, "DeleteNodegroup", deletion)
		e.world.quiet()
		if len(e.network.instances)+len(e.asg.Objects()) != 0 {
			t.Errorf("the second deletion left %v and %v", e.network.instances, e.asg.Objects())
		}
	})
}

func TestCreateNodegroupRefuses(t *testing.T) {
	for name, change := range map[string]func(*eks.CreateNodegroupInput){
		"an unknown role":               func(in *eks.CreateNodegroupInput) { in.NodeRole = aws.String("arn:aws:iam::111122223333:role/none") },
		"a role that EC2 cannot assume": func(in *eks.CreateNodegroupInput) { in.NodeRole = aws.String(clusterRole) },
		"no subnets":                    func(in *eks.CreateNodegroupInput) { in.Subnets = nil },
		"an unknown subnet":             func(in *eks.CreateNodegroupInput) { in.Subnets = []string{"subnet-z"} },
		"a subnet of another VPC":       func(in *eks.CreateNodegroupInput) { in.Subnets = []string{"subnet-other"} },
		"Amazon Linux 2":                func(in *eks.CreateNodegroupInput) { in.AmiType = types.AMITypesAl2X8664 },
		"an image for ARM on x86":       func(in *eks.CreateNodegroupInput) { in.AmiType = types.AMITypesAl2023Arm64Standard },
		"an ARM shape with an x86 image": func(in *eks.CreateNodegroupInput) {
			in.InstanceTypes = []string{"t3.medium", "t4g.medium"}
		},
		"a shape that does not exist": func(in *eks.CreateNodegroupInput) { in.InstanceTypes = []string{"t9.huge"} },
		"a reserved label":            func(in *eks.CreateNodegroupInput) { in.Labels = map[string]string{"node-role.kubernetes.io/x": ""} },
		"a taint without effect":      func(in *eks.CreateNodegroupInput) { in.Taints = []types.Taint{{Key: aws.String("k")}} },
		"a newer version":             func(in *eks.CreateNodegroupInput) { in.Version = aws.String("1.35") },
		"a release of another minor":  func(in *eks.CreateNodegroupInput) { in.ReleaseVersion = aws.String("1.33.1-20260101") },
		"more than the maximum": func(in *eks.CreateNodegroupInput) {
			in.ScalingConfig = &types.NodegroupScalingConfig{MinSize: aws.Int32(0), MaxSize: aws.Int32(1), DesiredSize: aws.Int32(2)}
		},
		"both update limits": func(in *eks.CreateNodegroupInput) {
			in.UpdateConfig = &types.NodegroupUpdateConfig{MaxUnavailable: aws.Int32(1), MaxUnavailablePercentage: aws.Int32(1)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			e.createCluster()
			in := nodegroupInput(1)
			change(in)
			_, err := call[eks.CreateNodegroupOutput](e, e.eks, "CreateNodegroup", in)
			refused(t, err, "InvalidParameterException")
			if len(e.network.instances)+len(e.asg.Objects())+len(e.iam.Objects()) != 2 { // the two roles
				t.Errorf("the refused request left %v, %v, %v", e.network.instances, e.asg.Objects(), e.iam.Objects())
			}
		})
	}
}

func TestArmNodegroupByShapeAlone(t *testing.T) {
	e := newEnv(t)
	e.createCluster()
	in := nodegroupInput(1)
	in.AmiType, in.InstanceTypes = "", []string{"t4g.medium"}
	must[eks.CreateNodegroupOutput](e, e.eks, "CreateNodegroup", in)
	if ng := e.awaitNodegroup(); ng.AmiType != types.AMITypesAl2023Arm64Standard {
		t.Errorf("the image is %s", ng.AmiType)
	}
	for _, node := range e.clusters.nodes {
		if node.Architecture != "arm64" || node.Labels["kubernetes.io/arch"] != "arm64" {
			t.Errorf("the node is %+v", node)
		}
	}
}

func TestNodegroupGroupTags(t *testing.T) {
	e := newEnv(t)
	e.createCluster()
	ng := e.createNodegroup(1)
	out := must[autoscaling.DescribeTagsOutput](e, e.asg, "DescribeTags", &autoscaling.DescribeTagsInput{})
	got := map[string]string{}
	for _, tag := range out.Tags {
		if *tag.ResourceId != *ng.Resources.AutoScalingGroups[0].Name {
			t.Errorf("a tag of %s", *tag.ResourceId)
		}
		got[*tag.Key] = *tag.Value
	}
	want := map[string]string{
		"eks:cluster-name": "c1", "eks:nodegroup-name": "pool", "kubernetes.io/cluster/c1": "owned",
		"k8s.io/cluster-autoscaler/enabled": "true", "k8s.io/cluster-autoscaler/c1": "owned",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestClustersIsNeverCalledTwiceAtATime(t *testing.T) {
	e := newEnv(t)
	e.createCluster()
	for _, name := range []string{"one", "two"} {
		in := nodegroupInput(1)
		in.NodegroupName = aws.String(name)
		must[eks.CreateNodegroupOutput](e, e.eks, "CreateNodegroup", in)
		if len(e.world.work) != 1 {
			t.Fatalf("%d pieces of work are under way for one cluster", len(e.world.work))
		}
	}
	e.world.quiet()
	if len(e.clusters.nodes) != 2 {
		t.Errorf("nodes are %v", e.clusters.nodeNames())
	}
}
