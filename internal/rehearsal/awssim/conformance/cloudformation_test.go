package conformance_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/google/go-cmp/cmp"

	"github.com/krops-go/krops/internal/rehearsal/awssim/awssimtest"
)

var providerIAM = awssimtest.ProviderIAM

// providerStack is how clusterawsadm names its stack.
const providerStack = "cluster-api-provider-aws-sigs-k8s-io"

const providerSuffix = ".cluster-api-provider-aws.sigs.k8s.io"

// firstPoll is shorter than the waiters for stacks sleep after their first
// poll: one that is not answered finally at once fails.
const firstPoll = 15 * time.Second

func (a *account) stacks() *cloudformation.Client { return cloudformation.NewFromConfig(a.Config()) }

func (a *account) createStack(name, template string) {
	a.t.Helper()
	must[*cloudformation.CreateStackOutput](a.t)(a.stacks().CreateStack(a.t.Context(), &cloudformation.CreateStackInput{
		StackName: &name, TemplateBody: &template, Capabilities: []types.Capability{types.CapabilityCapabilityNamedIam},
		Tags: []types.Tag{{Key: aws.String("krops/run"), Value: aws.String("17")}},
	}))
}

// settled waits until the stack is in no transition, and returns how it is.
func (a *account) settled(name string) types.Stack {
	a.t.Helper()
	out := must[*cloudformation.DescribeStacksOutput](a.t)(a.stacks().DescribeStacks(a.t.Context(), &cloudformation.DescribeStacksInput{StackName: &name}))
	return out.Stacks[0]
}

func TestProviderStack(t *testing.T) {
	a := newAccount(t)
	ctx, name := t.Context(), aws.String(providerStack)
	stacks, identities := a.stacks(), iam.NewFromConfig(a.Config())

	_, err := stacks.CreateStack(ctx, &cloudformation.CreateStackInput{StackName: name, TemplateBody: &providerIAM})
	refused(t, "InsufficientCapabilitiesException", err)
	_, err = stacks.DescribeStacks(ctx, &cloudformation.DescribeStacksInput{StackName: name})
	refused(t, "ValidationError", err)
	a.createStack(*name, providerIAM)
	if err := cloudformation.NewStackCreateCompleteWaiter(stacks).Wait(ctx, &cloudformation.DescribeStacksInput{StackName: name}, firstPoll); err != nil {
		t.Fatal(err)
	}
	st := a.settled(*name)
	if len(st.Outputs) != 1 || *st.Outputs[0].OutputValue != "arn:aws:iam::"+accountID+":role/controllers"+providerSuffix ||
		*st.Outputs[0].ExportName != providerStack+"-controllers" {
		t.Errorf("outputs: %+v", st.Outputs)
	}
	resources := must[*cloudformation.DescribeStackResourcesOutput](t)(stacks.DescribeStackResources(ctx, &cloudformation.DescribeStackResourcesInput{StackName: name}))
	if len(resources.StackResources) != 11 {
		t.Errorf("%d resources", len(resources.StackResources))
	}
	for _, r := range resources.StackResources {
		if r.ResourceStatus != types.ResourceStatusCreateComplete || !strings.Contains(aws.ToString(r.PhysicalResourceId), providerSuffix) {
			t.Errorf("%s is %s with %q", *r.LogicalResourceId, r.ResourceStatus, aws.ToString(r.PhysicalResourceId))
		}
	}
	attached := must[*iam.ListAttachedRolePoliciesOutput](t)(identities.ListAttachedRolePolicies(ctx, &iam.ListAttachedRolePoliciesInput{RoleName: aws.String("nodes" + providerSuffix)}))
	var names []string
	for _, p := range attached.AttachedPolicies {
		names = append(names, *p.PolicyName)
	}
	if diff := cmp.Diff([]string{"nodes" + providerSuffix, "AmazonEKSWorkerNodePolicy", "AmazonEKS_CNI_Policy"}, names); diff != "" {
		t.Errorf("policies of nodes (-want +got):\n%s", diff)
	}
	role := must[*iam.GetRoleOutput](t)(identities.GetRole(ctx, &iam.GetRoleInput{RoleName: aws.String("controllers" + providerSuffix)})).Role
	if trust, _ := url.QueryUnescape(*role.AssumeRolePolicyDocument); !strings.Contains(trust, `"Version":"2012-10-17"`) || !strings.Contains(trust, "sts:TagSession") {
		t.Errorf("the trust policy is %s", trust)
	}
	if len(role.Tags) != 1 || *role.Tags[0].Value != "17" {
		t.Errorf("the role's tags are %+v", role.Tags)
	}
	profile := must[*iam.GetInstanceProfileOutput](t)(identities.GetInstanceProfile(ctx, &iam.GetInstanceProfileInput{InstanceProfileName: aws.String("nodes" + providerSuffix)}))
	if len(profile.InstanceProfile.Roles) != 1 || *profile.InstanceProfile.Roles[0].RoleName != "nodes"+providerSuffix {
		t.Errorf("the profile holds %+v", profile.InstanceProfile.Roles)
	}

	_, err = stacks.CreateStack(ctx, &cloudformation.CreateStackInput{StackName: name, TemplateBody: &providerIAM})
	refused(t, "AlreadyExistsException", err)
	same := &cloudformation.UpdateStackInput{StackName: name, TemplateBody: &providerIAM, Capabilities: []types.Capability{types.CapabilityCapabilityNamedIam}}
	_, err = stacks.UpdateStack(ctx, same)
	if err == nil || !strings.Contains(err.Error(), "No updates are to be performed.") {
		t.Errorf("an update without a change: %v", err)
	}
	a.Restart()
	stacks = a.stacks()
	_, err = stacks.UpdateStack(ctx, same)
	refused(t, "ValidationError", err)

	must[*cloudformation.DeleteStackOutput](t)(stacks.DeleteStack(ctx, &cloudformation.DeleteStackInput{StackName: name}))
	if err := cloudformation.NewStackDeleteCompleteWaiter(stacks).Wait(ctx, &cloudformation.DescribeStacksInput{StackName: name}, firstPoll); err != nil {
		t.Fatal(err)
	}
	gone := must[*cloudformation.DescribeStacksOutput](t)(stacks.DescribeStacks(ctx, &cloudformation.DescribeStacksInput{StackName: st.StackId})).Stacks[0]
	if gone.StackStatus != types.StackStatusDeleteComplete || gone.DeletionTime == nil {
		t.Errorf("by its id the stack is %s", gone.StackStatus)
	}
	must[*cloudformation.DeleteStackOutput](t)(stacks.DeleteStack(ctx, &cloudformation.DeleteStackInput{StackName: name})) // once more is no error
	a.NothingLeft()
}

// TestStackWithRoleInUse is a stack whose role something else has come to use:
// what needs no role is deleted, the role and the stack stay until it is freed.
func TestStackWithRoleInUse(t *testing.T) {
	a := newAccount(t)
	ctx, name := t.Context(), aws.String(providerStack)
	stacks, identities := a.stacks(), iam.NewFromConfig(a.Config())
	a.createStack(*name, providerIAM)
	a.settled(*name)
	use := &iam.AttachRolePolicyInput{RoleName: aws.String("nodes" + providerSuffix), PolicyArn: aws.String("arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore")}
	must[*iam.AttachRolePolicyOutput](t)(identities.AttachRolePolicy(ctx, use))

	must[*cloudformation.DeleteStackOutput](t)(stacks.DeleteStack(ctx, &cloudformation.DeleteStackInput{StackName: name}))
	st := a.settled(*name)
	if st.StackStatus != types.StackStatusDeleteFailed || !strings.Contains(aws.ToString(st.StackStatusReason), "[RoleNodes]") {
		t.Fatalf("the stack is %s: %s", st.StackStatus, aws.ToString(st.StackStatusReason))
	}
	failed := must[*cloudformation.DescribeStackResourceOutput](t)(stacks.DescribeStackResource(ctx, &cloudformation.DescribeStackResourceInput{
		StackName: name, LogicalResourceId: aws.String("RoleNodes"),
	})).StackResourceDetail
	if failed.ResourceStatus != types.ResourceStatusDeleteFailed || !strings.Contains(aws.ToString(failed.ResourceStatusReason), "must detach all policies first") {
		t.Errorf("the role is %s: %s", failed.ResourceStatus, aws.ToString(failed.ResourceStatusReason))
	}
	_, err := identities.GetRole(ctx, &iam.GetRoleInput{RoleName: aws.String("control-plane" + providerSuffix)})
	refused(t, "NoSuchEntity", err)

	must[*iam.DetachRolePolicyOutput](t)(identities.DetachRolePolicy(ctx, &iam.DetachRolePolicyInput{RoleName: use.RoleName, PolicyArn: use.PolicyArn}))
	must[*cloudformation.DeleteStackOutput](t)(stacks.DeleteStack(ctx, &cloudformation.DeleteStackInput{StackName: name}))
	_, err = stacks.DescribeStacks(ctx, &cloudformation.DescribeStacksInput{StackName: name})
	refused(t, "ValidationError", err)
	a.NothingLeft()
}

func TestStackThatFailsIsRolledBack(t *testing.T) {
	a := newAccount(t)
	ctx, name := t.Context(), aws.String(providerStack)
	stacks, identities := a.stacks(), iam.NewFromConfig(a.Config())
	taken := aws.String("nodes" + providerSuffix)
	must[*iam.CreateInstanceProfileOutput](t)(identities.CreateInstanceProfile(ctx, &iam.CreateInstanceProfileInput{InstanceProfileName: taken}))
	a.createStack(*name, providerIAM)
	if st := a.settled(*name); st.StackStatus != types.StackStatusRollbackComplete {
		t.Fatalf("the stack is %s: %s", st.StackStatus, aws.ToString(st.StackStatusReason))
	}
	var reasons []string
	for _, e := range must[*cloudformation.DescribeStackEventsOutput](t)(stacks.DescribeStackEvents(ctx, &cloudformation.DescribeStackEventsInput{StackName: name})).StackEvents {
		if e.ResourceStatus == types.ResourceStatusCreateFailed {
			reasons = append(reasons, *e.LogicalResourceId+": "+*e.ResourceStatusReason)
		}
	}
	if len(reasons) != 1 || !strings.HasPrefix(reasons[0], "ProfileNodes: ") || !strings.Contains(reasons[0], "AlreadyExists") {
		t.Errorf("what failed: %v", reasons)
	}
	_, err := stacks.UpdateStack(ctx, &cloudformation.UpdateStackInput{StackName: name, TemplateBody: &providerIAM, Capabilities: []types.Capability{types.CapabilityCapabilityNamedIam}})
	refused(t, "ValidationError", err)
	must[*cloudformation.DeleteStackOutput](t)(stacks.DeleteStack(ctx, &cloudformation.DeleteStackInput{StackName: name}))
	must[*iam.DeleteInstanceProfileOutput](t)(identities.DeleteInstanceProfile(ctx, &iam.DeleteInstanceProfileInput{InstanceProfileName: taken}))
	_, err = stacks.DescribeStacks(ctx, &cloudformation.DescribeStacksInput{StackName: name})
	refused(t, "ValidationError", err)
	a.NothingLeft()
}

// TestStackUpdate changes a policy, adds a user and takes a role away, and then
// fails at another change and finds everything as it was.
func TestStackUpdate(t *testing.T) {
	a := newAccount(t)
	ctx, name := t.Context(), aws.String("small")
	stacks, identities := a.stacks(), iam.NewFromConfig(a.Config())
	role := func(resource, roleName string) string {
		return `"` + resource + `":{"Type":"AWS::IAM::Role","Properties":{"RoleName":"` + roleName + `","AssumeRolePolicyDocument":` +
			`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRole","Principal":{"Service":"ec2.amazonaws.com"}}]}}}`
	}
	policy := func(action, roles string) string {
		return `"P":{"Type":"AWS::IAM::ManagedPolicy","Properties":{"PolicyDocument":{"Version":"2012-10-17","Statement":[` +
			`{"Effect":"Allow","Action":"` + action + `","Resource":"*"}]},"Roles":[` + roles + `]}}`
	}
	template := func(resources ...string) string { return `{"Resources":{` + strings.Join(resources, ",") + `}}` }
	update := func(body string) types.Stack {
		t.Helper()
		must[*cloudformation.UpdateStackOutput](t)(stacks.UpdateStack(ctx, &cloudformation.UpdateStackInput{
			StackName: name, TemplateBody: &body, Capabilities: []types.Capability{types.CapabilityCapabilityNamedIam},
		}))
		return a.settled(*name)
	}
	a.createStack(*name, template(role("A", "role-a"), role("B", "role-b"), policy("ec2:DescribeVpcs", `{"Ref":"A"},{"Ref":"B"}`)))
	a.settled(*name)
	arn := *must[*cloudformation.DescribeStackResourceOutput](t)(stacks.DescribeStackResource(ctx, &cloudformation.DescribeStackResourceInput{
		StackName: name, LogicalResourceId: aws.String("P"),
	})).StackResourceDetail.PhysicalResourceId

	second := template(role("A", "role-a"), policy("ec2:DescribeSubnets", `{"Ref":"A"}`),
		`"U":{"Type":"AWS::IAM::User","Properties":{"UserName":"reader","ManagedPolicyArns":[{"Ref":"P"}]}}`)
	if st := update(second); st.StackStatus != types.StackStatusUpdateComplete {
		t.Fatalf("the stack is %s: %s", st.StackStatus, aws.ToString(st.StackStatusReason))
	}
	_, err := identities.GetRole(ctx, &iam.GetRoleInput{RoleName: aws.String("role-b")})
	refused(t, "NoSuchEntity", err)
	document := func() string {
		p := must[*iam.GetPolicyOutput](t)(identities.GetPolicy(ctx, &iam.GetPolicyInput{PolicyArn: &arn})).Policy
		v := must[*iam.GetPolicyVersionOutput](t)(identities.GetPolicyVersion(ctx, &iam.GetPolicyVersionInput{PolicyArn: &arn, VersionId: p.DefaultVersionId}))
		text, _ := url.QueryUnescape(*v.PolicyVersion.Document)
		return text
	}
	if !strings.Contains(document(), "ec2:DescribeSubnets") {
		t.Errorf("the policy is %s", document())
	}

	must[*iam.CreateGroupOutput](t)(identities.CreateGroup(ctx, &iam.CreateGroupInput{GroupName: aws.String("taken")}))
	third := template(role("A", "role-a"), policy("ec2:DescribeImages", `{"Ref":"A"}`),
		`"U":{"Type":"AWS::IAM::User","Properties":{"UserName":"reader","ManagedPolicyArns":[{"Ref":"P"}]}}`,
		`"G":{"Type":"AWS::IAM::Group","DependsOn":"P","Properties":{"GroupName":"taken"}}`)
	if st := update(third); st.StackStatus != types.StackStatusUpdateRollbackComplete {
		t.Fatalf("the stack is %s: %s", st.StackStatus, aws.ToString(st.StackStatusReason))
	}
	if !strings.Contains(document(), "ec2:DescribeSubnets") {
		t.Errorf("after going back the policy is %s", document())
	}
	must[*iam.DeleteGroupOutput](t)(identities.DeleteGroup(ctx, &iam.DeleteGroupInput{GroupName: aws.String("taken")}))
	must[*cloudformation.DeleteStackOutput](t)(stacks.DeleteStack(ctx, &cloudformation.DeleteStackInput{StackName: name}))
	_, err = stacks.DescribeStacks(ctx, &cloudformation.DescribeStacksInput{StackName: name})
	refused(t, "ValidationError", err)
	a.NothingLeft()
}

func TestTemplatesThatAreRefused(t *testing.T) {
	a := newAccount(t)
	for body, want := range map[string]string{
		"{":  "YAML not well-formed",
		"{}": "At least one Resources member must be defined.",
		"Resources: {Q: {Type: 'AWS::SQS::Queue'}}":                                                                "Unrecognized resource types: [AWS::SQS::Queue]",
		"Resources: {G: {Type: 'AWS::IAM::Group', Properties: {GroupName: !Ref X}}}":                               "Unresolved resource dependencies [X]",
		"Resources: {G: {Type: 'AWS::IAM::Group', Properties: {GroupName: !If [a, b, c]}}}":                        "does not model the function Fn::If",
		"Resources: {A: {Type: 'AWS::IAM::Group', DependsOn: B}, B: {Type: 'AWS::IAM::Group', DependsOn: A}}":      "Circular dependency between resources: [A, B]",
		"Conditions: {}\nResources: {A: {Type: 'AWS::IAM::Group'}}":                                                "does not model Conditions",
		"Parameters: {P: {Type: String}}\nResources: {A: {Type: 'AWS::IAM::Group', Properties: {Path: !Ref 'P'}}}": "Parameters: [P] must have values",
	} {
		_, err := a.stacks().CreateStack(t.Context(), &cloudformation.CreateStackInput{
			StackName: aws.String("x"), TemplateBody: &body, Capabilities: []types.Capability{types.CapabilityCapabilityIam},
		})
		if codeOf(err) != "ValidationError" || !strings.Contains(err.Error(), want) {
			t.Errorf("%s:\ngot %v\nwant %s", body, err, want)
		}
	}
	a.NothingLeft()
}
