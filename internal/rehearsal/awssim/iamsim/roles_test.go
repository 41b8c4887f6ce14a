package iamsim_test

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/google/go-cmp/cmp"

	"github.com/krops-go/krops/internal/rehearsal/awssim/iamsim"
)

const (
	worker = "arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy"
	cni    = "arn:aws:iam::aws:policy/AmazonEKS_CNI_Policy"
)

func tagMap(tags []types.Tag) map[string]string {
	out := map[string]string{}
	for _, t := range tags {
		out[*t.Key] = *t.Value
	}
	return out
}

func TestCreateRoleEchoesTagsAndTrust(t *testing.T) {
	e := newEnv(t)
	r := must[iam.CreateRoleOutput](e, "CreateRole", &iam.CreateRoleInput{
		RoleName: aws.String("nodes"), Path: aws.String("/krops/"), AssumeRolePolicyDocument: aws.String(trust),
		PermissionsBoundary: aws.String(worker), Tags: []types.Tag{{Key: aws.String("k"), Value: aws.String("v w")}},
	}).Role
	if *r.Arn != "arn:aws:iam::111122223333:role/krops/nodes" || !strings.HasPrefix(*r.RoleId, "AROA") || len(*r.RoleId) != 21 {
		t.Errorf("ARN %s, id %s", *r.Arn, *r.RoleId)
	}
	if diff := cmp.Diff(map[string]string{"k": "v w"}, tagMap(r.Tags)); diff != "" {
		t.Error(diff)
	}
	got := must[iam.GetRoleOutput](e, "GetRole", &iam.GetRoleInput{RoleName: aws.String("nodes")}).Role
	for _, document := range []string{*r.AssumeRolePolicyDocument, *got.AssumeRolePolicyDocument} {
		decoded, err := url.PathUnescape(document)
		if err != nil || decoded != trust || strings.ContainsAny(document, `{"+ `) {
			t.Errorf("the trust policy came back as %s, %v", document, err)
		}
	}
	if *got.PermissionsBoundary.PermissionsBoundaryArn != worker {
		t.Errorf("the boundary is %v", got.PermissionsBoundary)
	}
}

func TestCreateRoleRefuses(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*iam.CreateRoleInput)
		status int
		code   string
	}{
		"a name of 65 characters": {func(in *iam.CreateRoleInput) { in.RoleName = aws.String(strings.Repeat("a", 65)) }, 400, "ValidationError"},
		"a bad name":              {func(in *iam.CreateRoleInput) { in.RoleName = aws.String("a/b") }, 400, "ValidationError"},
		"no name":                 {func(in *iam.CreateRoleInput) { in.RoleName = nil }, 400, "ValidationError"},
		"a bad path":              {func(in *iam.CreateRoleInput) { in.Path = aws.String("x") }, 400, "ValidationError"},
		"a short session":         {func(in *iam.CreateRoleInput) { in.MaxSessionDuration = aws.Int32(60) }, 400, "ValidationError"},
		"no trust policy":         {func(in *iam.CreateRoleInput) { in.AssumeRolePolicyDocument = nil }, 400, "MalformedPolicyDocument"},
		"a policy for no one": {func(in *iam.CreateRoleInput) {
			in.AssumeRolePolicyDocument = aws.String(`{"Statement":{"Effect":"Allow","Action":"*"}}`)
		}, 400, "MalformedPolicyDocument"},
		"another effect": {func(in *iam.CreateRoleInput) {
			in.AssumeRolePolicyDocument = aws.String(`{"Statement":{"Effect":"Maybe"}}`)
		}, 400, "MalformedPolicyDocument"},
		"an unknown boundary": {func(in *iam.CreateRoleInput) { in.PermissionsBoundary = aws.String("arn:aws:iam::aws:policy/None") }, 404, "NoSuchEntity"},
		"a reserved tag":      {func(in *iam.CreateRoleInput) { in.Tags = []types.Tag{{Key: aws.String("aws:x")}} }, 400, "InvalidInput"},
		"a name that exists":  {func(in *iam.CreateRoleInput) { in.RoleName = aws.String("TAKEN") }, 409, "EntityAlreadyExists"},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			e.createRole("taken")
			in := &iam.CreateRoleInput{RoleName: aws.String("nodes"), AssumeRolePolicyDocument: aws.String(trust)}
			tc.change(in)
			_, err := call[iam.CreateRoleOutput](e, "CreateRole", in)
			refused(t, err, tc.status, tc.code)
			if got := e.iam.Objects(); len(got) != 1 {
				t.Errorf("there is %v", got)
			}
		})
	}
}

func TestUnknownRoleIsNoSuchEntity(t *testing.T) {
	e := newEnv(t)
	name := aws.String("none")
	for op, in := range map[string]any{
		"GetRole":                     &iam.GetRoleInput{RoleName: name},
		"DeleteRole":                  &iam.DeleteRoleInput{RoleName: name},
		"UpdateAssumeRolePolicy":      &iam.UpdateAssumeRolePolicyInput{RoleName: name},
		"TagRole":                     &iam.TagRoleInput{RoleName: name},
		"UntagRole":                   &iam.UntagRoleInput{RoleName: name},
		"ListRoleTags":                &iam.ListRoleTagsInput{RoleName: name},
		"AttachRolePolicy":            &iam.AttachRolePolicyInput{RoleName: name},
		"DetachRolePolicy":            &iam.DetachRolePolicyInput{RoleName: name},
		"ListAttachedRolePolicies":    &iam.ListAttachedRolePoliciesInput{RoleName: name},
		"ListRolePolicies":            &iam.ListRolePoliciesInput{RoleName: name},
		"PutRolePolicy":               &iam.PutRolePolicyInput{RoleName: name},
		"GetRolePolicy":               &iam.GetRolePolicyInput{RoleName: name},
		"DeleteRolePolicy":            &iam.DeleteRolePolicyInput{RoleName: name},
		"ListInstanceProfilesForRole": &iam.ListInstanceProfilesForRoleInput{RoleName: name},
		"GetUser":                     &iam.GetUserInput{UserName: name},
		"GetInstanceProfile":          &iam.GetInstanceProfileInput{InstanceProfileName: name},
		"GetPolicy":                   &iam.GetPolicyInput{PolicyArn: name},
		"GetOpenIDConnectProvider":    &iam.GetOpenIDConnectProviderInput{OpenIDConnectProviderArn: name},
	} {
		t.Run(op, func(t *testing.T) {
			_, err := call[struct{}](e, op, in)
			refused(t, err, 404, "NoSuchEntity")
		})
	}
}

func TestRoleTagsAndTrustChange(t *testing.T) {
	e := newEnv(t)
	e.createRole("nodes")
	name := aws.String("nodes")
	must[iam.TagRoleOutput](e, "TagRole", &iam.TagRoleInput{RoleName: name, Tags: []types.Tag{
		{Key: aws.String("a"), Value: aws.String("1")}, {Key: aws.String("b"), Value: aws.String("2")}, {Key: aws.String("c"), Value: aws.String("3")},
	}})
	must[iam.UntagRoleOutput](e, "UntagRole", &iam.UntagRoleInput{RoleName: name, TagKeys: []string{"b"}})
	first := must[iam.ListRoleTagsOutput](e, "ListRoleTags", &iam.ListRoleTagsInput{RoleName: name, MaxItems: aws.Int32(1)})
	if !first.IsTruncated || len(first.Tags) != 1 {
		t.Fatalf("the first page is %+v", first)
	}
	rest := must[iam.ListRoleTagsOutput](e, "ListRoleTags", &iam.ListRoleTagsInput{RoleName: name, Marker: first.Marker})
	if diff := cmp.Diff(map[string]string{"a": "1", "c": "3"}, tagMap(append(first.Tags, rest.Tags...))); diff != "" || rest.IsTruncated {
		t.Errorf("truncated %t, %s", rest.IsTruncated, diff)
	}

	eks := strings.Replace(trust, "ec2", "eks", 1)
	must[iam.UpdateAssumeRolePolicyOutput](e, "UpdateAssumeRolePolicy", &iam.UpdateAssumeRolePolicyInput{RoleName: name, PolicyDocument: aws.String(eks)})
	_, err := call[iam.UpdateAssumeRolePolicyOutput](e, "UpdateAssumeRolePolicy", &iam.UpdateAssumeRolePolicyInput{RoleName: name, PolicyDocument: aws.String("no")})
	refused(t, err, 400, "MalformedPolicyDocument")
	arn := "arn:aws:iam::111122223333:role/nodes"
	if exists, trusted := e.iam.TrustsService(arn, "eks.amazonaws.com"); !exists || !trusted {
		t.Errorf("exists %t, trusts EKS %t", exists, trusted)
	}
	if exists, trusted := e.iam.TrustsService(arn, "ec2.amazonaws.com"); !exists || trusted {
		t.Errorf("exists %t, trusts EC2 %t", exists, trusted)
	}
}

func TestRoleGoesOnlyWhenNothingHangsOnIt(t *testing.T) {
	e := newEnv(t)
	e.createRole("nodes")
	name := aws.String("nodes")
	deletion := func() error {
		_, err := call[iam.DeleteRoleOutput](e, "DeleteRole", &iam.DeleteRoleInput{RoleName: name})
		return err
	}
	for _, arn := range []string{worker, cni} {
		must[iam.GetPolicyOutput](e, "GetPolicy", &iam.GetPolicyInput{PolicyArn: aws.String(arn)})
		must[iam.AttachRolePolicyOutput](e, "AttachRolePolicy", &iam.AttachRolePolicyInput{RoleName: name, PolicyArn: aws.String(arn)})
	}
	must[iam.PutRolePolicyOutput](e, "PutRolePolicy", &iam.PutRolePolicyInput{
		RoleName: name, PolicyName: aws.String("own"), PolicyDocument: aws.String(`{"Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}`),
	})
	must[iam.CreateInstanceProfileOutput](e, "CreateInstanceProfile", &iam.CreateInstanceProfileInput{InstanceProfileName: aws.String("p")})
	must[iam.AddRoleToInstanceProfileOutput](e, "AddRoleToInstanceProfile", &iam.AddRoleToInstanceProfileInput{InstanceProfileName: aws.String("p"), RoleName: name})

	refused(t, deletion(), 409, "DeleteConflict")
	attached := must[iam.ListAttachedRolePoliciesOutput](e, "ListAttachedRolePolicies", &iam.ListAttachedRolePoliciesInput{RoleName: name})
	var names []string
	for _, p := range attached.AttachedPolicies {
		names = append(names, *p.PolicyName)
		must[iam.DetachRolePolicyOutput](e, "DetachRolePolicy", &iam.DetachRolePolicyInput{RoleName: name, PolicyArn: p.PolicyArn})
	}
	if !slices.Equal(names, []string{"AmazonEKSWorkerNodePolicy", "AmazonEKS_CNI_Policy"}) {
		t.Errorf("attached were %v", names)
	}
	_, err := call[iam.DetachRolePolicyOutput](e, "DetachRolePolicy", &iam.DetachRolePolicyInput{RoleName: name, PolicyArn: aws.String(worker)})
	refused(t, err, 404, "NoSuchEntity")

	refused(t, deletion(), 409, "DeleteConflict")
	if got := must[iam.ListRolePoliciesOutput](e, "ListRolePolicies", &iam.ListRolePoliciesInput{RoleName: name}).PolicyNames; !slices.Equal(got, []string{"own"}) {
		t.Errorf("inline policies are %v", got)
	}
	own := must[iam.GetRolePolicyOutput](e, "GetRolePolicy", &iam.GetRolePolicyInput{RoleName: name, PolicyName: aws.String("own")})
	if decoded, err := url.PathUnescape(*own.PolicyDocument); err != nil || !json.Valid([]byte(decoded)) {
		t.Errorf("the inline policy came back as %s, %v", *own.PolicyDocument, err)
	}
	must[iam.DeleteRolePolicyOutput](e, "DeleteRolePolicy", &iam.DeleteRolePolicyInput{RoleName: name, PolicyName: aws.String("own")})

	refused(t, deletion(), 409, "DeleteConflict")
	_, err = call[iam.DeleteInstanceProfileOutput](e, "DeleteInstanceProfile", &iam.DeleteInstanceProfileInput{InstanceProfileName: aws.String("p")})
	refused(t, err, 409, "DeleteConflict")
	must[iam.RemoveRoleFromInstanceProfileOutput](e, "RemoveRoleFromInstanceProfile", &iam.RemoveRoleFromInstanceProfileInput{InstanceProfileName: aws.String("p"), RoleName: name})
	must[iam.DeleteInstanceProfileOutput](e, "DeleteInstanceProfile", &iam.DeleteInstanceProfileInput{InstanceProfileName: aws.String("p")})
	if err := deletion(); err != nil {
		t.Fatal(err)
	}
	if got := e.iam.Objects(); len(got) != 0 {
		t.Errorf("left %v", got)
	}
}

func TestListRolesByPage(t *testing.T) {
	e := newEnv(t)
	for _, name := range []string{"b", "a", "c"} {
		e.createRole(name)
	}
	var got []string
	in := &iam.ListRolesInput{MaxItems: aws.Int32(2)}
	for {
		out := must[iam.ListRolesOutput](e, "ListRoles", in)
		for _, r := range out.Roles {
			got = append(got, *r.RoleName)
			if r.Tags != nil {
				t.Error("ListRoles shows tags, which it does not on AWS")
			}
		}
		if !out.IsTruncated {
			break
		}
		in.Marker = out.Marker
	}
	if !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("listed %v", got)
	}
	_, err := call[iam.ListRolesOutput](e, "ListRoles", &iam.ListRolesInput{MaxItems: aws.Int32(0)})
	refused(t, err, 400, "ValidationError")
	if out := must[iam.ListRolesOutput](e, "ListRoles", &iam.ListRolesInput{PathPrefix: aws.String("/other/")}); len(out.Roles) != 0 {
		t.Errorf("the prefix let %v through", out.Roles)
	}
}

func TestManagedPoliciesThatEKSNeeds(t *testing.T) {
	e := newEnv(t)
	ids := map[string]bool{}
	for _, name := range []string{"AmazonEKSClusterPolicy", "AmazonEKSWorkerNodePolicy", "AmazonEKS_CNI_Policy", "AmazonEC2ContainerRegistryReadOnly", "service-role/AmazonEBSCSIDriverPolicy"} {
		p := must[iam.GetPolicyOutput](e, "GetPolicy", &iam.GetPolicyInput{PolicyArn: aws.String("arn:aws:iam::aws:policy/" + name)}).Policy
		if !p.IsAttachable || *p.Path+*p.PolicyName != "/"+name || len(*p.PolicyId) != 21 {
			t.Errorf("%s is %+v", name, p)
		}
		ids[*p.PolicyId] = true
	}
	if len(ids) != 5 {
		t.Errorf("ids are %v", ids)
	}
}

func TestStateOutlivesTheProcess(t *testing.T) {
	e := newEnv(t)
	e.createRole("nodes")
	must[iam.AttachRolePolicyOutput](e, "AttachRolePolicy", &iam.AttachRolePolicyInput{RoleName: aws.String("nodes"), PolicyArn: aws.String(cni)})
	if err := e.iam.CreateOwnedInstanceProfile(e.world, "111122223333", "p", "arn:aws:iam::111122223333:role/nodes"); err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(e.iam.State())
	if err != nil {
		t.Fatal(err)
	}
	before := e.iam.Objects()
	e.iam = iamsim.New()
	if err := json.Unmarshal(data, e.iam.State()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, e.iam.Objects()); diff != "" || len(before) != 2 {
		t.Errorf("%v became another: %s", before, diff)
	}
	_, err = call[iam.DeleteRoleOutput](e, "DeleteRole", &iam.DeleteRoleInput{RoleName: aws.String("nodes")})
	refused(t, err, 409, "DeleteConflict")
	e.iam.DeleteOwnedInstanceProfile("p")
	must[iam.DetachRolePolicyOutput](e, "DetachRolePolicy", &iam.DetachRolePolicyInput{RoleName: aws.String("nodes"), PolicyArn: aws.String(cni)})
	must[iam.DeleteRoleOutput](e, "DeleteRole", &iam.DeleteRoleInput{RoleName: aws.String("nodes")})
}
