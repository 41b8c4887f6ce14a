package awssim_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/google/go-cmp/cmp"

	"github.com/krops-go/krops/internal/rehearsal/awssim"
)

func TestWhoLacksAPermissionIsRefusedInTheServicesWords(t *testing.T) {
	nobody := user("nobody")
	e := newEstate(t, awssim.WithCredentials(nobody))
	by := e.as(nobody)
	for _, c := range []struct {
		name, code, message string
		err                 func() error
	}{
		{"EC2", "UnauthorizedOperation", "User: arn:aws:iam::111122223333:user/nobody is not authorized to perform: ec2:CreateVpc on resource: " +
			"arn:aws:ec2:eu-central-1:111122223333:vpc/* because no identity-based policy allows the ec2:CreateVpc action",
			func() error {
				_, err := by.ec2().CreateVpc(t.Context(), &ec2.CreateVpcInput{CidrBlock: aws.String("10.0.0.0/16")})
				return err
			}},
		{"EC2, a dry run", "UnauthorizedOperation", "ec2:DescribeVpcs because",
			func() error {
				_, err := by.ec2().DescribeVpcs(t.Context(), &ec2.DescribeVpcsInput{DryRun: aws.Bool(true)})
				return err
			}},
		{"IAM", "AccessDenied", "is not authorized to perform: iam:GetRole on resource: arn:aws:iam::111122223333:role/x because",
			func() error {
				_, err := by.iam().GetRole(t.Context(), &iam.GetRoleInput{RoleName: aws.String("x")})
				return err
			}},
		{"EKS", "AccessDeniedException", "is not authorized to perform: eks:DescribeCluster on resource: arn:aws:eks:eu-central-1:111122223333:cluster/x because",
			func() error {
				_, err := by.eks().DescribeCluster(t.Context(), &eks.DescribeClusterInput{Name: aws.String("x")})
				return err
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.err()
			if codeOf(err) != c.code || !strings.Contains(err.Error(), c.message) {
				t.Errorf("got %s, want %s: %s", messageOf(err), c.code, c.message)
			}
		})
	}
	t.Run("who one is can always be asked", func(t *testing.T) {
		out, err := by.sts().GetCallerIdentity(t.Context(), nil)
		if err != nil || *out.Arn != nobody.ARN {
			t.Errorf("got %+v, %v", out, err)
		}
	})
}

func TestPoliciesLimitWhatAUserMay(t *testing.T) {
	look := `{"Effect":"Allow","Action":"ec2:Describe*","Resource":"*"}`
	inRegion := `{"Effect":"Allow","Action":"ec2:*","Resource":"*","Condition":{"StringEquals":{"aws:RequestedRegion":"eu-west-1"}}}`
	tagged := `{"Effect":"Allow","Action":["ec2:CreateVpc","ec2:CreateTags"],"Resource":"*","Condition":{"StringEquals":{"aws:RequestTag/owner":"krops"}}}`
	untagged := `{"Effect":"Allow","Action":"ec2:CreateVpc","Resource":"*"}`
	deleteOwned := `{"Effect":"Allow","Action":"ec2:DeleteVpc","Resource":"*","Condition":{"StringEquals":{"aws:ResourceTag/owner":"krops"}}}`
	noDelete := `{"Effect":"Deny","Action":"ec2:Delete*","Resource":"*"}`
	all := `{"Effect":"Allow","Action":"*","Resource":"*"}`
	keys := map[string]awssim.Credential{
		"look": user("look", look), "region": user("region", inRegion), "tagged": user("tagged", tagged),
		"untagged": user("untagged", untagged), "owned": user("owned", deleteOwned), "careful": user("careful", all, noDelete),
	}
	var options []awssim.Option
	for _, k := range keys {
		options = append(options, awssim.WithCredentials(k))
	}
	e := newEstate(t, options...)
	create := func(who string, tags ...string) (string, error) {
		in := &ec2.CreateVpcInput{CidrBlock: aws.String("10.0.0.0/16")}
		if len(tags) > 0 {
			in.TagSpecifications = []ec2types.TagSpecification{{
				ResourceType: ec2types.ResourceTypeVpc, Tags: []ec2types.Tag{{Key: &tags[0], Value: &tags[1]}},
			}}
		}
		out, err := e.as(keys[who]).ec2().CreateVpc(t.Context(), in)
		if err != nil {
			return "", err
		}
		return *out.Vpc.VpcId, nil
	}
	remove := func(who, id string) error {
		_, err := e.as(keys[who]).ec2().DeleteVpc(t.Context(), &ec2.DeleteVpcInput{VpcId: &id})
		return err
	}
	want := func(t *testing.T, err error, code string) {
		t.Helper()
		if got := codeOf(err); got != code {
			t.Errorf("got %q, want %q", got, code)
		}
	}
	const denied = "UnauthorizedOperation"
	t.Run("reading only", func(t *testing.T) {
		_, err := e.as(keys["look"]).ec2().DescribeVpcs(t.Context(), &ec2.DescribeVpcsInput{})
		want(t, err, "")
		_, err = create("look")
		want(t, err, denied)
	})
	t.Run("another region", func(t *testing.T) {
		_, err := create("region")
		want(t, err, denied)
		_, err = e.as(keys["region"]).ec2().CreateVpc(t.Context(), &ec2.CreateVpcInput{CidrBlock: aws.String("10.0.0.0/16")},
			func(o *ec2.Options) { o.Region = "eu-west-1" })
		want(t, err, "")
	})
	var owned string
	t.Run("only with the tag", func(t *testing.T) {
		_, err := create("tagged", "owner", "somebody")
		want(t, err, denied)
		owned, err = create("tagged", "owner", "krops")
		want(t, err, "")
	})
	t.Run("tags at creation need their own permission", func(t *testing.T) {
		_, err := create("untagged", "owner", "krops")
		want(t, err, denied)
		if !strings.Contains(err.Error(), "ec2:CreateTags") {
			t.Errorf("the message does not name the missing action: %v", err)
		}
	})
	t.Run("only what has the tag", func(t *testing.T) {
		other, err := create("untagged")
		want(t, err, "")
		want(t, remove("owned", other), denied)
		want(t, remove("careful", owned), denied)
		want(t, remove("owned", owned), "")
	})
}

func TestRolesArePassedOnlyWithPermission(t *testing.T) {
	create := `{"Effect":"Allow","Action":["eks:CreateCluster","eks:TagResource"],"Resource":"*"}`
	pass := func(to string) string {
		return `{"Effect":"Allow","Action":"iam:PassRole","Resource":"arn:aws:iam::*:role/control/*","Condition":{"StringEquals":{"iam:PassedToService":"` + to + `"}}}`
	}
	without, elsewhere, with := user("without", create), user("elsewhere", create, pass("ec2.amazonaws.com")), user("with", create, pass("eks.amazonaws.com"))
	e := newEstate(t, awssim.WithCredentials(without, elsewhere, with))
	role := e.createRole(t, "plane", `{"Effect":"Allow","Principal":{"Service":"eks.amazonaws.com"},"Action":"sts:AssumeRole"}`, "",
		func(in *iam.CreateRoleInput) { in.Path = aws.String("/control/") })
	attempt := func(who awssim.Credential) error {
		_, err := e.as(who).eks().CreateCluster(t.Context(), &eks.CreateClusterInput{
			Name: aws.String("x"), RoleArn: &role, ResourcesVpcConfig: &ekstypes.VpcConfigRequest{},
		})
		return err
	}
	for _, who := range []awssim.Credential{without, elsewhere} {
		if err := attempt(who); codeOf(err) != "AccessDeniedException" || !strings.Contains(err.Error(), "iam:PassRole on resource: "+role) {
			t.Errorf("%s: got %v", who.ARN, err)
		}
	}
	if err := attempt(with); codeOf(err) != "InvalidParameterException" { // there are no subnets
		t.Errorf("with the permission: got %v", err)
	}
}

func TestTheReportSaysWhichActionsWereUsed(t *testing.T) {
	limited := user("limited", `{"Effect":"Allow","Action":"ec2:CreateVpc","Resource":"*"}`)
	e := newEstate(t, awssim.WithCredentials(limited))
	for range 2 {
		if _, err := e.as(limited).ec2().CreateVpc(t.Context(), &ec2.CreateVpcInput{CidrBlock: aws.String("10.0.0.0/16")}); err != nil {
			t.Fatal(err)
		}
	}
	_, err := e.as(limited).ec2().DescribeVpcs(t.Context(), &ec2.DescribeVpcsInput{})
	if codeOf(err) != "UnauthorizedOperation" {
		t.Fatal(err)
	}
	want := []awssim.ActionUse{
		{Principal: limited.ARN, Action: "ec2:CreateVpc", Allowed: 2},
		{Principal: limited.ARN, Action: "ec2:DescribeVpcs", Denied: 1},
	}
	if diff := cmp.Diff(want, e.server.Report().Actions); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSimulation(t *testing.T) {
	limited := user("limited", `{"Sid":"Make","Effect":"Allow","Action":"ec2:Create*","Resource":"*","Condition":{"StringEquals":{"aws:RequestedRegion":"eu-central-1"}}},
		{"Effect":"Deny","Action":"ec2:CreateVolume","Resource":"*"}`)
	e := newEstate(t, awssim.WithCredentials(limited))
	role := e.createRole(t, "reader", trustAccount, `{"Effect":"Allow","Action":"ec2:Describe*","Resource":"*"}`,
		func(in *iam.CreateRoleInput) {
			in.PermissionsBoundary = aws.String("arn:aws:iam::aws:policy/AmazonEKS_CNI_Policy")
		})
	decisions := func(t *testing.T, in *iam.SimulatePrincipalPolicyInput) map[string]iamtypes.PolicyEvaluationDecisionType {
		t.Helper()
		out, err := e.as(admin).iam().SimulatePrincipalPolicy(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]iamtypes.PolicyEvaluationDecisionType{}
		for _, r := range out.EvaluationResults {
			got[*r.EvalActionName] = r.EvalDecision
		}
		return got
	}
	const allowed, implicit, explicit = iamtypes.PolicyEvaluationDecisionTypeAllowed, iamtypes.PolicyEvaluationDecisionTypeImplicitDeny, iamtypes.PolicyEvaluationDecisionTypeExplicitDeny
	t.Run("a user", func(t *testing.T) {
		got := decisions(t, &iam.SimulatePrincipalPolicyInput{
			PolicySourceArn: &limited.ARN, ActionNames: []string{"ec2:CreateVpc", "ec2:CreateVolume", "ec2:DeleteVpc"},
			ContextEntries: []iamtypes.ContextEntry{{
				ContextKeyName: aws.String("aws:RequestedRegion"), ContextKeyType: iamtypes.ContextKeyTypeEnumString, ContextKeyValues: []string{"eu-central-1"},
			}},
		})
		want := map[string]iamtypes.PolicyEvaluationDecisionType{"ec2:CreateVpc": allowed, "ec2:CreateVolume": explicit, "ec2:DeleteVpc": implicit}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("a missing key is named", func(t *testing.T) {
		out, err := e.as(admin).iam().SimulatePrincipalPolicy(t.Context(), &iam.SimulatePrincipalPolicyInput{
			PolicySourceArn: &limited.ARN, ActionNames: []string{"ec2:CreateVpc"},
		})
		if err != nil {
			t.Fatal(err)
		}
		got := out.EvaluationResults[0]
		if got.EvalDecision != implicit || len(got.MissingContextValues) != 1 || got.MissingContextValues[0] != "aws:RequestedRegion" {
			t.Errorf("got %s, missing %v", got.EvalDecision, got.MissingContextValues)
		}
	})
	t.Run("a role with a boundary", func(t *testing.T) {
		got := decisions(t, &iam.SimulatePrincipalPolicyInput{PolicySourceArn: &role, ActionNames: []string{"ec2:DescribeTags", "ec2:DescribeVpcs"}})
		want := map[string]iamtypes.PolicyEvaluationDecisionType{"ec2:DescribeTags": allowed, "ec2:DescribeVpcs": implicit}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("somebody unknown", func(t *testing.T) {
		_, err := e.as(admin).iam().SimulatePrincipalPolicy(t.Context(), &iam.SimulatePrincipalPolicyInput{
			PolicySourceArn: aws.String("arn:aws:iam::111122223333:role/none"), ActionNames: []string{"ec2:CreateVpc"},
		})
		if got := codeOf(err); got != "NoSuchEntity" {
			t.Errorf("got %q", got)
		}
	})
	t.Run("documents alone, page by page", func(t *testing.T) {
		pages := iam.NewSimulateCustomPolicyPaginator(e.as(admin).iam(), &iam.SimulateCustomPolicyInput{
			PolicyInputList: []string{document(`{"Effect":"Allow","Action":"s3:Get*","Resource":"arn:aws:s3:::b/*"}`)},
			ActionNames:     []string{"s3:GetObject", "s3:PutObject"}, ResourceArns: []string{"arn:aws:s3:::b/k", "arn:aws:s3:::c/k"},
			MaxItems: aws.Int32(3),
		})
		var got []string
		for pages.HasMorePages() {
			out, err := pages.NextPage(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range out.EvaluationResults {
				got = append(got, *r.EvalActionName+" "+*r.EvalResourceName+" "+string(r.EvalDecision))
			}
		}
		want := []string{
			"s3:GetObject arn:aws:s3:::b/k allowed", "s3:GetObject arn:aws:s3:::c/k implicitDeny",
			"s3:PutObject arn:aws:s3:::b/k implicitDeny", "s3:PutObject arn:aws:s3:::c/k implicitDeny",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}
