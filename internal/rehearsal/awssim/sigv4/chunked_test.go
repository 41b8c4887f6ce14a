package sigv4_test

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/krops-go/krops/internal/rehearsal/awssim/sigv4"
)

// chunkedUpload is the example of "Signature Calculations for the
// Authorization Header: Transferring Payload in Multiple Chunks" in the Amazon
// S3 API reference, with the signatures that are published there.
func chunkedUpload() (*http.Request, []byte) {
	var body bytes.Buffer
	chunk := func(size int, hex, signature string) {
		body.WriteString(hex + ";chunk-signature=" + signature + "\r\n" + strings.Repeat("a", size) + "\r\n")
	}
	chunk(65536, "10000", "ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648")
	chunk(1024, "400", "0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497")
	chunk(0, "0", "b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9")
	r := httptest.NewRequest(http.MethodPut, "/examplebucket/chunkObject.txt", bytes.NewReader(body.Bytes()))
	r.Host = "s3.amazonaws.com"
	for name, value := range map[string]string{
		"X-Amz-Date": "20130524T000000Z", "X-Amz-Storage-Class": "REDUCED_REDUNDANCY", "Content-Encoding": "aws-chunked",
		"X-Amz-Content-Sha256": "STREAMING-AWS4-HMAC-SHA256-PAYLOAD", "X-Amz-Decoded-Content-Length": "66560",
		"Authorization": "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request," +
			"SignedHeaders=content-encoding;content-length;host;x-amz-content-sha256;x-amz-date;x-amz-decoded-content-length;x-amz-storage-class," +
			"Signature=4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9",
	} {
		r.Header.Set(name, value)
	}
	return r, body.Bytes()
}

func exampleVerifier() *sigv4.Verifier {
	return &sigv4.Verifier{
		Now: func() time.Time { return time.Date(2013, 5, 24, 0, 0, 0, 0, time.UTC) },
		Lookup: func(string) (sigv4.Secret, bool) {
			return sigv4.Secret{Key: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"}, true
		},
	}
}

func TestSignedChunks(t *testing.T) {
	r, body := chunkedUpload()
	if _, err := exampleVerifier().Verify(r, body); err != nil {
		t.Fatal(err)
	}
	payload, _, err := sigv4.Payload(r, body)
	if err != nil || string(payload) != strings.Repeat("a", 66560) {
		t.Errorf("the payload has %d bytes, %v", len(payload), err)
	}
	changed := bytes.Replace(body, []byte("aaaa\r\n400;"), []byte("aaab\r\n400;"), 1)
	if _, err := exampleVerifier().Verify(r, changed); !errors.Is(err, sigv4.ErrMismatch) {
		t.Errorf("with a changed chunk: %v", err)
	}
	if _, err := exampleVerifier().Verify(r, body[:len(body)-20]); err == nil {
		t.Error("a body that ends early is accepted")
	}
}

func TestPayloadRefuses(t *testing.T) {
	for name, body := range map[string]string{
		"no chunk":       "plain text",
		"a short chunk":  "10\r\nabc",
		"no last chunk":  "3\r\nabc\r\n",
		"another length": "2\r\nab\r\n0\r\n\r\n",
		"a bad trailer":  "3\r\nabc\r\n0\r\nnonsense\r\n\r\n",
	} {
		r := httptest.NewRequest(http.MethodPut, "/", nil)
		r.Header.Set("X-Amz-Content-Sha256", "STREAMING-UNSIGNED-PAYLOAD-TRAILER")
		r.Header.Set("X-Amz-Decoded-Content-Length", "3")
		if payload, _, err := sigv4.Payload(r, []byte(body)); err == nil {
			t.Errorf("%s: got %q", name, payload)
		}
	}
}
