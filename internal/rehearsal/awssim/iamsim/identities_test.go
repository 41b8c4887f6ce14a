package iamsim_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/google/go-cmp/cmp"
)

func TestInstanceProfiles(t *testing.T) {
	e := newEnv(t)
	e.createRole("nodes")
	p := must[iam.CreateInstanceProfileOutput](e, "CreateInstanceProfile", &iam.CreateInstanceProfileInput{
		InstanceProfileName: aws.String("p"), Tags: []types.Tag{{Key: aws.String("k"), Value: aws.String("v")}},
	}).InstanceProfile
	if *p.Arn != "arn:aws:iam::111122223333:instance-profile/p" || len(p.Roles) != 0 || len(p.Tags) != 1 {
		t.Errorf("it is %+v", p)
	}
	_, err := call[iam.CreateInstanceProfileOutput](e, "CreateInstanceProfile", &iam.CreateInstanceProfileInput{InstanceProfileName: aws.String("P")})
	refused(t, err, 409, "EntityAlreadyExists")
	add := &iam.AddRoleToInstanceProfileInput{InstanceProfileName: aws.String("p"), RoleName: aws.String("nodes")}
	must[iam.AddRoleToInstanceProfileOutput](e, "AddRoleToInstanceProfile", add)
	_, err = call[iam.AddRoleToInstanceProfileOutput](e, "AddRoleToInstanceProfile", add)
	refused(t, err, 409, "LimitExceeded")
	got := must[iam.GetInstanceProfileOutput](e, "GetInstanceProfile", &iam.GetInstanceProfileInput{InstanceProfileName: aws.String("p")}).InstanceProfile
	if len(got.Roles) != 1 || *got.Roles[0].RoleName != "nodes" {
		t.Errorf("roles are %+v", got.Roles)
	}
	byRole := must[iam.ListInstanceProfilesForRoleOutput](e, "ListInstanceProfilesForRole", &iam.ListInstanceProfilesForRoleInput{RoleName: aws.String("nodes")})
	all := must[iam.ListInstanceProfilesOutput](e, "ListInstanceProfiles", &iam.ListInstanceProfilesInput{})
	if len(byRole.InstanceProfiles) != 1 || len(all.InstanceProfiles) != 1 {
		t.Errorf("listed %v by role, %v in all", byRole.InstanceProfiles, all.InstanceProfiles)
	}
}

func TestOpenIDConnectProviderLife(t *testing.T) {
	e := newEnv(t)
	in := &iam.CreateOpenIDConnectProviderInput{
		Url: aws.String("https://127.0.0.1:6443/id/c1"), ClientIDList: []string{"sts.amazonaws.com"}, ThumbprintList: []string{strings.Repeat("aB", 20)},
	}
	arn := must[iam.CreateOpenIDConnectProviderOutput](e, "CreateOpenIDConnectProvider", in).OpenIDConnectProviderArn
	if *arn != "arn:aws:iam::111122223333:oidc-provider/127.0.0.1:6443/id/c1" {
		t.Errorf("the ARN is %s", *arn)
	}
	_, err := call[iam.CreateOpenIDConnectProviderOutput](e, "CreateOpenIDConnectProvider", in)
	refused(t, err, 409, "EntityAlreadyExists")
	must[iam.TagOpenIDConnectProviderOutput](e, "TagOpenIDConnectProvider", &iam.TagOpenIDConnectProviderInput{
		OpenIDConnectProviderArn: arn, Tags: []types.Tag{{Key: aws.String("a"), Value: aws.String("1")}, {Key: aws.String("b"), Value: aws.String("2")}},
	})
	must[iam.UntagOpenIDConnectProviderOutput](e, "UntagOpenIDConnectProvider", &iam.UntagOpenIDConnectProviderInput{OpenIDConnectProviderArn: arn, TagKeys: []string{"a"}})
	got := must[iam.GetOpenIDConnectProviderOutput](e, "GetOpenIDConnectProvider", &iam.GetOpenIDConnectProviderInput{OpenIDConnectProviderArn: arn})
	if *got.Url != "127.0.0.1:6443/id/c1" || got.ClientIDList[0] != "sts.amazonaws.com" || len(got.ThumbprintList) != 1 {
		t.Errorf("it is %+v", got)
	}
	if diff := cmp.Diff(map[string]string{"b": "2"}, tagMap(got.Tags)); diff != "" {
		t.Error(diff)
	}
	if list := must[iam.ListOpenIDConnectProvidersOutput](e, "ListOpenIDConnectProviders", &iam.ListOpenIDConnectProvidersInput{}); len(list.OpenIDConnectProviderList) != 1 {
		t.Errorf("listed %v", list.OpenIDConnectProviderList)
	}
	for range 2 { // deleting what is gone is success
		must[iam.DeleteOpenIDConnectProviderOutput](e, "DeleteOpenIDConnectProvider", &iam.DeleteOpenIDConnectProviderInput{OpenIDConnectProviderArn: arn})
	}
	if got := e.iam.Objects(); len(got) != 0 {
		t.Errorf("left %v", got)
	}
}

func TestCreateOpenIDConnectProviderRefuses(t *testing.T) {
	for name, tc := range map[string]struct {
		in   iam.CreateOpenIDConnectProviderInput
		code string
	}{
		"plain http":      {iam.CreateOpenIDConnectProviderInput{Url: aws.String("http://x")}, "ValidationError"},
		"no host":         {iam.CreateOpenIDConnectProviderInput{Url: aws.String("https://")}, "ValidationError"},
		"a bad print":     {iam.CreateOpenIDConnectProviderInput{Url: aws.String("https://x"), ThumbprintList: []string{"x"}}, "InvalidInput"},
		"six thumbprints": {iam.CreateOpenIDConnectProviderInput{Url: aws.String("https://x"), ThumbprintList: make([]string, 6)}, "InvalidInput"},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			_, err := call[iam.CreateOpenIDConnectProviderOutput](e, "CreateOpenIDConnectProvider", &tc.in)
			refused(t, err, 400, tc.code)
		})
	}
}

func TestThereAreNoUsers(t *testing.T) {
	e := newEnv(t)
	if out := must[iam.ListUsersOutput](e, "ListUsers", &iam.ListUsersInput{}); len(out.Users) != 0 || out.IsTruncated {
		t.Errorf("users are %+v", out)
	}
	_, err := call[iam.GetUserOutput](e, "GetUser", &iam.GetUserInput{})
	refused(t, err, 400, "ValidationError")
}
