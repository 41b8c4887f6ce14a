package s3sim

import (
	"encoding/base64"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

func (s *Service) listOperations() []service.Operation {
	return []service.Operation{
		read(s, "ListObjects", s.listObjects, "Prefix", "Delimiter", "Marker", "MaxKeys", "EncodingType"),
		read(s, "ListObjectsV2", s.listObjectsV2, "Prefix", "Delimiter", "StartAfter", "ContinuationToken", "MaxKeys", "FetchOwner", "EncodingType"),
		read(s, "ListObjectVersions", s.listObjectVersions, "Prefix", "Delimiter", "KeyMarker", "VersionIdMarker", "MaxKeys", "EncodingType"),
	}
}

const mostKeys = 1000

// question is what the listing calls have in common.
type question struct {
	prefix, delimiter string
	after             string // the last key or common prefix of the page before
	most              int
	encoded           bool
}

func ask(prefix, delimiter *string, most *int32, encoding types.EncodingType) (question, error) {
	q := question{prefix: aws.ToString(prefix), delimiter: aws.ToString(delimiter), most: mostKeys, encoded: encoding != ""}
	if encoding != "" && encoding != types.EncodingTypeUrl {
		return q, invalidArgument("Invalid Encoding Method specified in Request")
	}
	if most != nil {
		if *most < 0 {
			return q, invalidArgument("Argument maxKeys must be an integer between 0 and 2147483647")
		}
		q.most = min(int(*most), mostKeys)
	}
	return q, nil
}

// common returns what a key is folded into, or false when it stands for itself.
func (q question) common(key string) (string, bool) {
	if q.delimiter == "" {
		return "", false
	}
	before, _, found := strings.Cut(strings.TrimPrefix(key, q.prefix), q.delimiter)
	return q.prefix + before + q.delimiter, found
}

// isPrefix reports whether the page before ended with a common prefix.
func (q question) isPrefix() bool {
	folded, ok := q.common(q.after)
	return ok && folded == q.after
}

// asks reports whether the key is among what is asked for.
func (q question) asks(key string) bool {
	if !strings.HasPrefix(key, q.prefix) || key <= q.after && q.after != "" {
		return false
	}
	return !q.isPrefix() || !strings.HasPrefix(key, q.after)
}

// text encodes what may hold characters that XML cannot, if asked to.
func (q question) text(value string) *string {
	if !q.encoded {
		return aws.String(value)
	}
	escaped := strings.ReplaceAll(url.QueryEscape(value), "+", "%20")
	return aws.String(strings.ReplaceAll(escaped, "%2F", "/"))
}

func (q question) given(value *string) *string {
	if value == nil {
		return nil
	}
	return q.text(*value)
}

func (q question) encoding() types.EncodingType {
	if q.encoded {
		return types.EncodingTypeUrl
	}
	return ""
}

// folding gathers common prefixes once each.
type folding struct{ prefixes []string }

func (f *folding) add(prefix string) (fresh bool) {
	if n := len(f.prefixes); n > 0 && f.prefixes[n-1] == prefix {
		return false
	}
	f.prefixes = append(f.prefixes, prefix)
	return true
}

func (f *folding) list(q question) []types.CommonPrefix {
	var all []types.CommonPrefix
	for _, p := range f.prefixes {
		all = append(all, types.CommonPrefix{Prefix: q.text(p)})
	}
	return all
}

// page is one answer of the calls that list current objects.
type page struct {
	folding
	objects   []types.Object
	truncated bool
	last      string // what the next page comes after
}

func (s *Service) page(b *bucket, q question, withOwner bool) page {
	var p page
	for _, key := range slices.Sorted(maps.Keys(b.Objects)) {
		v := b.current(key)
		if v.Marker || !q.asks(key) {
			continue
		}
		folded, fold := q.common(key)
		if fold && len(p.prefixes) > 0 && p.prefixes[len(p.prefixes)-1] == folded {
			continue
		}
		if len(p.objects)+len(p.prefixes) == q.most {
			p.truncated = q.most > 0
			break
		}
		if fold {
			p.add(folded)
			p.last = folded
			continue
		}
		o := types.Object{
			Key: q.text(key), ETag: quoted(v.ETag), Size: aws.Int64(v.Size), LastModified: aws.Time(v.Modified),
			StorageClass: types.ObjectStorageClass(v.storageClass()), ChecksumAlgorithm: v.algorithms(), ChecksumType: v.checksumType(),
		}
		if withOwner {
			o.Owner = s.owner()
		}
		p.objects = append(p.objects, o)
		p.last = key
	}
	return p
}

func (s *Service) owner() *types.Owner { return &types.Owner{ID: aws.String(s.canonicalID())} }

func (v *version) algorithms() []types.ChecksumAlgorithm {
	var all []types.ChecksumAlgorithm
	for _, name := range slices.Sorted(maps.Keys(v.Checksums)) {
		all = append(all, types.ChecksumAlgorithm(name))
	}
	return all
}

func (v *version) checksumType() types.ChecksumType {
	switch {
	case len(v.Checksums) == 0:
		return ""
	case v.Composite:
		return types.ChecksumTypeComposite
	}
	return types.ChecksumTypeFullObject
}

func (s *Service) listObjects(_ *service.Call, b *bucket, in *s3.ListObjectsInput) (*s3.ListObjectsOutput, error) {
	q, err := ask(in.Prefix, in.Delimiter, in.MaxKeys, in.EncodingType)
	if err != nil {
		return nil, err
	}
	q.after = aws.ToString(in.Marker)
	p := s.page(b, q, true)
	out := &s3.ListObjectsOutput{
		Name: aws.String(b.Name), Prefix: q.text(q.prefix), Delimiter: q.given(in.Delimiter), Marker: q.text(q.after),
		MaxKeys: aws.Int32(int32(q.most)), EncodingType: q.encoding(), IsTruncated: aws.Bool(p.truncated),
		Contents: p.objects, CommonPrefixes: p.list(q),
	}
	if p.truncated && q.delimiter != "" { // without one, clients go on from the last key
		out.NextMarker = q.text(p.last)
	}
	return out, nil
}

func (s *Service) listObjectsV2(_ *service.Call, b *bucket, in *s3.ListObjectsV2Input) (*s3.ListObjectsV2Output, error) {
	q, err := ask(in.Prefix, in.Delimiter, in.MaxKeys, in.EncodingType)
	if err != nil {
		return nil, err
	}
	q.after = aws.ToString(in.StartAfter)
	if in.ContinuationToken != nil {
		last, err := base64.RawURLEncoding.DecodeString(*in.ContinuationToken)
		if err != nil || len(last) == 0 {
			return nil, invalidArgument("The continuation token provided is incorrect")
		}
		q.after = string(last)
	}
	p := s.page(b, q, aws.ToBool(in.FetchOwner))
	out := &s3.ListObjectsV2Output{
		Name: aws.String(b.Name), Prefix: q.text(q.prefix), Delimiter: q.given(in.Delimiter), StartAfter: q.given(in.StartAfter),
		ContinuationToken: in.ContinuationToken, MaxKeys: aws.Int32(int32(q.most)), EncodingType: q.encoding(),
		KeyCount: aws.Int32(int32(len(p.objects) + len(p.prefixes))), IsTruncated: aws.Bool(p.truncated),
		Contents: p.objects, CommonPrefixes: p.list(q),
	}
	if p.truncated {
		out.NextContinuationToken = aws.String(base64.RawURLEncoding.EncodeToString([]byte(p.last)))
	}
	return out, nil
}

func (s *Service) listObjectVersions(_ *service.Call, b *bucket, in *s3.ListObjectVersionsInput) (*s3.ListObjectVersionsOutput, error) {
	q, err := ask(in.Prefix, in.Delimiter, in.MaxKeys, in.EncodingType)
	if err != nil {
		return nil, err
	}
	if in.VersionIdMarker != nil && in.KeyMarker == nil {
		return nil, invalidArgument("A version-id marker cannot be specified without a key marker.")
	}
	q.after = aws.ToString(in.KeyMarker)
	out := &s3.ListObjectVersionsOutput{
		Name: aws.String(b.Name), Prefix: q.text(q.prefix), Delimiter: q.given(in.Delimiter), KeyMarker: q.text(q.after),
		VersionIdMarker: in.VersionIdMarker, MaxKeys: aws.Int32(int32(q.most)), EncodingType: q.encoding(), IsTruncated: aws.Bool(false),
	}
	var folded folding
	lastKey, lastVersion, count := "", "", 0
	full := func() bool {
		if count < q.most {
			return false
		}
		out.IsTruncated = aws.Bool(q.most > 0)
		out.NextKeyMarker = q.text(lastKey)
		if lastVersion != "" {
			out.NextVersionIdMarker = aws.String(lastVersion)
		}
		return true
	}
keys:
	for _, key := range slices.Sorted(maps.Keys(b.Objects)) {
		versions := b.Objects[key].Versions
		skip := 0
		if key == q.after && in.VersionIdMarker != nil {
			skip = 1 + slices.IndexFunc(versions, func(v *version) bool { return v.ID == *in.VersionIdMarker })
		} else if !q.asks(key) {
			continue
		}
		if prefix, fold := q.common(key); fold {
			if n := len(folded.prefixes); n > 0 && folded.prefixes[n-1] == prefix {
				continue
			}
			if full() {
				break
			}
			folded.add(prefix)
			lastKey, lastVersion = prefix, ""
			count++
			continue
		}
		for i, v := range versions {
			if i < skip {
				continue
			}
			if full() {
				break keys
			}
			s.listVersion(out, q, key, v, i == 0)
			lastKey, lastVersion = key, v.ID
			count++
		}
	}
	out.CommonPrefixes = folded.list(q)
	return out, nil
}

func (s *Service) listVersion(out *s3.ListObjectVersionsOutput, q question, key string, v *version, latest bool) {
	if v.Marker {
		out.DeleteMarkers = append(out.DeleteMarkers, types.DeleteMarkerEntry{
			Key: q.text(key), VersionId: aws.String(v.ID), IsLatest: aws.Bool(latest), LastModified: aws.Time(v.Modified), Owner: s.owner(),
		})
		return
	}
	out.Versions = append(out.Versions, types.ObjectVersion{
		Key: q.text(key), VersionId: aws.String(v.ID), IsLatest: aws.Bool(latest), LastModified: aws.Time(v.Modified),
		ETag: quoted(v.ETag), Size: aws.Int64(v.Size), StorageClass: types.ObjectVersionStorageClassStandard,
		ChecksumAlgorithm: v.algorithms(), ChecksumType: v.checksumType(), Owner: s.owner(),
	})
}
