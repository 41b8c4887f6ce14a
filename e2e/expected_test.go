package e2e

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// createCalls are the calls with which the provider makes the management
// cluster, each once for each object and none twice: the network of three
// zones with a public and a private subnet, a NAT gateway and an Elastic IP
// each, 38 in EC2; two roles with one and three managed policies, 6 in IAM;
// cluster, node group, the cluster's tags and three add-ons, 6 in EKS.
var createCalls = map[string]int{
	"ec2 CreateVpc":             1,
	"ec2 ModifyVpcAttribute":    1, // DNS host names
	"ec2 CreateSubnet":          6,
	"ec2 ModifySubnetAttribute": 3, // the public ones give addresses away
	"ec2 CreateInternetGateway": 1,
	"ec2 AttachInternetGateway": 1,
	"ec2 AllocateAddress":       3,
	"ec2 CreateNatGateway":      3,
	"ec2 CreateRouteTable":      6,
	"ec2 CreateRoute":           6,
	"ec2 AssociateRouteTable":   6,
	"ec2 CreateSecurityGroup":   1,
	"iam CreateRole":            2,
	"iam AttachRolePolicy":      4,
	"eks CreateCluster":         1,
	"eks TagResource":           1,
	"eks CreateAddon":           3,
	"eks CreateNodegroup":       1,
}

// createTotal is the sum: 48 with a single add-on, as measured elsewhere, and
// one more for each of the two others that the estate declares.
const createTotal = 50

// objects are what comes into being with it, by kind, those included that AWS
// makes by itself: the cluster's own security group, its network interfaces and
// those of gateways and instances, the node group's scaling group and profile.
var objects = map[string]int{
	"vpc": 1, "subnet": 6, "internet-gateway": 1, "elastic-ip": 3, "natgateway": 3, "route-table": 6,
	"security-group": 2, "network-interface": 7,
	"role": 2, "instance-profile": 1,
	"cluster": 1, "addon": 3, "nodegroup": 1, "autoscaling-group": 1, "instance": 2,
}

// assertCreated wants exactly the calls of an undisturbed creation so far.
func assertCreated(t *testing.T, got cloudReport) {
	t.Helper()
	if diff := cmp.Diff(createCalls, got.mutating()); diff != "" {
		t.Errorf("calls that change the account (-want +got):\n%s", diff)
	}
	if got.MutatingCalls != createTotal {
		t.Errorf("%d calls changed the account, want %d", got.MutatingCalls, createTotal)
	}
	if diff := cmp.Diff(objects, got.Created); diff != "" {
		t.Errorf("objects created (-want +got):\n%s", diff)
	}
	assertModelled(t, got)
}

// assertModelled wants that the simulated AWS was asked for nothing unknown.
func assertModelled(t *testing.T, got cloudReport) {
	t.Helper()
	if len(got.Refused) > 0 {
		t.Errorf("the simulated AWS refused what it does not model: %v", got.Refused)
	}
}

// assertWholeLife wants that every object of a creation came once and went
// once, whatever was in between.
func assertWholeLife(t *testing.T, r *report) {
	t.Helper()
	if diff := cmp.Diff(objects, r.Cloud.Created); diff != "" {
		t.Errorf("objects created (-want +got):\n%s", diff)
	}
	if !maps.Equal(r.Cloud.Created, r.Cloud.Deleted) {
		t.Errorf("objects deleted (-created +deleted):\n%s", cmp.Diff(r.Cloud.Created, r.Cloud.Deleted))
	}
	if len(r.Cloud.Existing) > 0 {
		t.Errorf("objects are left: %v", r.Cloud.Existing)
	}
	if r.MoveCalls == nil || *r.MoveCalls != 0 {
		t.Errorf("calls that changed the account during the pivot: %v, want 0", r.MoveCalls)
	}
	for _, s := range r.Steps {
		if !s.Done {
			t.Errorf("step %s is not done", s.Step)
		}
	}
	assertModelled(t, r.Cloud)
}
