package sigv4

import (
	"bytes"
	"crypto/hmac"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// The digests that S3's clients state for a body that was not digested whole
// ("Signature Calculations for the Authorization Header", S3 API reference).
const (
	digestHeader   = "X-Amz-Content-Sha256"
	unsigned       = "UNSIGNED-PAYLOAD"
	streaming      = "STREAMING-"
	signedChunks   = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"
	signedTrailer  = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER"
	unsignedChunks = "STREAMING-UNSIGNED-PAYLOAD-TRAILER"
)

// Payload returns what a request carries: its body, or what is in the chunks
// of a body in the encoding aws-chunked, with the headers that trail them.
func Payload(r *http.Request, body []byte) ([]byte, http.Header, error) {
	if !strings.HasPrefix(r.Header.Get(digestHeader), streaming) {
		return body, nil, nil
	}
	parts, trailers, err := chunks(body)
	if err != nil {
		return nil, nil, err
	}
	var payload []byte
	for _, c := range parts {
		payload = append(payload, c.data...)
	}
	if stated := r.Header.Get("X-Amz-Decoded-Content-Length"); stated != strconv.Itoa(len(payload)) {
		return nil, nil, fmt.Errorf("the chunks hold %d bytes and X-Amz-Decoded-Content-Length says %q", len(payload), stated)
	}
	header := http.Header{}
	for _, t := range trailers {
		header.Add(t.name, t.value)
	}
	return payload, header, nil
}

type chunk struct {
	data      []byte
	signature string
}

type trailer struct{ name, value string }

var errChunks = errors.New("the body is not in the encoding aws-chunked")

// chunks takes a body in the encoding aws-chunked apart. The last chunk is
// empty.
func chunks(body []byte) (parts []chunk, trailers []trailer, err error) {
	for {
		line, rest, ok := bytes.Cut(body, []byte("\r\n"))
		if !ok {
			return nil, nil, errChunks
		}
		digits, extension, _ := strings.Cut(string(line), ";")
		size, err := strconv.ParseUint(digits, 16, 32)
		if err != nil || uint64(len(rest)) < size {
			return nil, nil, errChunks
		}
		signature, _ := strings.CutPrefix(extension, "chunk-signature=")
		parts = append(parts, chunk{data: rest[:size], signature: signature})
		body = rest[size:]
		if size == 0 {
			break
		}
		if body, ok = bytes.CutPrefix(body, []byte("\r\n")); !ok {
			return nil, nil, errChunks
		}
	}
	for line := range strings.SplitSeq(string(body), "\n") {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return nil, nil, errChunks
		}
		trailers = append(trailers, trailer{strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(value)})
	}
	return parts, trailers, nil
}

// statedDigest is the digest that goes into the canonical request.
func statedDigest(r *http.Request, sig signature, body []byte) (string, error) {
	stated := r.Header.Get(digestHeader)
	switch {
	case sig.scope.Service != objectStore:
		return digest(body), nil
	case sig.presigned && stated == "", stated == unsigned:
		return unsigned, nil
	case stated == signedChunks, stated == signedTrailer, stated == unsignedChunks:
		return stated, nil
	case stated != digest(body):
		return "", fmt.Errorf("%w: %s is not the body's digest", ErrMismatch, digestHeader)
	}
	return stated, nil
}

// checkChunks verifies the signature of each chunk, which covers the one
// before it.
func checkChunks(r *http.Request, key []byte, sig signature, body []byte) error {
	stated := r.Header.Get(digestHeader)
	if sig.scope.Service != objectStore || stated != signedChunks && stated != signedTrailer {
		return nil
	}
	parts, trailers, err := chunks(body)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrIncomplete, err)
	}
	previous := sig.value
	check := func(algorithm, signature string, last ...string) error {
		toSign := strings.Join(append([]string{algorithm, sig.date, sig.scope.credential(), previous}, last...), "\n")
		want := hexMAC(key, toSign)
		if !hmac.Equal([]byte(want), []byte(signature)) {
			return fmt.Errorf("%w: that of a chunk", ErrMismatch)
		}
		previous = want
		return nil
	}
	for _, c := range parts {
		if err := check(algorithm+"-PAYLOAD", c.signature, digest(nil), digest(c.data)); err != nil {
			return err
		}
	}
	if stated != signedTrailer {
		return nil
	}
	var covered strings.Builder
	var signature string
	for _, t := range trailers {
		if t.name == "x-amz-trailer-signature" {
			signature = t.value
			continue
		}
		covered.WriteString(t.name + ":" + t.value + "\n")
	}
	return check(algorithm+"-TRAILER", signature, digest([]byte(covered.String())))
}
