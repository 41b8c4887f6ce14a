package awssim_test

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	ststypes "github.com/aws/aws-sdk-go-v2/service/sts/types"
	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/google/go-cmp/cmp"

	"github.com/krops-go/krops/internal/rehearsal/awssim"
)

func TestAssumeRole(t *testing.T) {
	assume := `{"Effect":"Allow","Action":"sts:AssumeRole","Resource":"arn:aws:iam::*:role/*"}`
	may := user("may", assume)
	e := newEstate(t, awssim.WithCredentials(may))
	mayNot := e.createUser(t, "maynot")
	reader := e.createRole(t, "reader", trustAccount, `{"Effect":"Allow","Action":"ec2:Describe*","Resource":"*"}`)
	external := e.createRole(t, "external", `{"Effect":"Allow","Principal":{"AWS":"`+mayNot.ARN+`"},"Action":"sts:AssumeRole",
		"Condition":{"StringEquals":{"sts:ExternalId":"42"}}}`, "")
	foreign := e.createRole(t, "foreign", `{"Effect":"Allow","Principal":{"Service":"ec2.amazonaws.com"},"Action":"sts:AssumeRole"}`, "")
	open := func(who awssim.Credential, role string, change ...func(*sts.AssumeRoleInput)) (*sts.AssumeRoleOutput, error) {
		in := &sts.AssumeRoleInput{RoleArn: &role, RoleSessionName: aws.String("session")}
		for _, c := range change {
			c(in)
		}
		return e.as(who).sts().AssumeRole(t.Context(), in)
	}
	for name, c := range map[string]struct {
		who    awssim.Credential
		role   string
		change func(*sts.AssumeRoleInput)
		want   string
	}{
		"trust and permission":                    {may, reader, nil, ""},
		"trust in the account without permission": {mayNot, reader, nil, "AccessDenied"},
		"permission without trust":                {may, foreign, nil, "AccessDenied"},
		"a role that is not there":                {may, "arn:aws:iam::111122223333:role/none", nil, "AccessDenied"},
		"trust in oneself without the id":         {mayNot, external, nil, "AccessDenied"},
		"trust in oneself with another id":        {mayNot, external, func(in *sts.AssumeRoleInput) { in.ExternalId = aws.String("43") }, "AccessDenied"},
		"trust in oneself with the id":            {mayNot, external, func(in *sts.AssumeRoleInput) { in.ExternalId = aws.String("42") }, ""},
		"too short":                               {may, reader, func(in *sts.AssumeRoleInput) { in.DurationSeconds = aws.Int32(60) }, "ValidationError"},
		"too long":                                {may, reader, func(in *sts.AssumeRoleInput) { in.DurationSeconds = aws.Int32(7200) }, "ValidationError"},
		"a nameless session":                      {may, reader, func(in *sts.AssumeRoleInput) { in.RoleSessionName = aws.String("a b") }, "ValidationError"},
	} {
		t.Run(name, func(t *testing.T) {
			change := c.change
			if change == nil {
				change = func(*sts.AssumeRoleInput) {}
			}
			if _, err := open(c.who, c.role, change); codeOf(err) != c.want {
				t.Errorf("got %s, want %q", messageOf(err), c.want)
			}
		})
	}
	opened, err := open(may, reader)
	if err != nil {
		t.Fatal(err)
	}
	session := e.as(temporary(opened.Credentials))
	t.Run("the session is the role", func(t *testing.T) {
		out, err := session.sts().GetCallerIdentity(t.Context(), nil)
		if err != nil || *out.Arn != "arn:aws:sts::111122223333:assumed-role/reader/session" || !strings.HasSuffix(*out.UserId, ":session") {
			t.Errorf("got %+v, %v", out, err)
		}
		if *opened.AssumedRoleUser.Arn != *out.Arn || *opened.AssumedRoleUser.AssumedRoleId != *out.UserId {
			t.Errorf("AssumeRole said %+v", opened.AssumedRoleUser)
		}
	})
	describe := func(who caller) error {
		_, err := who.ec2().DescribeVpcs(t.Context(), &ec2.DescribeVpcsInput{})
		return err
	}
	t.Run("the session may what the role may", func(t *testing.T) {
		if err := describe(session); err != nil {
			t.Error(err)
		}
		_, err := session.ec2().CreateVpc(t.Context(), &ec2.CreateVpcInput{CidrBlock: aws.String("10.0.0.0/16")})
		if codeOf(err) != "UnauthorizedOperation" || !strings.Contains(err.Error(), "User: arn:aws:sts::111122223333:assumed-role/reader/session is not") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a session policy limits it", func(t *testing.T) {
		limited, err := open(may, reader, func(in *sts.AssumeRoleInput) {
			in.PolicyArns = []ststypes.PolicyDescriptorType{{Arn: aws.String("arn:aws:iam::aws:policy/AmazonS3FullAccess")}}
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := describe(e.as(temporary(limited.Credentials))); codeOf(err) != "UnauthorizedOperation" || !strings.Contains(err.Error(), "no session policy allows") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("uses are counted for the role", func(t *testing.T) {
		found := false
		for _, use := range e.server.Report().Actions {
			found = found || use == awssim.ActionUse{Principal: reader, Action: "ec2:CreateVpc", Denied: 1}
		}
		if !found {
			t.Errorf("got %+v", e.server.Report().Actions)
		}
	})
	t.Run("a token of another session does not fit", func(t *testing.T) {
		mixed := temporary(opened.Credentials)
		mixed.SessionToken += "x"
		if err := describe(e.as(mixed)); codeOf(err) != "AuthFailure" {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a boundary limits the role", func(t *testing.T) {
		e.createRole(t, "bounded", trustAccount, `{"Effect":"Allow","Action":"*","Resource":"*"}`, func(in *iam.CreateRoleInput) {
			in.PermissionsBoundary = aws.String("arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore")
		})
		bounded, err := open(admin, "arn:aws:iam::111122223333:role/bounded")
		if err != nil {
			t.Fatal(err)
		}
		if err := describe(e.as(temporary(bounded.Credentials))); codeOf(err) != "UnauthorizedOperation" || !strings.Contains(err.Error(), "no permissions boundary allows") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("who loses the role loses everything", func(t *testing.T) {
		client := e.as(admin).iam()
		if _, err := client.DeleteRolePolicy(t.Context(), &iam.DeleteRolePolicyInput{RoleName: aws.String("reader"), PolicyName: aws.String("inline")}); err != nil {
			t.Fatal(err)
		}
		if _, err := client.DeleteRole(t.Context(), &iam.DeleteRoleInput{RoleName: aws.String("reader")}); err != nil {
			t.Fatal(err)
		}
		if err := describe(session); codeOf(err) != "UnauthorizedOperation" {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a session ends", func(t *testing.T) {
		e.clock.Step(time.Hour)
		if err := describe(session); codeOf(err) != "RequestExpired" {
			t.Errorf("EC2: got %v", err)
		}
		if _, err := session.sts().GetCallerIdentity(t.Context(), nil); codeOf(err) != "ExpiredToken" {
			t.Errorf("STS: got %v", err)
		}
	})
}

func TestSessionsOutliveTheProcess(t *testing.T) {
	file := filepath.Join(t.TempDir(), "account.json")
	first := newEstate(t, awssim.WithStateFile(file))
	out, err := first.as(admin).sts().GetSessionToken(t.Context(), &sts.GetSessionTokenInput{})
	if err != nil {
		t.Fatal(err)
	}
	first.close(t)
	second := newEstate(t, awssim.WithStateFile(file))
	session := second.as(temporary(out.Credentials))
	identity, err := session.sts().GetCallerIdentity(t.Context(), nil)
	if err != nil || *identity.Arn != admin.ARN {
		t.Fatalf("got %+v, %v", identity, err)
	}
	if _, err := session.ec2().DescribeVpcs(t.Context(), &ec2.DescribeVpcsInput{}); err != nil {
		t.Errorf("the session lost its holder's permissions: %v", err)
	}
	if _, err := session.sts().GetSessionToken(t.Context(), &sts.GetSessionTokenInput{}); codeOf(err) != "AccessDenied" {
		t.Errorf("a session opened another: %v", err)
	}
}

// issuer is an OpenID Connect provider with one key.
type issuer struct {
	*httptest.Server
	key *rsa.PrivateKey
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	i := &issuer{key: key}
	mux := http.NewServeMux()
	i.Server = httptest.NewUnstartedServer(mux)
	i.Config.ErrorLog = log.New(io.Discard, "", 0) // of clients that do not trust it
	i.StartTLS()
	t.Cleanup(i.Close)
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]string{"issuer": i.URL, "jwks_uri": i.URL + "/keys"})
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: &key.PublicKey, KeyID: "one", Algorithm: "RS256", Use: "sig"}}})
	})
	return i
}

func (i *issuer) token(t *testing.T, key *rsa.PrivateKey, subject, audience string, until time.Time) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: key, KeyID: "one"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	token, err := jwt.Signed(signer).Claims(jwt.Claims{
		Issuer: i.URL, Subject: subject, Audience: jwt.Audience{audience}, Expiry: jwt.NewNumericDate(until),
	}).Serialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func TestAssumeRoleWithWebIdentity(t *testing.T) {
	known, unknown := newIssuer(t), newIssuer(t)
	e := startEstate(t, known.Client())
	provider, err := e.as(admin).iam().CreateOpenIDConnectProvider(t.Context(), &iam.CreateOpenIDConnectProviderInput{
		Url: &known.URL, ClientIDList: []string{"sts.amazonaws.com"}, ThumbprintList: []string{strings.Repeat("0", 40)},
	})
	if err != nil {
		t.Fatal(err)
	}
	host := strings.TrimPrefix(known.URL, "https://")
	role := e.createRole(t, "pod", `{"Effect":"Allow","Principal":{"Federated":"`+*provider.OpenIDConnectProviderArn+`"},
		"Action":"sts:AssumeRoleWithWebIdentity","Condition":{"StringEquals":{"`+host+`:sub":"system:serviceaccount:ns:sa","`+host+`:aud":"sts.amazonaws.com"}}}`,
		`{"Effect":"Allow","Action":"ec2:Describe*","Resource":"*"}`)
	other := e.createRole(t, "other", trustAccount, "")
	const subject, audience = "system:serviceaccount:ns:sa", "sts.amazonaws.com"
	later := e.clock.Now().Add(time.Hour)
	for name, c := range map[string]struct{ token, role, want string }{
		"the service account":       {known.token(t, known.key, subject, audience, later), role, ""},
		"another service account":   {known.token(t, known.key, "system:serviceaccount:ns:other", audience, later), role, "AccessDenied"},
		"another audience":          {known.token(t, known.key, subject, "kubernetes", later), role, "InvalidIdentityToken"},
		"another key":               {known.token(t, unknown.key, subject, audience, later), role, "InvalidIdentityToken"},
		"another issuer":            {unknown.token(t, unknown.key, subject, audience, later), role, "InvalidIdentityToken"},
		"a token that ended":        {known.token(t, known.key, subject, audience, e.clock.Now().Add(-time.Hour)), role, "ExpiredTokenException"},
		"what is no token":          {"abc.def.ghi", role, "InvalidIdentityToken"},
		"a role that does not care": {known.token(t, known.key, subject, audience, later), other, "AccessDenied"},
	} {
		t.Run(name, func(t *testing.T) {
			client := sts.NewFromConfig(aws.Config{
				Region: "eu-central-1", BaseEndpoint: &e.url, Credentials: aws.AnonymousCredentials{},
				Retryer: func() aws.Retryer { return aws.NopRetryer{} },
			})
			out, err := client.AssumeRoleWithWebIdentity(t.Context(), &sts.AssumeRoleWithWebIdentityInput{
				RoleArn: &c.role, RoleSessionName: aws.String("pod"), WebIdentityToken: &c.token,
			})
			if codeOf(err) != c.want {
				t.Fatalf("got %s, want %q", messageOf(err), c.want)
			}
			if err != nil {
				return
			}
			if *out.SubjectFromWebIdentityToken != subject || *out.AssumedRoleUser.Arn != "arn:aws:sts::111122223333:assumed-role/pod/pod" {
				t.Errorf("got %+v", out)
			}
			if _, err := e.as(temporary(out.Credentials)).ec2().DescribeVpcs(t.Context(), &ec2.DescribeVpcsInput{}); err != nil {
				t.Errorf("the session may not what its role may: %v", err)
			}
		})
	}
	t.Run("the issuer cannot be reached", func(t *testing.T) {
		blind := newEstate(t)
		if _, err := blind.as(admin).iam().CreateOpenIDConnectProvider(t.Context(), &iam.CreateOpenIDConnectProviderInput{
			Url: &known.URL, ClientIDList: []string{audience},
		}); err != nil {
			t.Fatal(err)
		}
		_, err := blind.as(admin).sts().AssumeRoleWithWebIdentity(t.Context(), &sts.AssumeRoleWithWebIdentityInput{
			RoleArn: &role, RoleSessionName: aws.String("pod"), WebIdentityToken: aws.String(known.token(t, known.key, subject, audience, later)),
		})
		if codeOf(err) != "IDPCommunicationError" {
			t.Errorf("got %v", err)
		}
	})
}

func TestCallerIdentityInJSON(t *testing.T) {
	e := newEstate(t)
	signed := e.presign(t, admin, "one")
	request, err := http.NewRequestWithContext(t.Context(), signed.Method, signed.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("x-k8s-aws-id", "one")
	request.Header.Set("Accept", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK || response.Header.Get("Content-Type") != "application/json" {
		t.Fatalf("got %s %s, %v: %s", response.Status, response.Header, err, body)
	}
	var got struct {
		GetCallerIdentityResponse struct{ GetCallerIdentityResult map[string]string }
	}
	if err := json.Unmarshal(body, &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"Account": account, "Arn": admin.ARN, "UserId": admin.UserID}
	if diff := cmp.Diff(want, got.GetCallerIdentityResponse.GetCallerIdentityResult); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
