package conformance_test

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	kmstypes "github.com/aws/aws-sdk-go-v2/service/kms/types"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/servicequotas"
	quotatypes "github.com/aws/aws-sdk-go-v2/service/servicequotas/types"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	ssmtypes "github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/awssimtest"
)

// TestQuotaIncrease runs into the quota of elastic IPs, asks for more, and can
// allocate once AWS has approved; another region's quota stays as it was.
func TestQuotaIncrease(t *testing.T) {
	a := newAccount(t)
	ctx, network, quotas := t.Context(), ec2.NewFromConfig(a.Config()), servicequotas.NewFromConfig(a.Config())
	code := &servicequotas.GetServiceQuotaInput{ServiceCode: aws.String("ec2"), QuotaCode: aws.String("L-0263D0A3")}
	if q := must[*servicequotas.GetServiceQuotaOutput](t)(quotas.GetServiceQuota(ctx, code)).Quota; *q.Value != 5 || !q.Adjustable {
		t.Errorf("the quota is %+v", q)
	}
	var allocated []string
	allocate := func() error {
		out, err := network.AllocateAddress(ctx, &ec2.AllocateAddressInput{})
		if err == nil {
			allocated = append(allocated, *out.AllocationId)
		}
		return err
	}
	for range 5 {
		if err := allocate(); err != nil {
			t.Fatal(err)
		}
	}
	refused(t, "AddressLimitExceeded", allocate())
	ask := &servicequotas.RequestServiceQuotaIncreaseInput{ServiceCode: code.ServiceCode, QuotaCode: code.QuotaCode, DesiredValue: aws.Float64(5)}
	_, err := quotas.RequestServiceQuotaIncrease(ctx, ask)
	refused(t, "IllegalArgumentException", err)
	ask.DesiredValue = aws.Float64(6)
	id := must[*servicequotas.RequestServiceQuotaIncreaseOutput](t)(quotas.RequestServiceQuotaIncrease(ctx, ask)).RequestedQuota.Id
	_, err = quotas.RequestServiceQuotaIncrease(ctx, ask)
	refused(t, "ResourceAlreadyExistsException", err)
	refused(t, "AddressLimitExceeded", allocate())

	if err := a.Server.Do(func() {
		open := a.Quotas.Open()
		if len(open) != 1 || open[0].ID != *id || open[0].Desired != 6 {
			t.Errorf("open requests: %+v", open)
		}
		if err := a.Quotas.Approve(*id, time.Now()); err != nil {
			t.Error(err)
		}
	}); err != nil {
		t.Fatal(err)
	}
	a.Restart()
	network, quotas = ec2.NewFromConfig(a.Config()), servicequotas.NewFromConfig(a.Config())
	change := must[*servicequotas.GetRequestedServiceQuotaChangeOutput](t)(quotas.GetRequestedServiceQuotaChange(ctx, &servicequotas.GetRequestedServiceQuotaChangeInput{RequestId: id}))
	if change.RequestedQuota.Status != quotatypes.RequestStatusApproved {
		t.Errorf("the request is %s", change.RequestedQuota.Status)
	}
	if err := allocate(); err != nil {
		t.Error(err)
	}
	refused(t, "AddressLimitExceeded", allocate())
	other := servicequotas.NewFromConfig(a.ConfigIn("eu-west-1"))
	if q := must[*servicequotas.GetServiceQuotaOutput](t)(other.GetServiceQuota(ctx, code)).Quota; *q.Value != 5 {
		t.Errorf("in eu-west-1 the quota is %v", *q.Value)
	}
	for _, id := range allocated {
		must[*ec2.ReleaseAddressOutput](t)(network.ReleaseAddress(ctx, &ec2.ReleaseAddressInput{AllocationId: &id}))
	}
	a.NothingLeft()
}

func TestParameters(t *testing.T) {
	a := newAccount(t)
	ctx, client := t.Context(), ssm.NewFromConfig(a.Config())
	image := must[*ssm.GetParameterOutput](t)(client.GetParameter(ctx, &ssm.GetParameterInput{
		Name: aws.String("/aws/service/eks/optimized-ami/1.35/amazon-linux-2023/arm64/standard/recommended/image_id"),
	})).Parameter
	images := must[*ec2.DescribeImagesOutput](t)(ec2.NewFromConfig(a.Config()).DescribeImages(ctx, &ec2.DescribeImagesInput{ImageIds: []string{*image.Value}})).Images
	if len(images) != 1 || images[0].Architecture != "arm64" || !strings.Contains(*images[0].Name, "1.35") {
		t.Errorf("the recommended image is %+v", images)
	}
	_, err := client.GetParameter(ctx, &ssm.GetParameterInput{Name: aws.String("/aws/service/eks/optimized-ami/1.99/amazon-linux-2023/arm64/standard/recommended/image_id")})
	refused(t, "ParameterNotFound", err)
	put := &ssm.PutParameterInput{Name: aws.String("/krops/a"), Value: aws.String("one"), Type: ssmtypes.ParameterTypeSecureString}
	must[*ssm.PutParameterOutput](t)(client.PutParameter(ctx, put))
	_, err = client.PutParameter(ctx, put)
	refused(t, "ParameterAlreadyExists", err)
	put.Overwrite, put.Value = aws.Bool(true), aws.String("two")
	if out := must[*ssm.PutParameterOutput](t)(client.PutParameter(ctx, put)); out.Version != 2 {
		t.Errorf("the version is %d", out.Version)
	}
	closed := must[*ssm.GetParameterOutput](t)(client.GetParameter(ctx, &ssm.GetParameterInput{Name: put.Name})).Parameter
	open := must[*ssm.GetParameterOutput](t)(client.GetParameter(ctx, &ssm.GetParameterInput{Name: aws.String("/krops/a:1"), WithDecryption: aws.Bool(true)})).Parameter
	if *closed.Value == "two" || *open.Value != "one" {
		t.Errorf("closed %q, the first version opened %q", *closed.Value, *open.Value)
	}
	many := must[*ssm.GetParametersOutput](t)(client.GetParameters(ctx, &ssm.GetParametersInput{Names: []string{"/krops/a", "/krops/b"}}))
	if len(many.Parameters) != 1 || len(many.InvalidParameters) != 1 {
		t.Errorf("got %+v, invalid %v", many.Parameters, many.InvalidParameters)
	}
	must[*ssm.DeleteParameterOutput](t)(client.DeleteParameter(ctx, &ssm.DeleteParameterInput{Name: put.Name}))
	_, err = client.DeleteParameter(ctx, &ssm.DeleteParameterInput{Name: put.Name})
	refused(t, "ParameterNotFound", err)
	a.NothingLeft()
}

func TestSecrets(t *testing.T) {
	a := newAccount(t)
	ctx, client, name := t.Context(), secretsmanager.NewFromConfig(a.Config()), aws.String("krops/token")
	made := must[*secretsmanager.CreateSecretOutput](t)(client.CreateSecret(ctx, &secretsmanager.CreateSecretInput{Name: name, SecretString: aws.String("one")}))
	_, err := client.CreateSecret(ctx, &secretsmanager.CreateSecretInput{Name: name})
	refused(t, "ResourceExistsException", err)
	must[*secretsmanager.PutSecretValueOutput](t)(client.PutSecretValue(ctx, &secretsmanager.PutSecretValueInput{SecretId: name, SecretBinary: []byte{0, 1, 255}}))
	value := must[*secretsmanager.GetSecretValueOutput](t)(client.GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: made.ARN}))
	before := must[*secretsmanager.GetSecretValueOutput](t)(client.GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: name, VersionStage: aws.String("AWSPREVIOUS")}))
	if string(value.SecretBinary) != "\x00\x01\xff" || *before.SecretString != "one" {
		t.Errorf("the value is %q, before it was %q", value.SecretBinary, *before.SecretString)
	}
	must[*secretsmanager.DeleteSecretOutput](t)(client.DeleteSecret(ctx, &secretsmanager.DeleteSecretInput{SecretId: name, RecoveryWindowInDays: aws.Int64(7)}))
	_, err = client.GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: name})
	refused(t, "InvalidRequestException", err)
	must[*secretsmanager.RestoreSecretOutput](t)(client.RestoreSecret(ctx, &secretsmanager.RestoreSecretInput{SecretId: name}))
	must[*secretsmanager.DeleteSecretOutput](t)(client.DeleteSecret(ctx, &secretsmanager.DeleteSecretInput{SecretId: name, ForceDeleteWithoutRecovery: aws.Bool(true)}))
	_, err = client.DescribeSecret(ctx, &secretsmanager.DescribeSecretInput{SecretId: name})
	refused(t, "ResourceNotFoundException", err)
	a.NothingLeft()
}

func TestKeys(t *testing.T) {
	a := newAccount(t)
	ctx, client := t.Context(), kms.NewFromConfig(a.Config())
	managed := must[*kms.DescribeKeyOutput](t)(client.DescribeKey(ctx, &kms.DescribeKeyInput{KeyId: aws.String("alias/aws/ebs")})).KeyMetadata
	if managed.KeyManager != kmstypes.KeyManagerTypeAws || !managed.Enabled {
		t.Errorf("the managed key is %+v", managed)
	}
	_, err := client.ScheduleKeyDeletion(ctx, &kms.ScheduleKeyDeletionInput{KeyId: managed.Arn})
	refused(t, "AccessDeniedException", err)
	key := must[*kms.CreateKeyOutput](t)(client.CreateKey(ctx, &kms.CreateKeyInput{Description: aws.String("ours")})).KeyMetadata
	must[*kms.CreateAliasOutput](t)(client.CreateAlias(ctx, &kms.CreateAliasInput{AliasName: aws.String("alias/ours"), TargetKeyId: key.KeyId}))
	if found := must[*kms.DescribeKeyOutput](t)(client.DescribeKey(ctx, &kms.DescribeKeyInput{KeyId: aws.String("alias/ours")})).KeyMetadata; *found.Arn != *key.Arn {
		t.Errorf("the alias is that of %s", *found.Arn)
	}
	grant := must[*kms.CreateGrantOutput](t)(client.CreateGrant(ctx, &kms.CreateGrantInput{
		KeyId: key.KeyId, GranteePrincipal: aws.String(awssimtest.Admin.ARN), Operations: []kmstypes.GrantOperation{kmstypes.GrantOperationDecrypt},
	}))
	must[*kms.RevokeGrantOutput](t)(client.RevokeGrant(ctx, &kms.RevokeGrantInput{KeyId: key.KeyId, GrantId: grant.GrantId}))
	must[*kms.ScheduleKeyDeletionOutput](t)(client.ScheduleKeyDeletion(ctx, &kms.ScheduleKeyDeletionInput{KeyId: key.KeyId, PendingWindowInDays: aws.Int32(7)}))
	_, err = client.EnableKey(ctx, &kms.EnableKeyInput{KeyId: key.KeyId})
	refused(t, "KMSInvalidStateException", err)
	_, err = client.DescribeKey(ctx, &kms.DescribeKeyInput{KeyId: aws.String("alias/none")})
	refused(t, "NotFoundException", err)
	a.NothingLeft()
}
