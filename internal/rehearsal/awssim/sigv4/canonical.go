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

// canonical is the canonical request. The body's digest is always computed, so
// a digest the client states can only be wrong or redundant.
func canonical(r *http.Request, sig signature, body []byte) string {
	var b strings.Builder
	b.WriteString(r.Method + "\n")
	b.WriteString(canonicalPath(r.URL.EscapedPath()) + "\n")
	b.WriteString(canonicalQuery(r) + "\n")
	for _, name := range sig.headers {
		b.WriteString(name + ":" + headerValue(r, name) + "\n")
	}
	b.WriteString("\n" + strings.Join(sig.headers, ";") + "\n" + digest(body))
	return b.String()
}

// canonicalPath escapes the path once more than it is on the wire, as every
// service but S3 wants it.
func canonicalPath(escaped string) string {
	if escaped == "" {
		return "/"
	}
	var b strings.Builder
	for _, c := range []byte(escaped) {
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
