package ekssim_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"
)

func (e *env) updateVersion(version string) (*eks.UpdateClusterVersionOutput, error) {
	e.t.Helper()
	return call[eks.UpdateClusterVersionOutput](e, e.eks, "UpdateClusterVersion",
		&eks.UpdateClusterVersionInput{Name: aws.String("c1"), Version: aws.String(version)})
}

func (e *env) updateConfig(in eks.UpdateClusterConfigInput) (*eks.UpdateClusterConfigOutput, error) {
	e.t.Helper()
	in.Name = aws.String("c1")
	return call[eks.UpdateClusterConfigOutput](e, e.eks, "UpdateClusterConfig", &in)
}

func TestVersionUpdateShowsUpdatingToAWaiterOnce(t *testing.T) {
	e := newEnv(t)
	e.createCluster()
	out, err := e.updateVersion("1.35")
	if err != nil {
		t.Fatal(err)
	}
	// However slow the client is, within reason.
	e.world.clock.Step(10 * time.Second)
	if cl := e.cluster(); cl.Status != types.ClusterStatusUpdating || *cl.Version != "1.34" {
		t.Fatalf("a plain describe saw %s of %s", cl.Status, *cl.Version)
	}
	if cl := e.awaitCluster(); cl.Status != types.ClusterStatusUpdating {
		t.Fatalf("the first waiter saw %s, and would wait for UPDATING for ever", cl.Status)
	}
	if cl := e.awaitCluster(); cl.Status != types.ClusterStatusActive || *cl.Version != "1.35" {
		t.Fatalf("the second waiter was let go with %s of %s", cl.Status, *cl.Version)
	}
	if u := e.update(out.Update.Id, nil); u.Status != types.UpdateStatusSuccessful {
		t.Errorf("the update is %s", u.Status)
	}
}

func TestVersionUpdateEndsWithoutAWaiter(t *testing.T) {
	e := newEnv(t)
	e.createCluster()
	if _, err := e.updateVersion("1.35"); err != nil {
		t.Fatal(err)
	}
	e.world.quiet()
	if cl := e.cluster(); cl.Status != types.ClusterStatusActive || *cl.Version != "1.35" {
		t.Errorf("it is %s of %s", cl.Status, *cl.Version)
	}
}

func TestLoggingUpdateHoldsTheFirstWaiter(t *testing.T) {
	e := newEnv(t)
	e.createCluster()
	_, err := e.updateConfig(eks.UpdateClusterConfigInput{Logging: &types.Logging{ClusterLogging: []types.LogSetup{
		{Enabled: aws.Bool(true), Types: []types.LogType{types.LogTypeAudit}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	cl := e.awaitCluster()
	if l := cl.Logging.ClusterLogging; cl.Status != types.ClusterStatusActive || len(l) != 2 || !*l[0].Enabled || l[0].Types[0] != types.LogTypeAudit || len(l[1].Types) != 4 {
		t.Errorf("status %s, logging %+v", cl.Status, l)
	}
}

func TestUpdatesOfACluster(t *testing.T) {
	e := newEnv(t)
	e.createCluster()
	for _, in := range []eks.UpdateClusterConfigInput{
		{ResourcesVpcConfig: &types.VpcConfigRequest{EndpointPrivateAccess: aws.Bool(true), EndpointPublicAccess: aws.Bool(false)}},
		{UpgradePolicy: &types.UpgradePolicyRequest{SupportType: types.SupportTypeStandard}},
		{AccessConfig: &types.UpdateAccessConfigRequest{AuthenticationMode: types.AuthenticationModeApiAndConfigMap}},
	} {
		if _, err := e.updateConfig(in); err != nil {
			t.Fatal(err)
		}
		e.world.quiet()
	}
	must[eks.AssociateEncryptionConfigOutput](e, e.eks, "AssociateEncryptionConfig", &eks.AssociateEncryptionConfigInput{
		ClusterName:      aws.String("c1"),
		EncryptionConfig: []types.EncryptionConfig{{Provider: &types.Provider{KeyArn: aws.String("arn:aws:kms:k")}, Resources: []string{"secrets"}}},
	})
	e.world.quiet()
	cl := e.cluster()
	vpc := cl.ResourcesVpcConfig
	if vpc.EndpointPublicAccess || !vpc.EndpointPrivateAccess || len(vpc.PublicAccessCidrs) != 0 {
		t.Errorf("endpoints are %+v", vpc)
	}
	if cl.UpgradePolicy.SupportType != types.SupportTypeStandard {
		t.Errorf("the upgrade policy is %s", cl.UpgradePolicy.SupportType)
	}
	if cl.AccessConfig.AuthenticationMode != types.AuthenticationModeApiAndConfigMap {
		t.Errorf("the authentication mode is %s", cl.AccessConfig.AuthenticationMode)
	}
	if len(cl.EncryptionConfig) != 1 || *cl.EncryptionConfig[0].Provider.KeyArn != "arn:aws:kms:k" {
		t.Errorf("encryption is %+v", cl.EncryptionConfig)
	}
	ids := must[eks.ListUpdatesOutput](e, e.eks, "ListUpdates", &eks.ListUpdatesInput{Name: aws.String("c1")}).UpdateIds
	if len(ids) != 4 {
		t.Errorf("updates are %v", ids)
	}
	_, err := call[eks.AssociateEncryptionConfigOutput](e, e.eks, "AssociateEncryptionConfig", &eks.AssociateEncryptionConfigInput{
		ClusterName: aws.String("c1"), EncryptionConfig: cl.EncryptionConfig,
	})
	refused(t, err, "InvalidParameterException")
}

func TestTagsSetDuringAnUpdateStay(t *testing.T) {
	e := newEnv(t)
	arn := e.createCluster().Arn
	if _, err := e.updateVersion("1.35"); err != nil {
		t.Fatal(err)
	}
	must[eks.TagResourceOutput](e, e.eks, "TagResource", &eks.TagResourceInput{ResourceArn: arn, Tags: map[string]string{"k": "v"}})
	e.world.quiet()
	if got := e.cluster().Tags["k"]; got != "v" {
		t.Errorf("the tag is %q", got)
	}
}

func TestUpdateRefusals(t *testing.T) {
	e := newEnv(t)
	e.createCluster()
	for name, version := range map[string]string{"the same version": "1.34", "a skipped minor": "1.36", "an older minor": "1.33", "an unknown minor": "1.99"} {
		t.Run(name, func(t *testing.T) {
			_, err := e.updateVersion(version)
			refused(t, err, "InvalidParameterException")
		})
	}
	for name, in := range map[string]eks.UpdateClusterConfigInput{
		"nothing":                     {},
		"two kinds at once":           {Logging: &types.Logging{}, UpgradePolicy: &types.UpgradePolicyRequest{SupportType: types.SupportTypeStandard}},
		"logging as it is":            {Logging: &types.Logging{}},
		"endpoints as they are":       {ResourcesVpcConfig: &types.VpcConfigRequest{EndpointPublicAccess: aws.Bool(true)}},
		"other subnets":               {ResourcesVpcConfig: &types.VpcConfigRequest{SubnetIds: []string{"subnet-c"}}},
		"an upgrade policy as it is":  {UpgradePolicy: &types.UpgradePolicyRequest{SupportType: types.SupportTypeExtended}},
		"a skipped mode":              {AccessConfig: &types.UpdateAccessConfigRequest{AuthenticationMode: types.AuthenticationModeApi}},
		"an authentication mode back": {AccessConfig: &types.UpdateAccessConfigRequest{AuthenticationMode: types.AuthenticationModeConfigMap}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := e.updateConfig(in)
			refused(t, err, "InvalidParameterException")
		})
	}
	t.Run("while another is under way", func(t *testing.T) {
		in := &eks.UpdateClusterVersionInput{Name: aws.String("c1"), Version: aws.String("1.35"), ClientRequestToken: aws.String("t")}
		first := must[eks.UpdateClusterVersionOutput](e, e.eks, "UpdateClusterVersion", in)
		again := must[eks.UpdateClusterVersionOutput](e, e.eks, "UpdateClusterVersion", in)
		if *again.Update.Id != *first.Update.Id {
			t.Error("a replay began another update")
		}
		_, err := e.updateConfig(eks.UpdateClusterConfigInput{UpgradePolicy: &types.UpgradePolicyRequest{SupportType: types.SupportTypeStandard}})
		refused(t, err, "ResourceInUseException")
		_, err = call[eks.CreateNodegroupOutput](e, e.eks, "CreateNodegroup", nodegroupInput(1))
		refused(t, err, "ResourceInUseException")
		_, err = call[eks.CreateAddonOutput](e, e.eks, "CreateAddon", addonInput())
		refused(t, err, "ResourceInUseException")
		_, err = call[eks.DeleteClusterOutput](e, e.eks, "DeleteCluster", &eks.DeleteClusterInput{Name: aws.String("c1")})
		refused(t, err, "ResourceInUseException")
	})
	t.Run("an unknown update", func(t *testing.T) {
		_, err := call[eks.DescribeUpdateOutput](e, e.eks, "DescribeUpdate", &eks.DescribeUpdateInput{Name: aws.String("c1"), UpdateId: aws.String("x")})
		refused(t, err, "ResourceNotFoundException")
	})
}

func TestUnknownClusterIsRefusedEverywhere(t *testing.T) {
	e := newEnv(t)
	c := aws.String("c1")
	for name, in := range map[string]any{
		"DescribeCluster":              describeInput(),
		"DeleteCluster":                &eks.DeleteClusterInput{Name: c},
		"UpdateClusterVersion":         &eks.UpdateClusterVersionInput{Name: c},
		"UpdateClusterConfig":          &eks.UpdateClusterConfigInput{Name: c},
		"ListUpdates":                  &eks.ListUpdatesInput{Name: c},
		"ListNodegroups":               &eks.ListNodegroupsInput{ClusterName: c},
		"DescribeNodegroup":            describeNodegroupInput(),
		"CreateNodegroup":              nodegroupInput(1),
		"ListAddons":                   &eks.ListAddonsInput{ClusterName: c},
		"CreateAddon":                  addonInput(),
		"ListAccessEntries":            &eks.ListAccessEntriesInput{ClusterName: c},
		"ListFargateProfiles":          &eks.ListFargateProfilesInput{ClusterName: c},
		"ListIdentityProviderConfigs":  &eks.ListIdentityProviderConfigsInput{ClusterName: c},
		"ListPodIdentityAssociations":  &eks.ListPodIdentityAssociationsInput{ClusterName: c},
		"ListAssociatedAccessPolicies": &eks.ListAssociatedAccessPoliciesInput{ClusterName: c},
	} {
		_, err := call[struct{}](e, e.eks, name, in)
		t.Run(name, func(t *testing.T) { refused(t, err, "ResourceNotFoundException") })
	}
}
