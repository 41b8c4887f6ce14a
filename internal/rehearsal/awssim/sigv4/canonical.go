package sigv4

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// signedWhatItMust refuses a signature that leaves open what it is for: the
// host and every header that AWS gives a meaning must be covered.
func signedWhatItMust(r *http.Request, sig signature) error {
	if !slices.IsSorted(sig.headers) || !slices.Contains(sig.headers, "host") {
		return fmt.Errorf("%w: the signed headers are not sorted or lack host", ErrIncomplete)
	}
	for name := range r.Header {
		name = strings.ToLower(name)
		if strings.HasPrefix(name, "x-amz-") && !slices.Contains(sig.headers, name) {
			return fmt.Errorf("%w: the header %s is not signed", ErrIncomplete, name)
		}
	}
	return nil
}

// canonical is the canonical request, with the digest that it states.
func canonical(r *http.Request, sig signature, stated string) string {
	path := r.URL.EscapedPath()
	if sig.scope.Service == objectStore {
		path = r.URL.Path
	}
	var b strings.Builder
	b.WriteString(r.Method + "\n")
	b.WriteString(canonicalPath(path) + "\n")
	b.WriteString(canonicalQuery(r) + "\n")
	for _, name := range sig.headers {
		b.WriteString(name + ":" + headerValue(r, name) + "\n")
	}
	b.WriteString("\n" + strings.Join(sig.headers, ";") + "\n" + stated)
	return b.String()
}

// canonicalPath escapes a path. Given one as it is on the wire, it escapes once
// more, as every service but S3 wants it.
func canonicalPath(path string) string {
	if path == "" {
		return "/"
	}
	var b strings.Builder
	for _, c := range []byte(path) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("-._~/", c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

func canonicalQuery(r *http.Request) string {
	query := r.URL.Query()
	query.Del("X-Amz-Signature")
	for _, values := range query {
		slices.Sort(values)
	}
	return strings.ReplaceAll(query.Encode(), "+", "%20")
}

func headerValue(r *http.Request, name string) string {
	switch name {
	case "host":
		return r.Host
	case "content-length":
		return strconv.FormatInt(r.ContentLength, 10)
	}
	values := slices.Clone(r.Header.Values(name))
	for i, value := range values {
		values[i] = strings.Join(strings.Fields(value), " ")
	}
	return strings.Join(values, ",")
}
