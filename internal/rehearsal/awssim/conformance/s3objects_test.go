package conformance_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/google/go-cmp/cmp"
)

func TestObjectsAreWhatWasPut(t *testing.T) {
	a := newAccount(t)
	ctx, name := t.Context(), aws.String("acme-x")
	client := a.bucket(*name, home)
	key := aws.String("a folder/é+ %2F?&=.txt")
	content := strings.Repeat("0123456789", 1000)
	put := must[*s3.PutObjectOutput](t)(client.PutObject(ctx, &s3.PutObjectInput{
		Bucket: name, Key: key, Body: strings.NewReader(content), ContentType: aws.String("text/plain"), CacheControl: aws.String("no-cache"),
		ContentEncoding: aws.String("identity"), Metadata: map[string]string{"owner": "krops", "note": "two  words"},
		Tagging: aws.String("run=17&team=a%20b"), ChecksumAlgorithm: types.ChecksumAlgorithmSha256,
	}))
	sum := sha256.Sum256([]byte(content))
	if aws.ToString(put.ChecksumSHA256) != base64.StdEncoding.EncodeToString(sum[:]) {
		t.Errorf("the checksum is %q", aws.ToString(put.ChecksumSHA256))
	}
	a.Restart() // content is kept beside the account
	client = a.s3In(home)
	got := must[*s3.GetObjectOutput](t)(client.GetObject(ctx, &s3.GetObjectInput{Bucket: name, Key: key, ChecksumMode: types.ChecksumModeEnabled}))
	data, err := io.ReadAll(got.Body) // the SDK verifies the checksum
	if err != nil || string(data) != content {
		t.Errorf("read %d bytes, %v", len(data), err)
	}
	if *got.ContentType != "text/plain" || *got.CacheControl != "no-cache" || aws.ToString(got.ContentEncoding) != "identity" || got.Metadata["owner"] != "krops" ||
		*got.TagCount != 2 || *got.ETag != *put.ETag || got.ServerSideEncryption != types.ServerSideEncryptionAes256 {
		t.Errorf("got %+v", got)
	}
	part := must[*s3.GetObjectOutput](t)(client.GetObject(ctx, &s3.GetObjectInput{Bucket: name, Key: key, Range: aws.String("bytes=10-14")}))
	if data, _ := io.ReadAll(part.Body); string(data) != "01234" || *part.ContentRange != "bytes 10-14/10000" {
		t.Errorf("bytes 10-14 are %q, %s", data, *part.ContentRange)
	}
	_, err = client.GetObject(ctx, &s3.GetObjectInput{Bucket: name, Key: key, Range: aws.String("bytes=10000-")})
	refused(t, "InvalidRange", err)
	head := must[*s3.HeadObjectOutput](t)(client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: name, Key: key}))
	if *head.ContentLength != 10000 || *head.ETag != *put.ETag {
		t.Errorf("HeadObject says %d bytes, %s", *head.ContentLength, *head.ETag)
	}
	_, err = client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: name, Key: aws.String("none")})
	refused(t, "NotFound", err)
	_, err = client.GetObject(ctx, &s3.GetObjectInput{Bucket: name, Key: key, IfNoneMatch: put.ETag})
	refused(t, "NotModified", err)
	_, err = client.PutObject(ctx, &s3.PutObjectInput{Bucket: name, Key: key, IfNoneMatch: aws.String("*"), Body: strings.NewReader("x")})
	refused(t, "PreconditionFailed", err)
	_, err = client.PutObject(ctx, &s3.PutObjectInput{Bucket: name, Key: key, Body: strings.NewReader("x"), ContentMD5: aws.String("AAAAAAAAAAAAAAAAAAAAAA==")})
	refused(t, "BadDigest", err)

	copied := must[*s3.CopyObjectOutput](t)(client.CopyObject(ctx, &s3.CopyObjectInput{
		Bucket: name, Key: aws.String("copy"), CopySource: aws.String("acme-x/a%20folder/%C3%A9%2B%20%252F%3F%26%3D.txt"),
	}))
	if *copied.CopyObjectResult.ETag != *put.ETag {
		t.Errorf("the copy has %s", *copied.CopyObjectResult.ETag)
	}
	tags := must[*s3.GetObjectTaggingOutput](t)(client.GetObjectTagging(ctx, &s3.GetObjectTaggingInput{Bucket: name, Key: aws.String("copy")}))
	if len(tags.TagSet) != 2 || *tags.TagSet[1].Value != "a b" {
		t.Errorf("the copy's tags are %+v", tags.TagSet)
	}
}

func TestListingInPagesAndFolders(t *testing.T) {
	a := newAccount(t)
	ctx, name := t.Context(), aws.String("acme-x")
	client := a.bucket(*name, home)
	for _, key := range []string{"a.txt", "b/1", "b/2", "b/c/3", "d.txt", "e/1"} {
		a.put(client, *name, key, "x")
	}
	walk := func(in *s3.ListObjectsV2Input) (pages []string) {
		for p := s3.NewListObjectsV2Paginator(client, in); p.HasMorePages(); {
			out := must[*s3.ListObjectsV2Output](t)(p.NextPage(ctx))
			var found []string
			for _, o := range out.Contents {
				found = append(found, *o.Key)
			}
			for _, p := range out.CommonPrefixes {
				found = append(found, *p.Prefix)
			}
			slices.Sort(found)
			pages = append(pages, strings.Join(found, " "))
		}
		return pages
	}
	for _, test := range []struct {
		in   *s3.ListObjectsV2Input
		want []string
	}{
		{&s3.ListObjectsV2Input{Bucket: name, MaxKeys: aws.Int32(4)}, []string{"a.txt b/1 b/2 b/c/3", "d.txt e/1"}},
		{&s3.ListObjectsV2Input{Bucket: name, Delimiter: aws.String("/"), MaxKeys: aws.Int32(2)}, []string{"a.txt b/", "d.txt e/"}},
		{&s3.ListObjectsV2Input{Bucket: name, Delimiter: aws.String("/"), Prefix: aws.String("b/")}, []string{"b/1 b/2 b/c/"}},
		{&s3.ListObjectsV2Input{Bucket: name, StartAfter: aws.String("b/2")}, []string{"b/c/3 d.txt e/1"}},
		{&s3.ListObjectsV2Input{Bucket: name, Prefix: aws.String("z")}, []string{""}},
	} {
		if diff := cmp.Diff(test.want, walk(test.in)); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", test.in, diff)
		}
	}
	old := must[*s3.ListObjectsOutput](t)(client.ListObjects(ctx, &s3.ListObjectsInput{Bucket: name, Delimiter: aws.String("/"), MaxKeys: aws.Int32(2)}))
	if *old.NextMarker != "b/" {
		t.Errorf("the first generation's marker is %q", *old.NextMarker)
	}
}

func TestUploadInParts(t *testing.T) {
	a := newAccount(t)
	ctx, name, key := t.Context(), aws.String("acme-x"), aws.String("big")
	client := a.bucket(*name, home)
	begin := func() *string {
		return must[*s3.CreateMultipartUploadOutput](t)(client.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{Bucket: name, Key: key})).UploadId
	}
	upload := func(id *string, number int32, data []byte) types.CompletedPart {
		out := must[*s3.UploadPartOutput](t)(client.UploadPart(ctx, &s3.UploadPartInput{
			Bucket: name, Key: key, UploadId: id, PartNumber: &number, Body: bytes.NewReader(data),
		}))
		return types.CompletedPart{PartNumber: &number, ETag: out.ETag, ChecksumCRC32: out.ChecksumCRC32}
	}
	complete := func(id *string, parts ...types.CompletedPart) error {
		_, err := client.CompleteMultipartUpload(ctx, &s3.CompleteMultipartUploadInput{
			Bucket: name, Key: key, UploadId: id, MultipartUpload: &types.CompletedMultipartUpload{Parts: parts},
		})
		return err
	}
	large := bytes.Repeat([]byte{7}, 5<<20)
	id := begin()
	first, second := upload(id, 1, large), upload(id, 2, []byte("the end"))
	refused(t, "InvalidPartOrder", complete(id, second, first))
	refused(t, "InvalidPart", complete(id, first, types.CompletedPart{PartNumber: aws.Int32(3), ETag: first.ETag}))
	small := begin()
	refused(t, "EntityTooSmall", complete(small, upload(small, 1, []byte("a")), upload(small, 2, []byte("b"))))
	if open := must[*s3.ListMultipartUploadsOutput](t)(client.ListMultipartUploads(ctx, &s3.ListMultipartUploadsInput{Bucket: name})); len(open.Uploads) != 2 {
		t.Errorf("open uploads: %+v", open.Uploads)
	}
	must[*s3.AbortMultipartUploadOutput](t)(client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: name, Key: key, UploadId: small}))
	refused(t, "NoSuchUpload", complete(small))
	if parts := must[*s3.ListPartsOutput](t)(client.ListParts(ctx, &s3.ListPartsInput{Bucket: name, Key: key, UploadId: id})).Parts; len(parts) != 2 || *parts[0].Size != 5<<20 {
		t.Errorf("parts: %+v", parts)
	}
	if err := complete(id, first, second); err != nil {
		t.Fatal(err)
	}
	head := must[*s3.HeadObjectOutput](t)(client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: name, Key: key}))
	if *head.ContentLength != 5<<20+7 || !strings.HasSuffix(*head.ETag, `-2"`) {
		t.Errorf("the object has %d bytes and the tag %s", *head.ContentLength, *head.ETag)
	}
	if got := a.content(client, &s3.GetObjectInput{Bucket: name, Key: key, Range: aws.String("bytes=-7")}); got != "the end" {
		t.Errorf("it ends with %q", got)
	}
	must[*s3.DeleteObjectOutput](t)(client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: name, Key: key}))
	must[*s3.DeleteBucketOutput](t)(client.DeleteBucket(ctx, &s3.DeleteBucketInput{Bucket: name}))
	a.NothingLeft()
}

// TestBucketHosts reaches a bucket under every form of host that clients make.
func TestBucketHosts(t *testing.T) {
	a := newAccount(t)
	a.put(a.bucket("acme-x", home), "acme-x", "key", "content")
	address := strings.TrimPrefix(a.URL, "http://")
	_, port, _ := net.SplitHostPort(address)
	dialer := &net.Dialer{}
	transport := &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return dialer.DialContext(ctx, network, address)
	}}
	defer transport.CloseIdleConnections()
	for _, endpoint := range []string{
		"http://localhost:" + port, "http://s3.localhost:" + port, "http://s3." + home + ".amazonaws.com", "http://s3.amazonaws.com", a.URL,
	} {
		for _, pathStyle := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s path style %v", endpoint, pathStyle), func(t *testing.T) {
				config := a.Config()
				config.BaseEndpoint = &endpoint
				config.HTTPClient = &http.Client{Transport: transport}
				client := s3.NewFromConfig(config, func(o *s3.Options) { o.UsePathStyle = pathStyle })
				if got := a.content(client, &s3.GetObjectInput{Bucket: aws.String("acme-x"), Key: aws.String("key")}); got != "content" {
					t.Errorf("read %q", got)
				}
				if listed := must[*s3.ListBucketsOutput](t)(client.ListBuckets(t.Context(), &s3.ListBucketsInput{})); len(listed.Buckets) != 1 {
					t.Errorf("listed %+v", listed.Buckets)
				}
			})
		}
	}
}

func TestPresignedURLs(t *testing.T) {
	a := newAccount(t)
	client := a.bucket("acme-x", home)
	presign := s3.NewPresignClient(client, s3.WithPresignExpires(time.Hour))
	put, err := presign.PresignPutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String("acme-x"), Key: aws.String("key")})
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), put.Method, put.URL, strings.NewReader("presigned"))
	if err != nil {
		t.Fatal(err)
	}
	send := func(request *http.Request) (int, string) {
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, string(body)
	}
	if status, body := send(request); status != http.StatusOK {
		t.Fatalf("put: %d %s", status, body)
	}
	get, err := presign.PresignGetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String("acme-x"), Key: aws.String("key")})
	if err != nil {
		t.Fatal(err)
	}
	for url, want := range map[string]int{get.URL: http.StatusOK, strings.Replace(get.URL, "/key?", "/other?", 1): http.StatusForbidden} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		if status, body := send(request); status != want {
			t.Errorf("got %d %s, want %d", status, body, want)
		}
	}
}

// TestBucketPolicyDecides denies something even to who may do everything.
func TestBucketPolicyDecides(t *testing.T) {
	a := newAccount(t)
	ctx, name := t.Context(), aws.String("acme-x")
	client := a.bucket(*name, home)
	a.put(client, *name, "key", "content")
	must[*s3.PutBucketPolicyOutput](t)(client.PutBucketPolicy(ctx, &s3.PutBucketPolicyInput{Bucket: name, Policy: aws.String(
		`{"Version":"2012-10-17","Statement":[{"Effect":"Deny","Principal":"*","Action":"s3:GetObject","Resource":"arn:aws:s3:::acme-x/*"}]}`)}))
	read := &s3.GetObjectInput{Bucket: name, Key: aws.String("key")}
	_, err := client.GetObject(ctx, read)
	refused(t, "AccessDenied", err)
	must[*s3.DeleteBucketPolicyOutput](t)(client.DeleteBucketPolicy(ctx, &s3.DeleteBucketPolicyInput{Bucket: name}))
	if got := a.content(client, read); got != "content" {
		t.Errorf("read %q", got)
	}
}
