package stssim

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/krops-go/krops/internal/rehearsal/awssim/policy"
	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// signatures are the algorithms that IAM's OIDC providers may use (IAM User
// Guide, "Create an OpenID Connect identity provider in IAM").
var signatures = []jose.SignatureAlgorithm{jose.RS256, jose.RS384, jose.RS512, jose.ES256, jose.ES384, jose.ES512}

func badToken(format string, args ...any) error {
	return service.Refuse("InvalidIdentityToken", format, args...)
}

// assumeRoleWithWebIdentity lets the bearer of a token of an OpenID Connect
// provider of the account assume a role that trusts the provider.
func (s *Service) assumeRoleWithWebIdentity(c *service.Call, in *sts.AssumeRoleWithWebIdentityInput) (*sts.AssumeRoleWithWebIdentityOutput, error) {
	name, err := checkSessionName(in.RoleSessionName)
	if err != nil {
		return nil, err
	}
	token, err := jwt.ParseSigned(aws.ToString(in.WebIdentityToken), signatures)
	if err != nil {
		return nil, badToken("The ID Token provided is not a valid JWT. (You may see this error if you sent an Access Token)")
	}
	var claims jwt.Claims
	if err := token.UnsafeClaimsWithoutVerification(&claims); err != nil || claims.Issuer == "" {
		return nil, badToken("The ID Token provided is not a valid JWT. (You may see this error if you sent an Access Token)")
	}
	issuer := strings.TrimSuffix(strings.TrimPrefix(claims.Issuer, "https://"), "/")
	provider := "arn:aws:iam::" + c.Account + ":oidc-provider/" + issuer
	clients, ok := s.provider(provider)
	if !ok {
		return nil, badToken("No OpenIDConnect provider found in your account for %s", claims.Issuer)
	}
	if err := s.verify(c, token, claims.Issuer); err != nil {
		return nil, err
	}
	if claims.Expiry == nil || claims.Validate(jwt.Expected{Time: c.World.Now()}) != nil {
		return nil, service.Refuse("ExpiredTokenException", "Token expired: it is not valid at %s", c.World.Now().UTC().Format(time.RFC3339))
	}
	if !slices.ContainsFunc(claims.Audience, func(a string) bool { return slices.Contains(clients, a) }) {
		return nil, badToken("Incorrect token audience")
	}

	role, ok := s.role(aws.ToString(in.RoleArn))
	if !ok || !trustsToken(role, provider, issuer, name, claims) {
		return nil, service.RefuseStatus(http.StatusForbidden, "AccessDenied", "Not authorized to perform sts:AssumeRoleWithWebIdentity")
	}
	life, err := duration(in.DurationSeconds, time.Hour, role.MaxSession)
	if err != nil {
		return nil, err
	}
	one := roleSession(c.Account, role, name)
	if one.Policies, one.Limited, err = s.sessionPolicies(in.Policy, in.PolicyArns); err != nil {
		return nil, err
	}
	return &sts.AssumeRoleWithWebIdentityOutput{
		Credentials: s.open(c.World, life, one), AssumedRoleUser: one.user(), PackedPolicySize: packedSize(one),
		Provider: aws.String(provider), Audience: aws.String(claims.Audience[0]), SubjectFromWebIdentityToken: aws.String(claims.Subject),
	}, nil
}

func (s *Service) provider(arn string) (clients []string, ok bool) {
	if s.directory == nil {
		return nil, false
	}
	_, clients, ok = s.directory.LookupOIDCProvider(arn)
	return clients, ok
}

// trustsToken decides by the role's trust policy, which sees the token's claims.
func trustsToken(role service.Identity, provider, issuer, name string, claims jwt.Claims) bool {
	trust, err := policy.Parse(role.Trust, policy.Trust)
	if err != nil {
		return false
	}
	keys := map[string][]string{
		strings.ToLower(issuer) + ":aud": claims.Audience,
		strings.ToLower(issuer) + ":sub": {claims.Subject},
		"sts:rolesessionname":            {name},
		"aws:federatedprovider":          {provider},
	}
	return trust.Grants(policy.Who{Federated: provider}, policy.Request{
		Action: "sts:AssumeRoleWithWebIdentity", Resource: role.ARN,
		Keys: func(name string) []string { return keys[name] },
	}).Effect == policy.Allow
}
