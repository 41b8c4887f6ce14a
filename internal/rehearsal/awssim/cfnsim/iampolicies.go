package cfnsim

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
)

func createPolicy(a actor, _ *stack, name string, p properties) (string, map[string]string, error) {
	text, err := p.document("PolicyDocument")
	if err != nil {
		return "", nil, err
	}
	out, err := a.do("CreatePolicy", input{
		"PolicyName": name, "PolicyDocument": text, "Path": p.text("Path"), "Description": p.text("Description"),
	})
	if err != nil {
		return "", nil, err
	}
	policy := out.(*iam.CreatePolicyOutput).Policy
	attributes := map[string]string{"PolicyArn": *policy.Arn, "PolicyId": *policy.PolicyId}
	return *policy.Arn, attributes, a.setHolders(*policy.Arn, nil, p)
}

// setHolders brings what has the policy from one state to another.
func (a actor) setHolders(arn string, before, after properties) error {
	for _, noun := range []string{"Role", "User", "Group"} {
		removed, added := difference(before.texts(noun+"s"), after.texts(noun+"s"))
		for _, name := range removed {
			if _, err := a.do("Detach"+noun+"Policy", input{noun + "Name": name, "PolicyArn": arn}); unlessAbsent(err) != nil {
				return err
			}
		}
		for _, name := range added {
			if _, err := a.do("Attach"+noun+"Policy", input{noun + "Name": name, "PolicyArn": arn}); err != nil {
				return err
			}
		}
	}
	return nil
}

func updatePolicy(a actor, _ *stack, arn string, before, after properties) error {
	old, err := before.document("PolicyDocument")
	if err != nil {
		return err
	}
	text, err := after.document("PolicyDocument")
	if err != nil {
		return err
	}
	if old != text {
		if err := a.removeVersions(arn); err != nil {
			return err
		}
		if _, err := a.do("CreatePolicyVersion", input{"PolicyArn": arn, "PolicyDocument": text, "SetAsDefault": true}); err != nil {
			return err
		}
	}
	return a.setHolders(arn, before, after)
}

// removeVersions leaves a policy its default version only.
func (a actor) removeVersions(arn string) error {
	out, err := a.do("ListPolicyVersions", input{"PolicyArn": arn})
	if err != nil {
		return err
	}
	for _, v := range slices.Backward(out.(*iam.ListPolicyVersionsOutput).Versions) {
		if v.IsDefaultVersion {
			continue
		}
		if _, err := a.do("DeletePolicyVersion", input{"PolicyArn": arn, "VersionId": aws.ToString(v.VersionId)}); err != nil {
			return err
		}
	}
	return nil
}

func removePolicy(a actor, arn string, p properties) error {
	return unlessAbsent(try(
		func() error { return a.setHolders(arn, p, nil) },
		func() error { return a.removeVersions(arn) },
		func() error { _, err := a.do("DeletePolicy", input{"PolicyArn": arn}); return err },
	))
}
