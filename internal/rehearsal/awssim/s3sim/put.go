package s3sim

import (
	"bytes"
	"crypto/md5"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

func (s *Service) objectOperations() []service.Operation {
	return []service.Operation{
		write(s, "PutObject", s.putObject, slices.Concat(attributeFields, checksumInputs,
			[]string{"Key", "Body", "ContentLength", "IfMatch", "IfNoneMatch"})...),
		write(s, "CopyObject", s.copyObject, slices.Concat(attributeFields,
			[]string{"Key", "CopySource", "MetadataDirective", "TaggingDirective", "CopySourceIfMatch", "CopySourceIfNoneMatch",
				"ExpectedSourceBucketOwner", "IfMatch", "IfNoneMatch"})...),
		read(s, "GetObject", s.getObject, slices.Concat(readFields, responseFields)...),
		read(s, "HeadObject", s.headObject, readFields...),
		read(s, "GetObjectAttributes", s.getObjectAttributes, "Key", "VersionId", "ObjectAttributes"),
	}
}

const mostKeyBytes = 1024

func checkKey(key *string) (string, error) {
	switch {
	case aws.ToString(key) == "":
		return "", malformedXML()
	case len(*key) > mostKeyBytes:
		return "", service.Refuse("KeyTooLongError", "Your key is too long")
	}
	return *key, nil
}

func base64Of(data []byte) string { return base64.StdEncoding.EncodeToString(data) }

func etagOf(data []byte) string {
	sum := md5.Sum(data)
	return hex.EncodeToString(sum[:])
}

func quoted(etag string) *string { return aws.String(`"` + etag + `"`) }

func unquoted(etag string) string { return strings.Trim(etag, `"`) }

func bodyOf(body io.Reader) ([]byte, error) {
	if body == nil {
		return nil, nil
	}
	var data bytes.Buffer
	if _, err := data.ReadFrom(body); err != nil {
		return nil, fmt.Errorf("read the body: %w", err)
	}
	return data.Bytes(), nil
}

// mayWrite checks the conditions under which a write was asked for.
func (b *bucket) mayWrite(key string, ifMatch, ifNoneMatch *string) error {
	now := b.current(key)
	exists := now != nil && !now.Marker
	switch {
	case ifNoneMatch != nil && *ifNoneMatch != "*":
		return service.RefuseStatus(http.StatusNotImplemented, "NotImplemented", "A header you provided implies functionality that is not implemented")
	case ifNoneMatch != nil && exists:
		return preconditionFailed("If-None-Match")
	case ifMatch != nil && !exists:
		return noSuchKey(key)
	case ifMatch != nil && unquoted(*ifMatch) != now.ETag:
		return preconditionFailed("If-Match")
	}
	return nil
}

func (s *Service) putObject(c *service.Call, b *bucket, in *s3.PutObjectInput) (*s3.PutObjectOutput, error) {
	key, err := checkKey(in.Key)
	if err != nil {
		return nil, err
	}
	if err := b.mayWrite(key, in.IfMatch, in.IfNoneMatch); err != nil {
		return nil, err
	}
	a, err := b.attributesOf(in)
	if err != nil {
		return nil, err
	}
	data, err := bodyOf(in.Body)
	if err != nil {
		return nil, err
	}
	v, err := s.newVersion(data, a, checksumsOf(in), string(in.ChecksumAlgorithm))
	if err != nil {
		return nil, err
	}
	s.add(c, b, key, v)
	out := &s3.PutObjectOutput{
		ETag: quoted(v.ETag), VersionId: b.shownID(v), Size: nil,
		ServerSideEncryption: v.Encryption, SSEKMSKeyId: v.KMSKey, BucketKeyEnabled: v.BucketKey,
	}
	setChecksums(out, v.Checksums, false)
	return out, nil
}

// newVersion keeps the content of a version. Without a checksum from the
// client, S3 computes one of its own choice.
func (s *Service) newVersion(data []byte, a attributes, checksums map[string]string, algorithm string) (*version, error) {
	if len(checksums) == 0 {
		if algorithm == "" {
			algorithm = "CRC64NVME"
		}
		sum, err := checksum(algorithm, data)
		if err != nil {
			return nil, err
		}
		checksums[algorithm] = sum
	}
	digest, err := s.content.put(data)
	if err != nil {
		return nil, err
	}
	return &version{
		Size: int64(len(data)), ETag: etagOf(data), Content: []string{digest}, Checksums: checksums, attributes: a,
	}, nil
}

// shownID is the version's id as answers carry it: not at all before the
// bucket ever had versioning.
func (b *bucket) shownID(v *version) *string {
	if b.Versioning == "" {
		return nil
	}
	return aws.String(v.ID)
}

// source finds what a copy is made of.
func (s *Service) source(c *service.Call, from, owner *string) (b *bucket, v *version, err error) {
	path, query, _ := strings.Cut(aws.ToString(from), "?versionId=")
	path, err = url.PathUnescape(strings.TrimPrefix(path, "/"))
	name, key, ok := strings.Cut(path, "/")
	if err != nil || !ok || key == "" {
		return nil, nil, invalidArgument("Copy Source must mention the source bucket and key: sourcebucket/sourcekey")
	}
	asked := *c
	if b := s.state.Buckets[name]; b != nil {
		asked.Region = b.Region // copies reach into other regions
	}
	if b, err = s.bucket(&asked, name, owner); err != nil {
		return nil, nil, err
	}
	var id *string
	if query != "" {
		id = aws.String(query)
	}
	if v, err = b.find(key, id); err != nil {
		return nil, nil, err
	}
	if v.Marker {
		return nil, nil, invalidRequest("The source of a copy request may not specifically refer to a delete marker by version id.")
	}
	return b, v, nil
}

func (s *Service) copyObject(c *service.Call, b *bucket, in *s3.CopyObjectInput) (*s3.CopyObjectOutput, error) {
	key, err := checkKey(in.Key)
	if err != nil {
		return nil, err
	}
	sourceBucket, from, err := s.source(c, in.CopySource, in.ExpectedSourceBucketOwner)
	if err != nil {
		return nil, err
	}
	switch {
	case in.CopySourceIfMatch != nil && unquoted(*in.CopySourceIfMatch) != from.ETag:
		return nil, preconditionFailed("x-amz-copy-source-If-Match")
	case in.CopySourceIfNoneMatch != nil && unquoted(*in.CopySourceIfNoneMatch) == from.ETag:
		return nil, preconditionFailed("x-amz-copy-source-If-None-Match")
	}
	if err := b.mayWrite(key, in.IfMatch, in.IfNoneMatch); err != nil {
		return nil, err
	}
	a, err := b.attributesOf(in)
	if err != nil {
		return nil, err
	}
	replace := in.MetadataDirective == types.MetadataDirectiveReplace
	if sourceBucket == b && b.current(key) == from && !replace && in.StorageClass == "" && in.ServerSideEncryption == "" {
		return nil, invalidRequest("This copy request is illegal because it is trying to copy an object to itself without changing " +
			"the object's metadata, storage class, website redirect location or encryption attributes.")
	}
	if !replace {
		a.CacheControl, a.ContentDisposition, a.ContentEncoding = from.CacheControl, from.ContentDisposition, from.ContentEncoding
		a.ContentLanguage, a.ContentType, a.Expires = from.ContentLanguage, from.ContentType, from.Expires
		a.Metadata = maps.Clone(from.Metadata)
	}
	if in.TaggingDirective != types.TaggingDirectiveReplace {
		a.Tags = maps.Clone(from.Tags)
	}
	data, err := s.bytesOf(from)
	if err != nil {
		return nil, err
	}
	v, err := s.newVersion(data, a, map[string]string{}, string(in.ChecksumAlgorithm))
	if err != nil {
		return nil, err
	}
	s.add(c, b, key, v)
	result := &types.CopyObjectResult{ETag: quoted(v.ETag), LastModified: aws.Time(v.Modified)}
	setChecksums(result, v.Checksums, false)
	return &s3.CopyObjectOutput{
		CopyObjectResult: result, VersionId: b.shownID(v), CopySourceVersionId: sourceBucket.shownID(from),
		ServerSideEncryption: v.Encryption, SSEKMSKeyId: v.KMSKey, BucketKeyEnabled: v.BucketKey,
	}, nil
}

// since reports whether the version was changed after the time, which HTTP
// gives in whole seconds.
func (v *version) since(at *time.Time) bool { return v.Modified.Truncate(time.Second).After(*at) }
