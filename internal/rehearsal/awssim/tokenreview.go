package awssim

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// PrincipalMapper is a service that knows which AWS principals are which users
// of a cluster. The account's lock is held.
type PrincipalMapper interface {
	MapPrincipal(region, cluster string, p service.Principal) (username string, groups []string, ok bool)
}

const (
	tokenPrefix   = "k8s-aws-v1."
	clusterHeader = "X-K8s-Aws-Id"
	maxReview     = 64 << 10
)

// TokenReviewHandler answers the TokenReviews of a cluster's API server the
// way EKS does: a token is a presigned GetCallerIdentity call of this account,
// made for the cluster, and the caller is whom a PrincipalMapper among the
// services says.
func (s *Server) TokenReviewHandler(region, cluster string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxReview))
		var review authenticationv1.TokenReview
		if err == nil {
			err = json.Unmarshal(body, &review)
		}
		if err != nil || r.Method != http.MethodPost || review.Kind != "TokenReview" {
			http.Error(w, "a TokenReview is wanted", http.StatusBadRequest)
			return
		}
		user, err := s.reviewToken(region, cluster, review.Spec.Token)
		review.Spec = authenticationv1.TokenReviewSpec{} // do not send the token back
		if err != nil {
			s.log.Info("token refused", "region", region, "cluster", cluster, "reason", err)
			review.Status = authenticationv1.TokenReviewStatus{Error: err.Error()}
		} else {
			review.Status = authenticationv1.TokenReviewStatus{Authenticated: true, User: user}
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(review) // the API server asks again when it did not get it
	})
}

// reviewToken verifies the token. Its errors hold nothing that signs.
func (s *Server) reviewToken(region, cluster, token string) (authenticationv1.UserInfo, error) {
	var nobody authenticationv1.UserInfo
	r, err := s.identityRequest(cluster, token)
	if err != nil {
		return nobody, err
	}
	scope, err := s.verifier.Verify(r, nil)
	if err != nil {
		return nobody, fmt.Errorf("the token's signature for cluster %s: %w", cluster, err)
	}
	if scope.Service != "sts" {
		return nobody, fmt.Errorf("the token is signed for service %q, not sts", scope.Service)
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nobody, errClosed
	}
	credential, ok := s.credentialLocked(scope.AccessKeyID)
	if !ok || expired(credential, s.clock.Now()) {
		return nobody, fmt.Errorf("the credentials %s that signed the token have ended", scope.AccessKeyID)
	}
	principal := credential.Principal
	for _, svc := range s.services {
		mapper, ok := svc.(PrincipalMapper)
		if !ok {
			continue
		}
		if username, groups, ok := mapper.MapPrincipal(region, cluster, principal); ok {
			return authenticationv1.UserInfo{
				Username: username,
				Groups:   groups,
				UID:      "aws-iam-authenticator:" + s.account + ":" + principal.UserID,
				Extra: map[string]authenticationv1.ExtraValue{
					"accessKeyId": {principal.AccessKeyID},
					"arn":         {principal.ARN},
				},
			}, nil
		}
	}
	return nobody, fmt.Errorf("%s has no access to cluster %s in %s", principal.ARN, cluster, region)
}

// identityRequest turns the token back into the request it presigns, with the
// header that ties it to the cluster.
func (s *Server) identityRequest(cluster, token string) (*http.Request, error) {
	if s.endpoint == nil {
		return nil, errors.New("the simulated AWS was not told its endpoint, so no token can be for it")
	}
	encoded, ok := strings.CutPrefix(token, tokenPrefix)
	if !ok {
		return nil, fmt.Errorf("the token does not begin with %s", tokenPrefix)
	}
	text, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil {
		return nil, errors.New("the token is not base64url without padding")
	}
	u, err := url.Parse(string(text))
	if err != nil {
		return nil, errors.New("the token holds no URL")
	}
	if u.Scheme != s.endpoint.Scheme || u.Host != s.endpoint.Host || u.User != nil || u.Fragment != "" || (u.Path != "" && u.Path != "/") {
		return nil, fmt.Errorf("the token's URL is not at %s", s.endpoint.Redacted())
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, errors.New("the query of the token's URL is malformed")
	}
	for name, values := range query {
		if len(values) != 1 || !inToken(name) {
			return nil, fmt.Errorf("the parameter %q of the token's URL is given twice or has no place there", name)
		}
	}
	if query.Get("Action") != "GetCallerIdentity" || query.Get("Version") != "2011-06-15" {
		return nil, errors.New("the token's URL does not ask for GetCallerIdentity")
	}
	if !slices.Contains(strings.Split(query.Get("X-Amz-SignedHeaders"), ";"), strings.ToLower(clusterHeader)) {
		return nil, fmt.Errorf("the token does not sign %s, so it is for no cluster", strings.ToLower(clusterHeader))
	}
	return &http.Request{
		Method: http.MethodGet, URL: u, Host: u.Host,
		Header: http.Header{clusterHeader: {cluster}},
	}, nil
}

// inToken reports whether the token's URL may have the parameter.
func inToken(parameter string) bool {
	switch parameter {
	case "Action", "Version",
		"X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Date", "X-Amz-Expires", "X-Amz-Security-Token",
		"X-Amz-SignedHeaders", "X-Amz-Signature":
		return true
	}
	return false
}
