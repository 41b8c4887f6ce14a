package ekssim_test

import (
	"encoding/base64"
	"maps"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/google/go-cmp/cmp"

	"github.com/krops-go/krops/internal/rehearsal/awssim/ekssim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

func TestClusterLife(t *testing.T) {
	e := newEnv(t)
	created := must[eks.CreateClusterOutput](e, e.eks, "CreateCluster", clusterInput()).Cluster
	if created.Status != types.ClusterStatusCreating || created.Endpoint != nil {
		t.Fatalf("right after creation: status %s, endpoint %v", created.Status, created.Endpoint)
	}
	if got := e.cluster().Status; got != types.ClusterStatusCreating {
		t.Fatalf("a plain describe saw %s", got)
	}
	cl := e.awaitCluster()
	if cl.Status != types.ClusterStatusActive {
		t.Fatalf("a waiter was let go with %s", cl.Status)
	}

	t.Run("shows what clients dereference", func(t *testing.T) {
		ca := base64.StdEncoding.EncodeToString([]byte("pem"))
		vpc := cl.ResourcesVpcConfig
		got := []string{
			*cl.Arn, *cl.Endpoint, *cl.CertificateAuthority.Data, *cl.Identity.Oidc.Issuer, *cl.Version, string(cl.AccessConfig.AuthenticationMode),
			string(cl.UpgradePolicy.SupportType), *vpc.VpcId, vpc.PublicAccessCidrs[0], cl.Tags["kubernetes.io/cluster/c1"],
		}
		want := []string{
			"arn:aws:eks:eu-north-1:111122223333:cluster/c1", "https://127.0.0.1:6001", ca, "https://issuer.test/c1", "1.34", "CONFIG_MAP",
			"EXTENDED", "vpc-1", "0.0.0.0/0", "owned",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if l := cl.Logging.ClusterLogging; len(l) != 1 || *l[0].Enabled || len(l[0].Types) != 5 {
			t.Errorf("logging is %+v", l)
		}
		if !vpc.EndpointPublicAccess || vpc.EndpointPrivateAccess {
			t.Errorf("endpoints are %+v", vpc)
		}
	})
	t.Run("asks for the control plane as specified", func(t *testing.T) {
		want := ekssim.ClusterSpec{ID: ekssim.ClusterID{Region: region, Name: "c1"}, Version: "1.34", SelfManagedAddons: true}
		if diff := cmp.Diff(want, e.clusters.specs["c1"]); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("has a tagged security group and interfaces in two zones", func(t *testing.T) {
		tags := e.network.groups[*cl.ResourcesVpcConfig.ClusterSecurityGroupId]
		if tags["aws:eks:cluster-name"] != "c1" || tags["kubernetes.io/cluster/c1"] != "owned" {
			t.Errorf("the group's tags are %v", tags)
		}
		if got := slices.Sorted(maps.Values(e.network.interfaces)); !slices.Equal(got, []string{"subnet-a", "subnet-b"}) {
			t.Errorf("interfaces are in %v", got)
		}
	})
	t.Run("answers the same to a second look", func(t *testing.T) {
		ignore := cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".noSmithyDocumentSerde" }, cmp.Ignore())
		if diff := cmp.Diff(e.cluster(), e.cluster(), ignore); diff != "" {
			t.Error(diff)
		}
	})

	must[eks.DeleteClusterOutput](e, e.eks, "DeleteCluster", &eks.DeleteClusterInput{Name: aws.String("c1")})
	if got := e.cluster().Status; got != types.ClusterStatusDeleting {
		t.Fatalf("after DeleteCluster: %s", got)
	}
	_, err := call[eks.DeleteClusterOutput](e, e.eks, "DeleteCluster", &eks.DeleteClusterInput{Name: aws.String("c1")})
	refused(t, err, "ResourceInUseException")
	_, err = call[eks.DescribeClusterOutput](e, e.eks, "DescribeCluster", describeInput(), waiter)
	refused(t, err, "ResourceNotFoundException")
	if len(e.network.groups)+len(e.network.interfaces)+len(e.clusters.specs)+len(e.eks.Objects()) != 0 {
		t.Errorf("left behind: groups %v, interfaces %v, control planes %v, objects %v",
			e.network.groups, e.network.interfaces, e.clusters.specs, e.eks.Objects())
	}
}

func TestClusterThatDoesNotStart(t *testing.T) {
	e := newEnv(t)
	e.clusters.fail["start"] = errBoom
	cl := e.createCluster()
	if cl.Status != types.ClusterStatusFailed {
		t.Fatalf("status is %s", cl.Status)
	}
	if want := "the control plane did not start: boom"; len(cl.Health.Issues) != 1 || *cl.Health.Issues[0].Message != want {
		t.Errorf("health is %+v, want the issue %q", cl.Health.Issues, want)
	}
	must[eks.DeleteClusterOutput](e, e.eks, "DeleteCluster", &eks.DeleteClusterInput{Name: aws.String("c1")})
	e.world.quiet()
	if objects := e.eks.Objects(); len(objects) != 0 {
		t.Errorf("a failed cluster was not deleted: %v", objects)
	}
}

func TestClusterWhoseDeletionFails(t *testing.T) {
	e := newEnv(t)
	e.createCluster()
	e.clusters.fail["delete"] = errBoom
	in := &eks.DeleteClusterInput{Name: aws.String("c1")}
	must[eks.DeleteClusterOutput](e, e.eks, "DeleteCluster", in)
	if cl := e.awaitCluster(); cl.Status != types.ClusterStatusFailed || len(e.network.interfaces) != 2 {
		t.Fatalf("status %s with interfaces %v", cl.Status, e.network.interfaces)
	}
	must[eks.DeleteClusterOutput](e, e.eks, "DeleteCluster", in)
	e.world.quiet()
	if objects := e.eks.Objects(); len(objects) != 0 {
		t.Errorf("the second deletion left %v", objects)
	}
}

func TestClusterGoesWithoutItsSecurityGroup(t *testing.T) {
	e := newEnv(t)
	e.createCluster()
	e.network.groupErr = service.Refuse("DependencyViolation", "in use")
	must[eks.DeleteClusterOutput](e, e.eks, "DeleteCluster", &eks.DeleteClusterInput{Name: aws.String("c1")})
	e.world.quiet()
	if len(e.eks.Objects()) != 0 || len(e.network.groups) != 1 {
		t.Errorf("objects %v, groups %v; want none and the one in use", e.eks.Objects(), e.network.groups)
	}
}

func TestCreateClusterRefuses(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*eks.CreateClusterInput)
		code   string
	}{
		"an unknown role":               {func(in *eks.CreateClusterInput) { in.RoleArn = aws.String("arn:aws:iam::111122223333:role/none") }, "InvalidParameterException"},
		"a role that does not trust it": {func(in *eks.CreateClusterInput) { in.RoleArn = aws.String(nodeRole) }, "InvalidParameterException"},
		"subnets of one zone":           {func(in *eks.CreateClusterInput) { in.ResourcesVpcConfig.SubnetIds = []string{"subnet-a", "subnet-a"} }, "InvalidParameterException"},
		"subnets of two VPCs": {func(in *eks.CreateClusterInput) {
			in.ResourcesVpcConfig.SubnetIds = []string{"subnet-a", "subnet-other"}
		}, "InvalidParameterException"},
		"an unknown subnet":             {func(in *eks.CreateClusterInput) { in.ResourcesVpcConfig.SubnetIds = []string{"subnet-a", "subnet-z"} }, "InvalidParameterException"},
		"an unknown security group":     {func(in *eks.CreateClusterInput) { in.ResourcesVpcConfig.SecurityGroupIds = []string{"sg-missing"} }, "InvalidParameterException"},
		"no VPC configuration":          {func(in *eks.CreateClusterInput) { in.ResourcesVpcConfig = nil }, "InvalidParameterException"},
		"a version that is not offered": {func(in *eks.CreateClusterInput) { in.Version = aws.String("1.29") }, "InvalidParameterException"},
		"a bad name":                    {func(in *eks.CreateClusterInput) { in.Name = aws.String("a.b") }, "InvalidParameterException"},
		"IPv6": {func(in *eks.CreateClusterInput) {
			in.KubernetesNetworkConfig = &types.KubernetesNetworkConfigRequest{IpFamily: types.IpFamilyIpv6}
		}, "InvalidParameterException"},
		"no endpoint at all": {func(in *eks.CreateClusterInput) { in.ResourcesVpcConfig.EndpointPublicAccess = aws.Bool(false) }, "InvalidParameterException"},
		"a reserved tag":     {func(in *eks.CreateClusterInput) { in.Tags = map[string]string{"aws:x": "y"} }, "InvalidParameterException"},
		"no admin with CONFIG_MAP": {func(in *eks.CreateClusterInput) {
			in.AccessConfig = &types.CreateAccessConfigRequest{BootstrapClusterCreatorAdminPermissions: aws.Bool(false)}
		}, "InvalidParameterException"},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			in := clusterInput()
			tc.change(in)
			_, err := call[eks.CreateClusterOutput](e, e.eks, "CreateCluster", in)
			refused(t, err, tc.code)
			if len(e.network.groups)+len(e.network.interfaces)+len(e.eks.Objects())+len(e.world.work) != 0 {
				t.Errorf("the refused request left groups %v, interfaces %v, objects %v", e.network.groups, e.network.interfaces, e.eks.Objects())
			}
		})
	}
}

func TestCreateClusterTwice(t *testing.T) {
	e := newEnv(t)
	in := clusterInput()
	in.ClientRequestToken = aws.String("t1")
	first := must[eks.CreateClusterOutput](e, e.eks, "CreateCluster", in).Cluster
	again := must[eks.CreateClusterOutput](e, e.eks, "CreateCluster", in).Cluster
	if *again.Arn != *first.Arn || len(e.world.work) != 1 {
		t.Errorf("the replay was not one: %s, %d starts", *again.Arn, len(e.world.work))
	}
	in.ClientRequestToken = aws.String("t2")
	_, err := call[eks.CreateClusterOutput](e, e.eks, "CreateCluster", in)
	refused(t, err, "ResourceInUseException")
}

func TestListClustersByPage(t *testing.T) {
	e := newEnv(t)
	for _, name := range []string{"b", "c", "a"} {
		in := clusterInput()
		in.Name = aws.String(name)
		must[eks.CreateClusterOutput](e, e.eks, "CreateCluster", in)
	}
	var got []string
	in := &eks.ListClustersInput{MaxResults: aws.Int32(2)}
	for pages := 1; ; pages++ {
		out := must[eks.ListClustersOutput](e, e.eks, "ListClusters", in)
		got = append(got, out.Clusters...)
		if in.NextToken = out.NextToken; in.NextToken == nil {
			if pages != 2 {
				t.Errorf("%d pages", pages)
			}
			break
		}
	}
	if !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("listed %v", got)
	}
}

func TestDescribeClusterVersions(t *testing.T) {
	e := newEnv(t) // on 1 December 2026
	list := func(in *eks.DescribeClusterVersionsInput) (out []string) {
		for _, v := range must[eks.DescribeClusterVersionsOutput](e, e.eks, "DescribeClusterVersions", in).ClusterVersions {
			out = append(out, *v.ClusterVersion+" "+string(v.VersionStatus))
		}
		return out
	}
	all := []string{"1.33 EXTENDED_SUPPORT", "1.34 STANDARD_SUPPORT", "1.35 STANDARD_SUPPORT", "1.36 STANDARD_SUPPORT"}
	for _, tc := range []struct {
		in   *eks.DescribeClusterVersionsInput
		want []string
	}{
		{&eks.DescribeClusterVersionsInput{}, all},
		{&eks.DescribeClusterVersionsInput{DefaultOnly: aws.Bool(true)}, all[2:3]},
		{&eks.DescribeClusterVersionsInput{VersionStatus: types.VersionStatusExtendedSupport}, all[:1]},
		{&eks.DescribeClusterVersionsInput{ClusterVersions: []string{"1.36", "1.20"}}, all[3:]},
	} {
		if diff := cmp.Diff(tc.want, list(tc.in)); diff != "" {
			t.Errorf("%+v: %s", tc.in, diff)
		}
	}
}

func TestTags(t *testing.T) {
	e := newEnv(t)
	e.createCluster()
	e.createNodegroup(1)
	for _, arn := range []*string{e.cluster().Arn, e.nodegroup().NodegroupArn} {
		must[eks.TagResourceOutput](e, e.eks, "TagResource", &eks.TagResourceInput{ResourceArn: arn, Tags: map[string]string{"k": "v"}})
		must[eks.UntagResourceOutput](e, e.eks, "UntagResource", &eks.UntagResourceInput{ResourceArn: arn, TagKeys: []string{"kubernetes.io/cluster/c1"}})
		got := must[eks.ListTagsForResourceOutput](e, e.eks, "ListTagsForResource", &eks.ListTagsForResourceInput{ResourceArn: arn}).Tags
		if diff := cmp.Diff(map[string]string{"k": "v"}, got); diff != "" {
			t.Errorf("%s: %s", *arn, diff)
		}
	}
	_, err := call[eks.TagResourceOutput](e, e.eks, "TagResource", &eks.TagResourceInput{ResourceArn: aws.String("arn:aws:eks:x")})
	refused(t, err, "NotFoundException")
	if got := e.eks.TaggedResources(region); len(got) != 2 || got[0].Tags["k"] != "v" {
		t.Errorf("tagged resources are %v", got)
	}
	if got := e.eks.TaggedResources("eu-west-1"); len(got) != 0 {
		t.Errorf("another region shows %v", got)
	}
}
