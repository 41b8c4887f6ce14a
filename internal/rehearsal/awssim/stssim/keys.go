package stssim

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// keySet is the keys of an issuer as they were last fetched.
type keySet = jose.JSONWebKeySet

const (
	fetchWithin = 10 * time.Second
	maxKeys     = 1 << 20 // bytes of a discovery document or key set
)

// verify checks the token's signature by the issuer's keys, which are fetched
// when the one it names is not known yet. The account's lock is let go
// meanwhile.
func (s *Service) verify(c *service.Call, token *jwt.JSONWebToken, issuer string) error {
	id := ""
	if len(token.Headers) > 0 {
		id = token.Headers[0].KeyID
	}
	known := s.keys[issuer]
	if len(known.Key(id)) == 0 {
		fetched, err := s.fetch(c, issuer)
		if err != nil {
			return service.Refuse("IDPCommunicationError", "Couldn't retrieve verification key from your identity provider, please reference AssumeRoleWithWebIdentity documentation for requirements: %v", err)
		}
		s.keys[issuer], known = fetched, fetched
	}
	var claims jwt.Claims
	for _, key := range known.Key(id) {
		if token.Claims(key, &claims) == nil {
			return nil
		}
	}
	return badToken("The token's signature does not match the keys of %s", issuer)
}

func (s *Service) fetch(c *service.Call, issuer string) (keySet, error) {
	var fetched keySet
	var err error
	done := false
	c.World.Async(func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, fetchWithin)
		defer cancel()
		var workErr error
		fetched, workErr = fetchKeys(ctx, s.client, issuer)
		return workErr
	}, func(workErr error) { err, done = workErr, true })
	if !c.World.Await(c.Context, fetchWithin+time.Second, func() bool { return done }) {
		return keySet{}, fmt.Errorf("the keys of %s did not arrive in time", issuer)
	}
	return fetched, err
}

// fetchKeys follows OpenID Connect Discovery 1.0 to the issuer's keys.
func fetchKeys(ctx context.Context, client *http.Client, issuer string) (keySet, error) {
	var found struct {
		Issuer string `json:"issuer"`
		Keys   string `json:"jwks_uri"`
	}
	if err := get(ctx, client, strings.TrimSuffix(issuer, "/")+"/.well-known/openid-configuration", &found); err != nil {
		return keySet{}, err
	}
	if found.Issuer != issuer {
		return keySet{}, fmt.Errorf("the discovery document of %s is for issuer %q", issuer, found.Issuer)
	}
	var keys keySet
	return keys, get(ctx, client, found.Keys, &keys)
}

func get(ctx context.Context, client *http.Client, url string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answered %s", url, response.Status)
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, maxKeys)).Decode(into); err != nil {
		return fmt.Errorf("%s: %w", url, err)
	}
	return nil
}
