package policy_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/krops-go/krops/internal/rehearsal/awssim/policy"
)

func parse(t *testing.T, text string, grammar policy.Grammar) *policy.Document {
	t.Helper()
	doc, err := policy.Parse(text, grammar)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return doc
}

func keysOf(m map[string][]string) policy.Keys {
	return func(name string) []string { return m[name] }
}

const vpc = "arn:aws:ec2:eu-north-1:111122223333:vpc/vpc-1"

func TestStatements(t *testing.T) {
	keys := keysOf(map[string][]string{"aws:username": {"ann"}})
	for _, c := range []struct {
		name, statement, action, resource string
		want                              policy.Effect
	}{
		{"everything", `{"Effect":"Allow","Action":"*","Resource":"*"}`, "ec2:DeleteVpc", vpc, policy.Allow},
		{"another action", `{"Effect":"Allow","Action":"ec2:CreateVpc","Resource":"*"}`, "ec2:DeleteVpc", vpc, policy.Silent},
		{"actions ignore case", `{"Effect":"Allow","Action":"EC2:deletevpc","Resource":"*"}`, "ec2:DeleteVpc", vpc, policy.Allow},
		{"a wildcard in an action", `{"Effect":"Allow","Action":"ec2:D*Vpc","Resource":"*"}`, "ec2:DeleteVpc", vpc, policy.Allow},
		{"a question mark", `{"Effect":"Allow","Action":"ec2:DeleteVp?","Resource":"*"}`, "ec2:DeleteVpc", vpc, policy.Allow},
		{"another service's wildcard", `{"Effect":"Allow","Action":"eks:*","Resource":"*"}`, "ec2:DeleteVpc", vpc, policy.Silent},
		{"one of many actions", `{"Effect":"Allow","Action":["eks:*","ec2:*"],"Resource":"*"}`, "ec2:DeleteVpc", vpc, policy.Allow},
		{"NotAction leaves out", `{"Effect":"Allow","NotAction":"ec2:*","Resource":"*"}`, "ec2:DeleteVpc", vpc, policy.Silent},
		{"NotAction takes the rest", `{"Effect":"Allow","NotAction":"iam:*","Resource":"*"}`, "ec2:DeleteVpc", vpc, policy.Allow},
		{"a resource", `{"Effect":"Allow","Action":"*","Resource":"` + vpc + `"}`, "ec2:DeleteVpc", vpc, policy.Allow},
		{"another resource", `{"Effect":"Allow","Action":"*","Resource":"` + vpc + `2"}`, "ec2:DeleteVpc", vpc, policy.Silent},
		{"resources mind case", `{"Effect":"Allow","Action":"*","Resource":"arn:aws:ec2:*:*:VPC/*"}`, "ec2:DeleteVpc", vpc, policy.Silent},
		{"wildcards within parts", `{"Effect":"Allow","Action":"*","Resource":"arn:aws:ec2:eu-*:*:vpc/*"}`, "ec2:DeleteVpc", vpc, policy.Allow},
		{"wildcards do not cross parts", `{"Effect":"Allow","Action":"*","Resource":"arn:aws:ec2:*:vpc/*:x:y"}`, "ec2:DeleteVpc", vpc, policy.Silent},
		{"an action without resource needs a star", `{"Effect":"Allow","Action":"*","Resource":"arn:aws:ec2:*:*:vpc/*"}`, "ec2:DescribeVpcs", "*", policy.Silent},
		{"NotResource", `{"Effect":"Deny","Action":"*","NotResource":"arn:aws:ec2:eu-north-1:*:*"}`, "ec2:DeleteVpc", vpc, policy.Silent},
		{"NotResource of others", `{"Effect":"Deny","Action":"*","NotResource":"arn:aws:ec2:eu-west-1:*:*"}`, "ec2:DeleteVpc", vpc, policy.Deny},
		{"a variable", `{"Effect":"Allow","Action":"*","Resource":"arn:aws:s3:::${aws:username}/*"}`, "s3:GetObject", "arn:aws:s3:::ann/x", policy.Allow},
		{"a variable of another", `{"Effect":"Allow","Action":"*","Resource":"arn:aws:s3:::${aws:username}/*"}`, "s3:GetObject", "arn:aws:s3:::bob/x", policy.Silent},
		{"a variable without value", `{"Effect":"Allow","Action":"*","Resource":"arn:aws:s3:::${aws:userid}/*"}`, "s3:GetObject", "arn:aws:s3:::/x", policy.Silent},
		{"a variable's default", `{"Effect":"Allow","Action":"*","Resource":"arn:aws:s3:::${aws:userid, 'bob'}/*"}`, "s3:GetObject", "arn:aws:s3:::bob/x", policy.Allow},
	} {
		t.Run(c.name, func(t *testing.T) {
			doc := parse(t, `{"Version":"2012-10-17","Statement":`+c.statement+`}`, policy.Identity)
			if got := doc.Evaluate(policy.Request{Action: c.action, Resource: c.resource, Keys: keys}); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}

func TestConditions(t *testing.T) {
	keys := keysOf(map[string][]string{
		"aws:requestedregion": {"eu-north-1"}, "aws:principalarn": {"arn:aws:iam::111122223333:role/path/dev"},
		"aws:sourceip": {"10.1.2.3"}, "aws:currenttime": {"2026-12-01T08:00:00Z"}, "aws:epochtime": {"1796112000"},
		"aws:securetransport": {"false"}, "s3:max-keys": {"10"}, "aws:tagkeys": {"Name", "owner"},
		"aws:requesttag/owner": {"krops"}, "aws:username": {"ann"}, "sts:externalid": {"ann"},
	})
	for _, c := range []struct {
		condition string
		want      bool
	}{
		{`"StringEquals":{"aws:RequestedRegion":"eu-north-1"}`, true},
		{`"StringEquals":{"aws:RequestedRegion":["us-east-1","eu-north-1"]}`, true},
		{`"StringEquals":{"AWS:requestedregion":"eu-north-1"}`, true},
		{`"StringEquals":{"aws:RequestedRegion":"EU-north-1"}`, false},
		{`"StringEqualsIgnoreCase":{"aws:RequestedRegion":"EU-north-1"}`, true},
		{`"StringNotEquals":{"aws:RequestedRegion":["us-east-1","eu-north-1"]}`, false},
		{`"StringNotEquals":{"aws:RequestedRegion":"us-east-1"}`, true},
		{`"StringNotEqualsIgnoreCase":{"aws:RequestedRegion":"EU-NORTH-1"}`, false},
		{`"StringLike":{"aws:RequestedRegion":"eu-*"}`, true},
		{`"StringNotLike":{"aws:RequestedRegion":"eu-*"}`, false},
		{`"StringEquals":{"aws:RequestTag/owner":"krops"}`, true},
		{`"StringEquals":{"aws:RequestTag/absent":"krops"}`, false},
		{`"StringNotEquals":{"aws:RequestTag/absent":"krops"}`, true},
		{`"StringEqualsIfExists":{"aws:RequestTag/absent":"krops"}`, true},
		{`"StringEqualsIfExists":{"aws:RequestTag/owner":"other"}`, false},
		{`"StringEquals":{"sts:ExternalId":"${aws:username}"}`, true},
		{`"Null":{"aws:RequestTag/absent":"true"}`, true},
		{`"Null":{"aws:RequestTag/owner":true}`, false},
		{`"Null":{"aws:RequestTag/owner":"false"}`, true},
		{`"Bool":{"aws:SecureTransport":"false"}`, true},
		{`"Bool":{"aws:SecureTransport":true}`, false},
		{`"BoolIfExists":{"aws:MultiFactorAuthPresent":"true"}`, true},
		{`"NumericLessThanEquals":{"s3:max-keys":10}`, true},
		{`"NumericLessThan":{"s3:max-keys":"10"}`, false},
		{`"NumericGreaterThan":{"s3:max-keys":"9.5"}`, true},
		{`"NumericEquals":{"s3:max-keys":"10.0"}`, true},
		{`"NumericNotEquals":{"s3:max-keys":"10"}`, false},
		{`"NumericEquals":{"aws:username":"10"}`, false},
		{`"DateGreaterThan":{"aws:CurrentTime":"2026-11-30T00:00:00Z"}`, true},
		{`"DateLessThan":{"aws:CurrentTime":"2026-11-30T00:00:00Z"}`, false},
		{`"DateLessThan":{"aws:EpochTime":"1796112001"}`, true},
		{`"IpAddress":{"aws:SourceIp":["192.168.0.0/16","10.0.0.0/8"]}`, true},
		{`"NotIpAddress":{"aws:SourceIp":"10.1.2.3"}`, false},
		{`"ArnLike":{"aws:PrincipalArn":"arn:aws:iam::*:role/*"}`, true},
		{`"ArnEquals":{"aws:PrincipalArn":"arn:aws:iam::111122223333:role/*/dev"}`, true},
		{`"ArnLike":{"aws:PrincipalArn":"arn:aws:iam:*:role/path/dev"}`, false},
		{`"ArnNotLike":{"aws:PrincipalArn":"arn:aws:iam::*:user/*"}`, true},
		{`"ForAllValues:StringEquals":{"aws:TagKeys":["Name","owner","x"]}`, true},
		{`"ForAllValues:StringEquals":{"aws:TagKeys":["Name"]}`, false},
		{`"ForAllValues:StringEquals":{"absent:Key":["Name"]}`, true},
		{`"ForAnyValue:StringEquals":{"aws:TagKeys":["owner"]}`, true},
		{`"ForAnyValue:StringLike":{"aws:TagKeys":["z*"]}`, false},
		{`"ForAnyValue:StringEquals":{"absent:Key":["Name"]}`, false},
		{`"StringEquals":{"aws:RequestedRegion":"eu-north-1"},"Bool":{"aws:SecureTransport":"true"}`, false},
		{`"StringEquals":{"aws:RequestedRegion":"eu-north-1","aws:username":"bob"}`, false},
	} {
		t.Run(c.condition, func(t *testing.T) {
			doc := parse(t, `{"Statement":[{"Effect":"Allow","Action":"*","Resource":"*","Condition":{`+c.condition+`}}]}`, policy.Identity)
			if got := doc.Evaluate(policy.Request{Action: "ec2:CreateVpc", Resource: "*", Keys: keys}) == policy.Allow; got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		text    string
		grammar policy.Grammar
	}{
		"no JSON":                   {`Statement`, policy.Identity},
		"something after":           {`{"Statement":{"Effect":"Allow","Action":"*","Resource":"*"}} {}`, policy.Identity},
		"an unknown version":        {`{"Version":"2020-01-01","Statement":{"Effect":"Allow","Action":"*","Resource":"*"}}`, policy.Identity},
		"no statement":              {`{"Version":"2012-10-17"}`, policy.Identity},
		"an empty list":             {`{"Statement":[]}`, policy.Identity},
		"a misspelled element":      {`{"Statement":{"Effect":"Allow","Actions":"*","Resource":"*"}}`, policy.Identity},
		"no effect":                 {`{"Statement":{"Action":"*","Resource":"*"}}`, policy.Identity},
		"no action":                 {`{"Statement":{"Effect":"Allow","Resource":"*"}}`, policy.Identity},
		"both kinds of action":      {`{"Statement":{"Effect":"Allow","Action":"*","NotAction":"*","Resource":"*"}}`, policy.Identity},
		"an action without service": {`{"Statement":{"Effect":"Allow","Action":"CreateVpc","Resource":"*"}}`, policy.Identity},
		"no resource":               {`{"Statement":{"Effect":"Allow","Action":"*"}}`, policy.Identity},
		"a resource that is none":   {`{"Statement":{"Effect":"Allow","Action":"*","Resource":"vpc-1"}}`, policy.Identity},
		"a principal":               {`{"Statement":{"Effect":"Allow","Action":"*","Resource":"*","Principal":"*"}}`, policy.Identity},
		"an unknown operator":       {`{"Statement":{"Effect":"Allow","Action":"*","Resource":"*","Condition":{"StringSame":{"a:b":"c"}}}}`, policy.Identity},
		"Null with IfExists":        {`{"Statement":{"Effect":"Allow","Action":"*","Resource":"*","Condition":{"NullIfExists":{"a:b":"true"}}}}`, policy.Identity},
		"a condition of objects":    {`{"Statement":{"Effect":"Allow","Action":"*","Resource":"*","Condition":{"Bool":{"a:b":{}}}}}`, policy.Identity},
		"trust without principal":   {`{"Statement":{"Effect":"Allow","Action":"sts:AssumeRole"}}`, policy.Trust},
		"trust with resource":       {`{"Statement":{"Effect":"Allow","Action":"sts:AssumeRole","Principal":"*","Resource":"*"}}`, policy.Trust},
		"an unknown principal":      {`{"Statement":{"Effect":"Allow","Action":"sts:AssumeRole","Principal":{"User":"x"}}}`, policy.Trust},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := policy.Parse(c.text, c.grammar); err == nil {
				t.Error("it was accepted")
			}
		})
	}
}

func TestTrust(t *testing.T) {
	user := policy.Who{ARN: "arn:aws:iam::111122223333:user/ann", Account: "111122223333"}
	session := policy.Who{ARN: "arn:aws:sts::111122223333:assumed-role/dev/s", Role: "arn:aws:iam::111122223333:role/dev", Account: "111122223333"}
	eks := policy.Who{Service: "eks.amazonaws.com"}
	issuer := policy.Who{Federated: "arn:aws:iam::111122223333:oidc-provider/issuer"}
	for _, c := range []struct {
		name, principal string
		who             policy.Who
		want            policy.Grant
	}{
		{"the user", `{"AWS":"arn:aws:iam::111122223333:user/ann"}`, user, policy.Grant{Effect: policy.Allow, Direct: true}},
		{"another user", `{"AWS":"arn:aws:iam::111122223333:user/bob"}`, user, policy.Grant{}},
		{"the account", `{"AWS":"111122223333"}`, user, policy.Grant{Effect: policy.Allow}},
		{"the account's root", `{"AWS":"arn:aws:iam::111122223333:root"}`, user, policy.Grant{Effect: policy.Allow}},
		{"another account", `{"AWS":"999999999999"}`, user, policy.Grant{}},
		{"a session's role", `{"AWS":["arn:aws:iam::111122223333:role/dev"]}`, session, policy.Grant{Effect: policy.Allow, Direct: true}},
		{"anyone", `"*"`, user, policy.Grant{Effect: policy.Allow, Direct: true}},
		{"a service", `{"Service":"eks.amazonaws.com"}`, eks, policy.Grant{Effect: policy.Allow, Direct: true}},
		{"another service", `{"Service":"ec2.amazonaws.com"}`, eks, policy.Grant{}},
		{"a provider", `{"Federated":"arn:aws:iam::111122223333:oidc-provider/issuer"}`, issuer, policy.Grant{Effect: policy.Allow, Direct: true}},
		{"users are no services", `{"Service":"eks.amazonaws.com"}`, user, policy.Grant{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			doc := parse(t, `{"Statement":[{"Effect":"Allow","Action":"sts:AssumeRole","Principal":`+c.principal+`}]}`, policy.Trust)
			if diff := cmp.Diff(c.want, doc.Grants(c.who, policy.Request{Action: "sts:AssumeRole"})); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
	t.Run("NotPrincipal", func(t *testing.T) {
		doc := parse(t, `{"Statement":[{"Effect":"Deny","Action":"sts:*","NotPrincipal":{"AWS":"`+user.ARN+`"}}]}`, policy.Trust)
		if got := doc.Grants(user, policy.Request{Action: "sts:AssumeRole"}); got.Effect != policy.Silent {
			t.Errorf("the one excepted: %+v", got)
		}
		if got := doc.Grants(session, policy.Request{Action: "sts:AssumeRole"}); got.Effect != policy.Deny {
			t.Errorf("another: %+v", got)
		}
	})
}

func TestPermissions(t *testing.T) {
	doc := func(statements string) *policy.Document {
		return parse(t, `{"Statement":[`+statements+`]}`, policy.Identity)
	}
	const (
		allowEC2 = `{"Effect":"Allow","Action":"ec2:*","Resource":"*"}`
		allowEKS = `{"Effect":"Allow","Action":"eks:*","Resource":"*"}`
		denyEC2  = `{"Effect":"Deny","Action":"ec2:*","Resource":"*"}`
	)
	r := policy.Request{Action: "ec2:CreateVpc", Resource: "*"}
	for name, c := range map[string]struct {
		permissions policy.Permissions
		grant       policy.Grant
		want        string // reason; empty for allowed
	}{
		"nothing":  {policy.Permissions{}, policy.Grant{}, "because no identity-based policy allows the ec2:CreateVpc action"},
		"identity": {policy.Permissions{Identity: []*policy.Document{doc(allowEC2)}}, policy.Grant{}, ""},
		"a deny in another document": {
			policy.Permissions{Identity: []*policy.Document{doc(allowEC2), doc(denyEC2)}}, policy.Grant{},
			"with an explicit deny in an identity-based policy"},
		"a deny after an allow": {
			policy.Permissions{Identity: []*policy.Document{doc(allowEC2 + "," + denyEC2)}}, policy.Grant{},
			"with an explicit deny in an identity-based policy"},
		"a boundary that allows":  {policy.Permissions{Identity: []*policy.Document{doc(allowEC2)}, Boundary: doc(allowEC2)}, policy.Grant{}, ""},
		"a boundary alone":        {policy.Permissions{Boundary: doc(allowEC2)}, policy.Grant{}, "because no identity-based policy allows the ec2:CreateVpc action"},
		"a boundary that limits":  {policy.Permissions{Identity: []*policy.Document{doc(allowEC2)}, Boundary: doc(allowEKS)}, policy.Grant{}, "because no permissions boundary allows the ec2:CreateVpc action"},
		"a boundary that denies":  {policy.Permissions{Identity: []*policy.Document{doc(allowEC2)}, Boundary: doc(denyEC2)}, policy.Grant{}, "with an explicit deny in a permissions boundary"},
		"a session that limits":   {policy.Permissions{Identity: []*policy.Document{doc(allowEC2)}, Session: []*policy.Document{doc(allowEKS)}}, policy.Grant{}, "because no session policy allows the ec2:CreateVpc action"},
		"a session that adds":     {policy.Permissions{Identity: []*policy.Document{doc(allowEKS)}, Session: []*policy.Document{doc(allowEC2)}}, policy.Grant{}, "because no identity-based policy allows the ec2:CreateVpc action"},
		"a resource that grants":  {policy.Permissions{}, policy.Grant{Effect: policy.Allow, Direct: true}, ""},
		"a grant to the account":  {policy.Permissions{}, policy.Grant{Effect: policy.Allow}, "because no identity-based policy allows the ec2:CreateVpc action"},
		"a resource that denies":  {policy.Permissions{Identity: []*policy.Document{doc(allowEC2)}}, policy.Grant{Effect: policy.Deny, Direct: true}, "with an explicit deny in a resource-based policy"},
		"an identity that denies": {policy.Permissions{Identity: []*policy.Document{doc(denyEC2)}}, policy.Grant{Effect: policy.Allow, Direct: true}, "with an explicit deny in an identity-based policy"},
	} {
		t.Run(name, func(t *testing.T) {
			got := c.permissions.DecideWith(r, c.grant)
			if got.Reason(r.Action) != c.want || got.Allowed != (c.want == "") {
				t.Errorf("got %+v %q, want %q", got, got.Reason(r.Action), c.want)
			}
		})
	}
	t.Run("assuming a role needs its trust", func(t *testing.T) {
		admin := policy.Permissions{Identity: []*policy.Document{doc(`{"Effect":"Allow","Action":"*","Resource":"*"}`)}}
		if admin.DecideAssume(r, policy.Grant{}).Allowed {
			t.Error("allowed without trust")
		}
		if !admin.DecideAssume(r, policy.Grant{Effect: policy.Allow}).Allowed {
			t.Error("denied though the role trusts the account")
		}
	})
}

func TestManagedPolicies(t *testing.T) {
	for _, arn := range policy.ManagedARNs() {
		managed, ok := policy.LookupManaged(arn)
		if !ok || arn != "arn:aws:iam::aws:policy"+managed.Path+managed.Name {
			t.Errorf("%s: got %+v", arn, managed)
		}
		if _, err := policy.Parse(managed.Document, policy.Identity); err != nil {
			t.Errorf("%s: %v", arn, err)
		}
		if strings.Contains(managed.Path, "//") {
			t.Errorf("%s: path %s", arn, managed.Path)
		}
	}
	if _, ok := policy.LookupManaged("arn:aws:iam::aws:policy/Absent"); ok {
		t.Error("an unknown one was found")
	}
}

func TestDecider(t *testing.T) {
	doc := parse(t, `{"Statement":[
		{"Sid":"Look","Effect":"Allow","Action":"ec2:Describe*","Resource":"*"},
		{"Effect":"Deny","Action":"ec2:DeleteVpc","Resource":"*"}]}`, policy.Identity)
	for action, want := range map[string]string{"ec2:DescribeVpcs": "Look", "ec2:DeleteVpc": "statement2", "ec2:CreateVpc": ""} {
		if _, got := doc.Decider(policy.Request{Action: action, Resource: "*"}); got != want {
			t.Errorf("%s: got %q, want %q", action, got, want)
		}
	}
}
