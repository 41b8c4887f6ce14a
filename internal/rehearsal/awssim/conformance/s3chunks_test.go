package conformance_test

import (
	"io"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// TestTrailingChecksum uploads over TLS, where the SDK sends the body in
// chunks without signatures and its checksum behind it.
func TestTrailingChecksum(t *testing.T) {
	a := newAccount(t)
	a.bucket("acme-x", home)
	tls := httptest.NewTLSServer(a.Server)
	defer tls.Close()
	config := a.Config()
	config.BaseEndpoint, config.HTTPClient = aws.String(tls.URL), tls.Client()
	config.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenSupported // as the default configuration has it
	client := s3.NewFromConfig(config)
	unseekable := io.MultiReader(strings.NewReader("in "), strings.NewReader("chunks"))
	out := must[*s3.PutObjectOutput](t)(client.PutObject(t.Context(), &s3.PutObjectInput{
		Bucket: aws.String("acme-x"), Key: aws.String("key"), Body: unseekable, ContentLength: aws.Int64(9),
	}))
	if aws.ToString(out.ChecksumCRC32) == "" {
		t.Error("the checksum of the SDK's choice was not kept")
	}
	if got := a.content(client, &s3.GetObjectInput{Bucket: aws.String("acme-x"), Key: aws.String("key")}); got != "in chunks" {
		t.Errorf("read %q", got)
	}
	head := must[*s3.HeadObjectOutput](t)(client.HeadObject(t.Context(), &s3.HeadObjectInput{Bucket: aws.String("acme-x"), Key: aws.String("key")}))
	if head.ContentEncoding != nil {
		t.Errorf("the encoding of the transfer was kept: %q", *head.ContentEncoding)
	}
}
