package sigv4

import "sync"

// maxSigningKeys bounds what is remembered: a key for each secret, day, region
// and service.
const maxSigningKeys = 10_000

// signingKeys derives the keys that requests within a scope are signed with,
// and remembers them. The zero value is ready.
type signingKeys struct {
	mu    sync.Mutex
	known map[derivation][]byte
}

type derivation struct{ secret, date, region, service string }

func (k *signingKeys) of(secret string, scope Scope) []byte {
	from := derivation{secret, scope.Date, scope.Region, scope.Service}
	k.mu.Lock()
	defer k.mu.Unlock()
	if key, ok := k.known[from]; ok {
		return key
	}
	key := []byte("AWS4" + secret)
	for _, part := range []string{scope.Date, scope.Region, scope.Service, "aws4_request"} {
		key = mac(key, part)
	}
	if k.known == nil || len(k.known) >= maxSigningKeys {
		k.known = map[derivation][]byte{}
	}
	k.known[from] = key
	return key
}
