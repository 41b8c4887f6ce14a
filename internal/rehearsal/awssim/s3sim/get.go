package s3sim

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// readFields are what GetObject and HeadObject have in common.
var readFields = []string{
	"Key", "VersionId", "Range", "ChecksumMode", "IfMatch", "IfNoneMatch", "IfModifiedSince", "IfUnmodifiedSince", "PartNumber",
}

var responseFields = []string{
	"ResponseCacheControl", "ResponseContentDisposition", "ResponseContentEncoding", "ResponseContentLanguage", "ResponseContentType", "ResponseExpires",
}

func (s *Service) getObject(_ *service.Call, b *bucket, in *s3.GetObjectInput) (*s3.GetObjectOutput, error) {
	v, err := b.readable(in)
	if err != nil {
		return nil, err
	}
	out, window, err := b.show(v, in)
	if err != nil {
		return nil, err
	}
	data, err := s.bytesOf(v)
	if err != nil {
		return nil, err
	}
	out.Body = io.NopCloser(bytes.NewReader(data[window.from:window.to]))
	for _, override := range []struct{ field, with **string }{
		{&out.CacheControl, &in.ResponseCacheControl}, {&out.ContentDisposition, &in.ResponseContentDisposition},
		{&out.ContentEncoding, &in.ResponseContentEncoding}, {&out.ContentLanguage, &in.ResponseContentLanguage},
		{&out.ContentType, &in.ResponseContentType},
	} {
		if *override.with != nil {
			*override.field = *override.with
		}
	}
	if in.ResponseExpires != nil {
		out.ExpiresString = aws.String(in.ResponseExpires.UTC().Format(http.TimeFormat))
	}
	return out, nil
}

func (s *Service) headObject(_ *service.Call, b *bucket, in *s3.HeadObjectInput) (*s3.HeadObjectOutput, error) {
	v, err := b.readable(in)
	if err != nil {
		return nil, err
	}
	shown, _, err := b.show(v, in)
	if err != nil {
		return nil, err
	}
	out := &s3.HeadObjectOutput{}
	from, to := reflect.ValueOf(shown).Elem(), reflect.ValueOf(out).Elem()
	for i := range to.NumField() {
		name := to.Type().Field(i).Name
		if field := from.FieldByName(name); field.IsValid() && name != "ResultMetadata" && to.Field(i).CanSet() {
			to.Field(i).Set(field)
		}
	}
	return out, nil
}

// readable finds the version and checks the conditions of a read.
func (b *bucket) readable(in any) (*version, error) {
	key, id := aws.ToString(get[*string](in, "Key")), get[*string](in, "VersionId")
	v, err := b.find(key, id)
	if v != nil && v.Marker {
		header := http.Header{"X-Amz-Delete-Marker": {"true"}, "X-Amz-Version-Id": {v.ID}}
		refusal := &service.Error{Status: http.StatusNotFound, Code: "NoSuchKey", Message: "The specified key does not exist.", Header: header}
		if id != nil {
			refusal.Status, refusal.Code = http.StatusMethodNotAllowed, "MethodNotAllowed"
			refusal.Message = "The specified method is not allowed against this resource."
			header.Set("Last-Modified", v.Modified.Format(http.TimeFormat))
		}
		return nil, refusal
	}
	if err != nil {
		return nil, err
	}
	ifMatch, ifNoneMatch := get[*string](in, "IfMatch"), get[*string](in, "IfNoneMatch")
	modified, unmodified := get[*time.Time](in, "IfModifiedSince"), get[*time.Time](in, "IfUnmodifiedSince")
	notModified := service.RefuseStatus(http.StatusNotModified, "NotModified", "Not Modified")
	switch {
	case ifMatch != nil && unquoted(*ifMatch) != v.ETag:
		return nil, preconditionFailed("If-Match")
	case ifMatch == nil && unmodified != nil && v.since(unmodified):
		return nil, preconditionFailed("If-Unmodified-Since")
	case ifNoneMatch != nil && slices.Contains([]string{v.ETag, "*"}, unquoted(*ifNoneMatch)):
		return nil, notModified
	case ifNoneMatch == nil && modified != nil && !v.since(modified):
		return nil, notModified
	}
	return v, nil
}

// window is what of an object is asked for: the bytes before to, starting with from.
type window struct{ from, to int64 }

// show is the version as reads answer it, without the content.
func (b *bucket) show(v *version, in any) (*s3.GetObjectOutput, window, error) {
	out := &s3.GetObjectOutput{
		AcceptRanges: aws.String("bytes"), CacheControl: v.CacheControl, ContentDisposition: v.ContentDisposition,
		ContentEncoding: v.ContentEncoding, ContentLanguage: v.ContentLanguage, ContentType: v.ContentType,
		ETag: quoted(v.ETag), LastModified: aws.Time(v.Modified), Metadata: v.Metadata, VersionId: b.shownID(v),
		ServerSideEncryption: v.Encryption, SSEKMSKeyId: v.KMSKey, BucketKeyEnabled: v.BucketKey,
		ObjectLockLegalHoldStatus: v.LegalHold, ObjectLockMode: v.LockMode, ObjectLockRetainUntilDate: v.RetainUntil,
	}
	if v.ContentType == nil {
		out.ContentType = aws.String("binary/octet-stream")
	}
	if v.Expires != nil {
		out.ExpiresString = aws.String(v.Expires.UTC().Format(http.TimeFormat))
	}
	if v.StorageClass != types.StorageClassStandard {
		out.StorageClass = v.StorageClass
	}
	if len(v.Tags) > 0 {
		out.TagCount = aws.Int32(int32(len(v.Tags)))
	}
	w, ranged, err := v.window(get[*string](in, "Range"), get[*int32](in, "PartNumber"))
	if err != nil {
		return nil, w, err
	}
	out.ContentLength = aws.Int64(w.to - w.from)
	if ranged {
		out.ContentRange = aws.String(fmt.Sprintf("bytes %d-%d/%d", w.from, w.to-1, v.Size))
		if len(v.PartSizes) > 0 && get[*int32](in, "PartNumber") != nil {
			out.PartsCount = aws.Int32(int32(len(v.PartSizes)))
		}
	} else if get[types.ChecksumMode](in, "ChecksumMode") == types.ChecksumModeEnabled {
		setChecksums(out, v.Checksums, v.Composite)
	}
	return out, w, nil
}

// window resolves a range or the number of a part. A range that is none is
// ignored, as HTTP has it.
func (v *version) window(asked *string, part *int32) (w window, ranged bool, err error) {
	whole := window{0, v.Size}
	invalid := service.RefuseStatus(http.StatusRequestedRangeNotSatisfiable, "InvalidRange", "The requested range is not satisfiable")
	if part != nil {
		sizes := v.PartSizes
		if len(sizes) == 0 {
			sizes = []int64{v.Size}
		}
		if *part < 1 || int(*part) > len(sizes) {
			return whole, false, invalid
		}
		for _, size := range sizes[:*part-1] {
			w.from += size
		}
		w.to = w.from + sizes[*part-1]
		return w, true, nil
	}
	text, ok := strings.CutPrefix(aws.ToString(asked), "bytes=")
	first, last, dash := strings.Cut(text, "-")
	if !ok || !dash || strings.Contains(text, ",") {
		return whole, false, nil
	}
	if first == "" {
		n, err := strconv.ParseInt(last, 10, 64)
		if err != nil {
			return whole, false, nil
		}
		if n == 0 || v.Size == 0 {
			return whole, false, invalid
		}
		return window{max(0, v.Size-n), v.Size}, true, nil
	}
	w.from, err = strconv.ParseInt(first, 10, 64)
	if err != nil {
		return whole, false, nil
	}
	w.to = v.Size
	if last != "" {
		n, err := strconv.ParseInt(last, 10, 64)
		if err != nil || n < w.from {
			return whole, false, nil
		}
		w.to = min(n+1, v.Size)
	}
	if w.from >= v.Size {
		return whole, false, invalid
	}
	return w, true, nil
}

func (s *Service) getObjectAttributes(_ *service.Call, b *bucket, in *s3.GetObjectAttributesInput) (*s3.GetObjectAttributesOutput, error) {
	v, err := b.find(aws.ToString(in.Key), in.VersionId)
	if err != nil {
		return nil, err
	}
	if v.Marker {
		return nil, service.RefuseStatus(http.StatusMethodNotAllowed, "MethodNotAllowed", "The specified method is not allowed against this resource.")
	}
	out := &s3.GetObjectAttributesOutput{LastModified: aws.Time(v.Modified), VersionId: b.shownID(v)}
	for _, wanted := range in.ObjectAttributes {
		switch wanted {
		case types.ObjectAttributesEtag:
			out.ETag = aws.String(v.ETag)
		case types.ObjectAttributesObjectSize:
			out.ObjectSize = aws.Int64(v.Size)
		case types.ObjectAttributesStorageClass:
			out.StorageClass = v.storageClass()
		case types.ObjectAttributesChecksum:
			out.Checksum = &types.Checksum{}
			setChecksums(out.Checksum, v.Checksums, v.Composite)
		case types.ObjectAttributesObjectParts:
			if len(v.PartSizes) > 0 {
				out.ObjectParts = &types.GetObjectAttributesParts{TotalPartsCount: aws.Int32(int32(len(v.PartSizes)))}
			}
		default:
			return nil, invalidArgument("Invalid attribute name specified.")
		}
	}
	return out, nil
}

func (v *version) storageClass() types.StorageClass {
	if v.StorageClass == "" {
		return types.StorageClassStandard
	}
	return v.StorageClass
}
