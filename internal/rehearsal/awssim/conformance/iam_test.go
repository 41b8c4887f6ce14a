package conformance_test

import (
	"context"
	"net/url"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"
)

const describeOnly = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"ec2:DescribeVpcs","Resource":"*"}]}`

// TestUser is a user with everything a user can have: the key signs, its
// policies decide, and each thing it has keeps it from being deleted.
func TestUser(t *testing.T) {
	a := newAccount(t)
	ctx, client, name := t.Context(), iam.NewFromConfig(a.Config()), aws.String("krops-reader")
	user := must[*iam.CreateUserOutput](t)(client.CreateUser(ctx, &iam.CreateUserInput{UserName: name, Path: aws.String("/krops/")})).User
	if *user.Arn != "arn:aws:iam::"+accountID+":user/krops/krops-reader" {
		t.Errorf("the user is %s", *user.Arn)
	}
	_, err := client.CreateUser(ctx, &iam.CreateUserInput{UserName: aws.String("Krops-Reader")})
	refused(t, "EntityAlreadyExists", err)
	policy := must[*iam.CreatePolicyOutput](t)(client.CreatePolicy(ctx, &iam.CreatePolicyInput{PolicyName: aws.String("reader"), PolicyDocument: aws.String(describeOnly)})).Policy
	must[*iam.AttachUserPolicyOutput](t)(client.AttachUserPolicy(ctx, &iam.AttachUserPolicyInput{UserName: name, PolicyArn: policy.Arn}))
	must[*iam.PutUserPolicyOutput](t)(client.PutUserPolicy(ctx, &iam.PutUserPolicyInput{
		UserName: name, PolicyName: aws.String("more"), PolicyDocument: aws.String(`{"Statement":{"Effect":"Allow","Action":"ec2:DescribeSubnets","Resource":"*"}}`),
	}))
	must[*iam.CreateGroupOutput](t)(client.CreateGroup(ctx, &iam.CreateGroupInput{GroupName: aws.String("people")}))
	must[*iam.AddUserToGroupOutput](t)(client.AddUserToGroup(ctx, &iam.AddUserToGroupInput{GroupName: aws.String("people"), UserName: name}))
	must[*iam.CreateLoginProfileOutput](t)(client.CreateLoginProfile(ctx, &iam.CreateLoginProfileInput{UserName: name, Password: aws.String("long enough")}))
	key := must[*iam.CreateAccessKeyOutput](t)(client.CreateAccessKey(ctx, &iam.CreateAccessKeyInput{UserName: name})).AccessKey

	a.Restart()
	client = iam.NewFromConfig(a.Config())
	config := a.Config()
	config.Credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{AccessKeyID: *key.AccessKeyId, SecretAccessKey: *key.SecretAccessKey}, nil
	})
	who := must[*sts.GetCallerIdentityOutput](t)(sts.NewFromConfig(config).GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{}))
	if *who.Arn != *user.Arn || *who.UserId != *user.UserId {
		t.Errorf("the key is that of %s", *who.Arn)
	}
	asUser := ec2.NewFromConfig(config)
	must[*ec2.DescribeVpcsOutput](t)(asUser.DescribeVpcs(ctx, &ec2.DescribeVpcsInput{}))
	must[*ec2.DescribeSubnetsOutput](t)(asUser.DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{}))
	_, err = asUser.CreateVpc(ctx, &ec2.CreateVpcInput{CidrBlock: aws.String("10.0.0.0/16")})
	refused(t, "UnauthorizedOperation", err)
	must[*iam.UpdateAccessKeyOutput](t)(client.UpdateAccessKey(ctx, &iam.UpdateAccessKeyInput{UserName: name, AccessKeyId: key.AccessKeyId, Status: types.StatusTypeInactive}))
	_, err = asUser.DescribeVpcs(ctx, &ec2.DescribeVpcsInput{})
	refused(t, "AuthFailure", err)

	_, err = client.DeletePolicy(ctx, &iam.DeletePolicyInput{PolicyArn: policy.Arn})
	refused(t, "DeleteConflict", err)
	remains := func() {
		t.Helper()
		_, err := client.DeleteUser(ctx, &iam.DeleteUserInput{UserName: name})
		refused(t, "DeleteConflict", err)
	}
	remains()
	must[*iam.DetachUserPolicyOutput](t)(client.DetachUserPolicy(ctx, &iam.DetachUserPolicyInput{UserName: name, PolicyArn: policy.Arn}))
	remains()
	must[*iam.DeleteUserPolicyOutput](t)(client.DeleteUserPolicy(ctx, &iam.DeleteUserPolicyInput{UserName: name, PolicyName: aws.String("more")}))
	remains()
	must[*iam.DeleteAccessKeyOutput](t)(client.DeleteAccessKey(ctx, &iam.DeleteAccessKeyInput{UserName: name, AccessKeyId: key.AccessKeyId}))
	remains()
	must[*iam.DeleteLoginProfileOutput](t)(client.DeleteLoginProfile(ctx, &iam.DeleteLoginProfileInput{UserName: name}))
	remains()
	_, err = client.DeleteGroup(ctx, &iam.DeleteGroupInput{GroupName: aws.String("people")})
	refused(t, "DeleteConflict", err)
	must[*iam.RemoveUserFromGroupOutput](t)(client.RemoveUserFromGroup(ctx, &iam.RemoveUserFromGroupInput{GroupName: aws.String("people"), UserName: name}))
	must[*iam.DeleteGroupOutput](t)(client.DeleteGroup(ctx, &iam.DeleteGroupInput{GroupName: aws.String("people")}))
	must[*iam.DeleteUserOutput](t)(client.DeleteUser(ctx, &iam.DeleteUserInput{UserName: name}))
	must[*iam.DeletePolicyOutput](t)(client.DeletePolicy(ctx, &iam.DeletePolicyInput{PolicyArn: policy.Arn}))
	a.NothingLeft()
}

func TestPolicyVersions(t *testing.T) {
	a := newAccount(t)
	ctx, client := t.Context(), iam.NewFromConfig(a.Config())
	arn := must[*iam.CreatePolicyOutput](t)(client.CreatePolicy(ctx, &iam.CreatePolicyInput{PolicyName: aws.String("p"), PolicyDocument: aws.String(describeOnly)})).Policy.Arn
	version := &iam.CreatePolicyVersionInput{PolicyArn: arn, PolicyDocument: aws.String(describeOnly), SetAsDefault: true}
	for range 4 {
		must[*iam.CreatePolicyVersionOutput](t)(client.CreatePolicyVersion(ctx, version))
	}
	_, err := client.CreatePolicyVersion(ctx, version)
	refused(t, "LimitExceeded", err)
	_, err = client.DeletePolicyVersion(ctx, &iam.DeletePolicyVersionInput{PolicyArn: arn, VersionId: aws.String("v5")})
	refused(t, "DeleteConflict", err)
	got := must[*iam.GetPolicyVersionOutput](t)(client.GetPolicyVersion(ctx, &iam.GetPolicyVersionInput{PolicyArn: arn, VersionId: aws.String("v5")})).PolicyVersion
	if text, _ := url.QueryUnescape(*got.Document); text != describeOnly || !got.IsDefaultVersion {
		t.Errorf("version 5 is %+v", got)
	}
	_, err = client.DeletePolicy(ctx, &iam.DeletePolicyInput{PolicyArn: arn})
	refused(t, "DeleteConflict", err)
	for _, v := range must[*iam.ListPolicyVersionsOutput](t)(client.ListPolicyVersions(ctx, &iam.ListPolicyVersionsInput{PolicyArn: arn})).Versions {
		if !v.IsDefaultVersion {
			must[*iam.DeletePolicyVersionOutput](t)(client.DeletePolicyVersion(ctx, &iam.DeletePolicyVersionInput{PolicyArn: arn, VersionId: v.VersionId}))
		}
	}
	must[*iam.DeletePolicyOutput](t)(client.DeletePolicy(ctx, &iam.DeletePolicyInput{PolicyArn: arn}))
	a.NothingLeft()
}

// TestTrustInSomebodyAbsent is the order in which a reader's roles and the
// reader have to be made.
func TestTrustInSomebodyAbsent(t *testing.T) {
	a := newAccount(t)
	ctx, client := t.Context(), iam.NewFromConfig(a.Config())
	role := &iam.CreateRoleInput{RoleName: aws.String("reader"), AssumeRolePolicyDocument: aws.String(
		`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRole","Principal":{"AWS":"arn:aws:iam::` + accountID + `:user/krops-reader"}}]}`)}
	_, err := client.CreateRole(ctx, role)
	refused(t, "MalformedPolicyDocument", err)
	must[*iam.CreateUserOutput](t)(client.CreateUser(ctx, &iam.CreateUserInput{UserName: aws.String("krops-reader")}))
	must[*iam.CreateRoleOutput](t)(client.CreateRole(ctx, role))
	linked := must[*iam.CreateServiceLinkedRoleOutput](t)(client.CreateServiceLinkedRole(ctx, &iam.CreateServiceLinkedRoleInput{AWSServiceName: aws.String("eks.amazonaws.com")})).Role
	_, err = client.DeleteRole(ctx, &iam.DeleteRoleInput{RoleName: linked.RoleName})
	refused(t, "UnmodifiableEntity", err)
	task := must[*iam.DeleteServiceLinkedRoleOutput](t)(client.DeleteServiceLinkedRole(ctx, &iam.DeleteServiceLinkedRoleInput{RoleName: linked.RoleName})).DeletionTaskId
	status := must[*iam.GetServiceLinkedRoleDeletionStatusOutput](t)(client.GetServiceLinkedRoleDeletionStatus(ctx, &iam.GetServiceLinkedRoleDeletionStatusInput{DeletionTaskId: task}))
	if status.Status != types.DeletionTaskStatusTypeSucceeded {
		t.Errorf("the deletion is %s", status.Status)
	}
	must[*iam.DeleteRoleOutput](t)(client.DeleteRole(ctx, &iam.DeleteRoleInput{RoleName: aws.String("reader")}))
	must[*iam.DeleteUserOutput](t)(client.DeleteUser(ctx, &iam.DeleteUserInput{UserName: aws.String("krops-reader")}))
	a.NothingLeft()
}
