package ekssim_test

import (
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/google/go-cmp/cmp"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

const (
	operator = "arn:aws:iam::111122223333:role/team/operator"
	session  = "arn:aws:sts::111122223333:assumed-role/operator/ann"

	adminPolicy = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"
	viewPolicy  = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy"
)

// who is what MapPrincipal says.
type who struct {
	User   string
	Groups []string
	Known  bool
}

func (e *env) who(arn string) who {
	user, groups, ok := e.eks.MapPrincipal(region, "c1", service.Principal{ARN: arn})
	return who{user, groups, ok}
}

func (e *env) wantWho(arn string, want who) {
	e.t.Helper()
	if diff := cmp.Diff(want, e.who(arn)); diff != "" {
		e.t.Errorf("%s: %s", arn, diff)
	}
}

func (e *env) entries() []string {
	e.t.Helper()
	return must[eks.ListAccessEntriesOutput](e, e.eks, "ListAccessEntries", &eks.ListAccessEntriesInput{ClusterName: aws.String("c1")}).AccessEntries
}

func (e *env) admit(groups ...string) (*eks.CreateAccessEntryOutput, error) {
	e.t.Helper()
	return call[eks.CreateAccessEntryOutput](e, e.eks, "CreateAccessEntry", &eks.CreateAccessEntryInput{
		ClusterName: aws.String("c1"), PrincipalArn: aws.String(operator), KubernetesGroups: groups,
	})
}

func (e *env) associate(policy string, scope *types.AccessScope) (*eks.AssociateAccessPolicyOutput, error) {
	e.t.Helper()
	return call[eks.AssociateAccessPolicyOutput](e, e.eks, "AssociateAccessPolicy", &eks.AssociateAccessPolicyInput{
		ClusterName: aws.String("c1"), PrincipalArn: aws.String(operator), PolicyArn: aws.String(policy), AccessScope: scope,
	})
}

func TestCreatorIsAdmin(t *testing.T) {
	t.Run("by ConfigMap mode", func(t *testing.T) {
		e := newEnv(t)
		e.createCluster()
		e.wantWho(creator, who{"kubernetes-admin", []string{"system:masters"}, true})
		e.wantWho(session, who{})
	})
	t.Run("by an access entry in API mode", func(t *testing.T) {
		e := newEnv(t)
		e.createCluster(apiMode)
		e.wantWho(creator, who{creator, []string{"system:masters"}, true})
		if got := e.entries(); !slices.Equal(got, []string{creator}) {
			t.Errorf("entries are %v", got)
		}
	})
	t.Run("unless asked not to be", func(t *testing.T) {
		e := newEnv(t)
		e.createCluster(apiMode, func(in *eks.CreateClusterInput) {
			in.AccessConfig.BootstrapClusterCreatorAdminPermissions = aws.Bool(false)
		})
		e.wantWho(creator, who{})
	})
	t.Run("through a later session of the same role", func(t *testing.T) {
		e := newEnv(t)
		must[eks.CreateClusterOutput](e, e.eks, "CreateCluster", clusterInput(), func(c *service.Call) { c.Caller.ARN = session })
		e.wantWho("arn:aws:sts::111122223333:assumed-role/operator/bob", who{"kubernetes-admin", []string{"system:masters"}, true})
	})
	t.Run("not of an unknown cluster", func(t *testing.T) {
		e := newEnv(t)
		e.wantWho(creator, who{})
	})
}

func TestAccessEntryLife(t *testing.T) {
	e := newEnv(t)
	e.createCluster(apiMode)
	e.wantWho(session, who{})
	out, err := e.admit("viewers")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := *out.AccessEntry.Username, "arn:aws:sts::111122223333:assumed-role/operator/{{SessionName}}"; got != want {
		t.Errorf("the username is %s", got)
	}
	e.wantWho(session, who{session, []string{"viewers"}, true})

	if _, err := e.associate(viewPolicy, &types.AccessScope{Type: types.AccessScopeTypeNamespace, Namespaces: []string{"a"}}); err != nil {
		t.Fatal(err)
	}
	e.wantWho(session, who{session, []string{"viewers"}, true})
	if _, err := e.associate(adminPolicy, &types.AccessScope{Type: types.AccessScopeTypeNamespace, Namespaces: []string{"a"}}); err != nil {
		t.Fatal(err)
	}
	e.wantWho(session, who{session, []string{"viewers"}, true}) // an admin of one namespace is not one of all
	for range 2 {                                               // clients send it again on every pass
		if _, err := e.associate(adminPolicy, &types.AccessScope{Type: types.AccessScopeTypeCluster}); err != nil {
			t.Fatal(err)
		}
	}
	e.wantWho(session, who{session, []string{"viewers", "system:masters"}, true})
	list := must[eks.ListAssociatedAccessPoliciesOutput](e, e.eks, "ListAssociatedAccessPolicies", &eks.ListAssociatedAccessPoliciesInput{
		ClusterName: aws.String("c1"), PrincipalArn: aws.String(operator),
	})
	if p := list.AssociatedAccessPolicies; len(p) != 2 || *p[0].PolicyArn != adminPolicy || p[1].AccessScope.Namespaces[0] != "a" {
		t.Errorf("policies are %+v", p)
	}
	must[eks.DisassociateAccessPolicyOutput](e, e.eks, "DisassociateAccessPolicy", &eks.DisassociateAccessPolicyInput{
		ClusterName: aws.String("c1"), PrincipalArn: aws.String(operator), PolicyArn: aws.String(adminPolicy),
	})
	must[eks.UpdateAccessEntryOutput](e, e.eks, "UpdateAccessEntry", &eks.UpdateAccessEntryInput{
		ClusterName: aws.String("c1"), PrincipalArn: aws.String(operator), KubernetesGroups: []string{"editors"}, Username: aws.String("ops"),
	})
	e.wantWho(session, who{"ops", []string{"editors"}, true})
	described := must[eks.DescribeAccessEntryOutput](e, e.eks, "DescribeAccessEntry", &eks.DescribeAccessEntryInput{
		ClusterName: aws.String("c1"), PrincipalArn: aws.String(operator),
	}).AccessEntry
	if *described.Type != "STANDARD" || *described.Username != "ops" {
		t.Errorf("it is %+v", described)
	}
	must[eks.DeleteAccessEntryOutput](e, e.eks, "DeleteAccessEntry", &eks.DeleteAccessEntryInput{ClusterName: aws.String("c1"), PrincipalArn: aws.String(operator)})
	e.wantWho(session, who{})
}

func TestAccessEntryRefusals(t *testing.T) {
	e := newEnv(t)
	e.createCluster()
	_, err := e.admit()
	refused(t, err, "InvalidRequestException") // CONFIG_MAP

	e = newEnv(t)
	e.createCluster(apiMode)
	_, err = e.admit("system:masters")
	refused(t, err, "InvalidParameterException")
	if _, err := e.admit(); err != nil {
		t.Fatal(err)
	}
	_, err = e.admit()
	refused(t, err, "ResourceInUseException")
	_, err = e.associate(adminPolicy, nil)
	refused(t, err, "InvalidParameterException")
	_, err = e.associate(adminPolicy, &types.AccessScope{Type: types.AccessScopeTypeNamespace})
	refused(t, err, "InvalidParameterException")
	_, err = e.associate("arn:aws:eks::aws:cluster-access-policy/None", &types.AccessScope{Type: types.AccessScopeTypeCluster})
	refused(t, err, "ResourceNotFoundException")
	_, err = call[eks.CreateAccessEntryOutput](e, e.eks, "CreateAccessEntry", &eks.CreateAccessEntryInput{ClusterName: aws.String("c1"), PrincipalArn: aws.String(session)})
	refused(t, err, "InvalidParameterException")
	_, err = call[eks.CreateAccessEntryOutput](e, e.eks, "CreateAccessEntry", &eks.CreateAccessEntryInput{
		ClusterName: aws.String("c1"), PrincipalArn: aws.String(nodeRole), Type: aws.String("FARGATE_LINUX"),
	})
	refused(t, err, "InvalidParameterException")
}

func TestAccessEntryOfNodes(t *testing.T) {
	e := newEnv(t)
	e.createCluster(apiMode)
	e.createNodegroup(1)
	if got := e.entries(); !slices.Equal(got, []string{nodeRole, creator}) {
		t.Fatalf("entries are %v", got)
	}
	e.wantWho(nodeRole, who{})
	_, err := call[eks.UpdateAccessEntryOutput](e, e.eks, "UpdateAccessEntry", &eks.UpdateAccessEntryInput{ClusterName: aws.String("c1"), PrincipalArn: aws.String(nodeRole)})
	refused(t, err, "InvalidRequestException")
	must[eks.DeleteNodegroupOutput](e, e.eks, "DeleteNodegroup", &eks.DeleteNodegroupInput{ClusterName: aws.String("c1"), NodegroupName: aws.String("pool")})
	e.world.quiet()
	if got := e.entries(); !slices.Equal(got, []string{creator}) {
		t.Errorf("after the node group: %v", got)
	}
}

func TestChangeToAPIModeAdmitsCreatorAndNodes(t *testing.T) {
	e := newEnv(t)
	e.createCluster()
	e.createNodegroup(1)
	if _, err := e.updateConfig(eks.UpdateClusterConfigInput{AccessConfig: &types.UpdateAccessConfigRequest{AuthenticationMode: types.AuthenticationModeApiAndConfigMap}}); err != nil {
		t.Fatal(err)
	}
	e.world.quiet()
	if got := e.entries(); !slices.Equal(got, []string{nodeRole, creator}) {
		t.Errorf("entries are %v", got)
	}
	e.wantWho(creator, who{creator, []string{"system:masters"}, true})
}

func TestListAccessPolicies(t *testing.T) {
	e := newEnv(t)
	out := must[eks.ListAccessPoliciesOutput](e, e.eks, "ListAccessPolicies", &eks.ListAccessPoliciesInput{})
	if !slices.ContainsFunc(out.AccessPolicies, func(p types.AccessPolicy) bool { return *p.Arn == adminPolicy }) {
		t.Errorf("policies are %+v", out.AccessPolicies)
	}
}
