package ekssim_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/google/go-cmp/cmp"
)

func TestPodIdentities(t *testing.T) {
	e := newEnv(t)
	e.createCluster()
	role := must[iam.CreateRoleOutput](e, e.iam, "CreateRole", &iam.CreateRoleInput{
		RoleName: aws.String("pod"),
		AssumeRolePolicyDocument: aws.String(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"pods.eks.amazonaws.com"},
			"Action":["sts:AssumeRole","sts:TagSession"]}]}`),
	}).Role.Arn
	create := func(account string, role *string) (*eks.CreatePodIdentityAssociationOutput, error) {
		return call[eks.CreatePodIdentityAssociationOutput](e, e.eks, "CreatePodIdentityAssociation", &eks.CreatePodIdentityAssociationInput{
			ClusterName: aws.String("c1"), Namespace: aws.String("ns"), ServiceAccount: &account, RoleArn: role, Tags: map[string]string{"k": "v"},
		})
	}
	made, err := create("one", role)
	if err != nil {
		t.Fatal(err)
	}
	_, err = create("one", role)
	refused(t, err, "ResourceInUseException")
	_, err = create("two", aws.String(nodeRole)) // which trusts EC2
	refused(t, err, "InvalidParameterException")
	if _, err := create("two", role); err != nil {
		t.Fatal(err)
	}
	e.restart()
	list := func(account *string) []string {
		var got []string
		for _, a := range must[eks.ListPodIdentityAssociationsOutput](e, e.eks, "ListPodIdentityAssociations", &eks.ListPodIdentityAssociationsInput{
			ClusterName: aws.String("c1"), ServiceAccount: account,
		}).Associations {
			got = append(got, *a.ServiceAccount)
		}
		return got
	}
	if got := list(nil); len(got) != 2 {
		t.Errorf("got %v", got)
	}
	if diff := cmp.Diff([]string{"two"}, list(aws.String("two"))); diff != "" {
		t.Error(diff)
	}
	id := made.Association.AssociationId
	one := must[eks.DescribePodIdentityAssociationOutput](e, e.eks, "DescribePodIdentityAssociation", &eks.DescribePodIdentityAssociationInput{
		ClusterName: aws.String("c1"), AssociationId: id,
	}).Association
	if *one.RoleArn != *role || one.Tags["k"] != "v" {
		t.Errorf("got %+v", one)
	}
	tags := must[eks.ListTagsForResourceOutput](e, e.eks, "ListTagsForResource", &eks.ListTagsForResourceInput{ResourceArn: one.AssociationArn}).Tags
	if diff := cmp.Diff(map[string]string{"k": "v"}, tags); diff != "" {
		t.Error(diff)
	}
	_, err = call[eks.UpdatePodIdentityAssociationOutput](e, e.eks, "UpdatePodIdentityAssociation", &eks.UpdatePodIdentityAssociationInput{
		ClusterName: aws.String("c1"), AssociationId: id, RoleArn: aws.String(nodeRole),
	})
	refused(t, err, "InvalidParameterException")
	remove := &eks.DeletePodIdentityAssociationInput{ClusterName: aws.String("c1"), AssociationId: id}
	must[eks.DeletePodIdentityAssociationOutput](e, e.eks, "DeletePodIdentityAssociation", remove)
	_, err = call[eks.DeletePodIdentityAssociationOutput](e, e.eks, "DeletePodIdentityAssociation", remove)
	refused(t, err, "ResourceNotFoundException")
}

func TestIdentityProviderConfig(t *testing.T) {
	e := newEnv(t)
	e.createCluster()
	associate := func(name, issuer string) (*eks.AssociateIdentityProviderConfigOutput, error) {
		return call[eks.AssociateIdentityProviderConfigOutput](e, e.eks, "AssociateIdentityProviderConfig", &eks.AssociateIdentityProviderConfigInput{
			ClusterName: aws.String("c1"), Oidc: &types.OidcIdentityProviderConfigRequest{
				IdentityProviderConfigName: &name, IssuerUrl: &issuer, ClientId: aws.String("client"), GroupsClaim: aws.String("groups"),
			},
		})
	}
	_, err := associate("corp", "http://issuer.test")
	refused(t, err, "InvalidParameterException")
	made, err := associate("corp", "https://issuer.test")
	if err != nil {
		t.Fatal(err)
	}
	if made.Update.Type != types.UpdateTypeAssociateIdentityProviderConfig {
		t.Errorf("got %+v", made.Update)
	}
	describe := &eks.DescribeIdentityProviderConfigInput{
		ClusterName: aws.String("c1"), IdentityProviderConfig: &types.IdentityProviderConfig{Name: aws.String("corp"), Type: aws.String("oidc")},
	}
	config := must[eks.DescribeIdentityProviderConfigOutput](e, e.eks, "DescribeIdentityProviderConfig", describe).IdentityProviderConfig.Oidc
	if config.Status != types.ConfigStatusActive || *config.GroupsClaim != "groups" {
		t.Errorf("got %+v", config)
	}
	if u := e.update(made.Update.Id, nil); u.Status != types.UpdateStatusSuccessful {
		t.Errorf("the update is %s", u.Status)
	}
	_, err = associate("second", "https://other.test")
	refused(t, err, "ResourceInUseException")
	must[eks.DisassociateIdentityProviderConfigOutput](e, e.eks, "DisassociateIdentityProviderConfig", &eks.DisassociateIdentityProviderConfigInput{
		ClusterName: aws.String("c1"), IdentityProviderConfig: describe.IdentityProviderConfig,
	})
	_, err = call[eks.DescribeIdentityProviderConfigOutput](e, e.eks, "DescribeIdentityProviderConfig", describe)
	refused(t, err, "ResourceNotFoundException")
	if got := must[eks.ListIdentityProviderConfigsOutput](e, e.eks, "ListIdentityProviderConfigs", &eks.ListIdentityProviderConfigsInput{ClusterName: aws.String("c1")}); len(got.IdentityProviderConfigs) != 0 {
		t.Errorf("got %+v", got.IdentityProviderConfigs)
	}
}

func TestZonalShift(t *testing.T) {
	e := newEnv(t)
	e.createCluster()
	update := func(enabled bool) error {
		_, err := call[eks.UpdateClusterConfigOutput](e, e.eks, "UpdateClusterConfig", &eks.UpdateClusterConfigInput{
			Name: aws.String("c1"), ZonalShiftConfig: &types.ZonalShiftConfigRequest{Enabled: &enabled},
		})
		return err
	}
	refused(t, update(false), "InvalidParameterException")
	if err := update(true); err != nil {
		t.Fatal(err)
	}
	if got := e.awaitCluster().ZonalShiftConfig; got == nil || !*got.Enabled {
		t.Errorf("got %+v", got)
	}
}
