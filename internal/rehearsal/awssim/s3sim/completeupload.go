package s3sim

import (
	"cmp"
	"crypto/md5"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

func invalidPart() error {
	return service.Refuse("InvalidPart", "One or more of the specified parts could not be found. "+
		"The part may not have been uploaded, or the specified entity tag may not match the part's entity tag.")
}

// chosen checks the parts that an object is to be made of.
func (u *upload) chosen(wanted []types.CompletedPart) ([]*part, error) {
	var parts []*part
	ascending := func(a, b types.CompletedPart) int {
		return cmp.Compare(aws.ToInt32(a.PartNumber), aws.ToInt32(b.PartNumber))
	}
	if !slices.IsSortedFunc(wanted, ascending) {
		return nil, service.Refuse("InvalidPartOrder", "The list of parts was not in ascending order. Parts must be ordered by part number.")
	}
	for i, w := range wanted {
		p := u.Parts[aws.ToInt32(w.PartNumber)]
		if p == nil || unquoted(aws.ToString(w.ETag)) != p.ETag {
			return nil, invalidPart()
		}
		for algorithm, value := range checksumsOf(&w) {
			if has, ok := p.Checksums[algorithm]; ok && has != value {
				return nil, invalidPart()
			}
		}
		if i < len(wanted)-1 && p.Size < smallestPart {
			return nil, service.Refuse("EntityTooSmall", "Your proposed upload is smaller than the minimum allowed size")
		}
		parts = append(parts, p)
	}
	return parts, nil
}

func (s *Service) completeMultipartUpload(c *service.Call, b *bucket, in *s3.CompleteMultipartUploadInput) (*s3.CompleteMultipartUploadOutput, error) {
	u, err := b.upload(in.Key, in.UploadId)
	if err != nil {
		return nil, err
	}
	if in.MultipartUpload == nil || len(in.MultipartUpload.Parts) == 0 {
		return nil, malformedXML()
	}
	parts, err := u.chosen(in.MultipartUpload.Parts)
	if err != nil {
		return nil, err
	}
	if err := b.mayWrite(u.Key, in.IfMatch, in.IfNoneMatch); err != nil {
		return nil, err
	}
	v := &version{attributes: u.attributes, Composite: u.Composite}
	tags := md5.New()
	for _, p := range parts {
		sum, _ := hex.DecodeString(p.ETag) // made by etagOf
		tags.Write(sum)
		v.Content = append(v.Content, p.Digest)
		v.PartSizes = append(v.PartSizes, p.Size)
		v.Size += p.Size
	}
	v.ETag = fmt.Sprintf("%x-%d", tags.Sum(nil), len(parts))
	if in.MpuObjectSize != nil && *in.MpuObjectSize != v.Size {
		return nil, invalidRequest("The provided 'x-amz-mp-object-size' header does not match what was computed.")
	}
	if v.Checksums, err = s.completed(u, v, parts); err != nil {
		return nil, err
	}
	for algorithm, stated := range checksumsOf(in) {
		if has, ok := v.Checksums[algorithm]; ok && has != stated {
			return nil, service.Refuse("BadDigest", "The %s you specified did not match the calculated checksum.", algorithm)
		}
	}
	for _, digest := range v.Content {
		s.content.keep(digest)
	}
	s.drop(b, *in.UploadId)
	s.add(c, b, u.Key, v)
	out := &s3.CompleteMultipartUploadOutput{
		Bucket: aws.String(b.Name), Key: in.Key, ETag: quoted(v.ETag), VersionId: b.shownID(v),
		Location:             aws.String("https://" + b.Name + ".s3." + b.Region + ".amazonaws.com/" + u.Key),
		ServerSideEncryption: v.Encryption, SSEKMSKeyId: v.KMSKey, BucketKeyEnabled: v.BucketKey,
	}
	setChecksums(out, v.Checksums, v.Composite)
	return out, nil
}

// completed is the checksum of the whole: over its bytes, or over the parts'
// checksums with their number behind it.
func (s *Service) completed(u *upload, v *version, parts []*part) (map[string]string, error) {
	algorithm := u.Algorithm
	if algorithm == "" {
		algorithm = "CRC64NVME"
	}
	var data []byte
	if u.Composite {
		for _, p := range parts {
			sum, err := base64.StdEncoding.DecodeString(p.Checksums[algorithm])
			if err != nil || len(sum) == 0 {
				return nil, invalidRequest("The upload was created using a %s checksum. The complete request must include the checksum for each part.", strings.ToLower(algorithm))
			}
			data = append(data, sum...)
		}
	} else {
		var err error
		if data, err = s.bytesOf(v); err != nil {
			return nil, err
		}
	}
	sum, err := checksum(algorithm, data)
	if err != nil {
		return nil, err
	}
	if u.Composite {
		sum += "-" + strconv.Itoa(len(parts))
	}
	return map[string]string{algorithm: sum}, nil
}

// drop ends an upload and lets its parts go.
func (s *Service) drop(b *bucket, id string) {
	for _, p := range b.Uploads[id].Parts {
		s.content.drop(p.Digest)
	}
	delete(b.Uploads, id)
}

func (s *Service) abortMultipartUpload(_ *service.Call, b *bucket, in *s3.AbortMultipartUploadInput) (*s3.AbortMultipartUploadOutput, error) {
	if _, err := b.upload(in.Key, in.UploadId); err != nil {
		return nil, err
	}
	s.drop(b, *in.UploadId)
	return &s3.AbortMultipartUploadOutput{}, nil
}

func (s *Service) listParts(_ *service.Call, b *bucket, in *s3.ListPartsInput) (*s3.ListPartsOutput, error) {
	u, err := b.upload(in.Key, in.UploadId)
	if err != nil {
		return nil, err
	}
	size := mostKeys
	if in.MaxParts != nil {
		size = min(size, int(*in.MaxParts))
	}
	after, err := strconv.Atoi(aws.ToString(in.PartNumberMarker))
	if in.PartNumberMarker != nil && err != nil {
		return nil, invalidArgument("Provided part-number-marker not an integer or within integer range")
	}
	out := &s3.ListPartsOutput{
		Bucket: aws.String(b.Name), Key: in.Key, UploadId: in.UploadId, MaxParts: aws.Int32(int32(size)), PartNumberMarker: aws.String(strconv.Itoa(after)),
		StorageClass: types.StorageClassStandard, Owner: s.owner(), Initiator: &types.Initiator{ID: aws.String(s.canonicalID())}, IsTruncated: aws.Bool(false),
	}
	for _, n := range slices.Sorted(maps.Keys(u.Parts)) {
		if int(n) <= after {
			continue
		}
		if len(out.Parts) == size {
			out.IsTruncated = aws.Bool(true)
			break
		}
		p := u.Parts[n]
		shown := types.Part{PartNumber: aws.Int32(n), ETag: quoted(p.ETag), Size: aws.Int64(p.Size), LastModified: aws.Time(p.Uploaded)}
		setChecksums(&shown, p.Checksums, false)
		out.Parts = append(out.Parts, shown)
		out.NextPartNumberMarker = aws.String(strconv.Itoa(int(n)))
	}
	return out, nil
}

func (s *Service) listMultipartUploads(_ *service.Call, b *bucket, in *s3.ListMultipartUploadsInput) (*s3.ListMultipartUploadsOutput, error) {
	q, err := ask(in.Prefix, nil, in.MaxUploads, in.EncodingType)
	if err != nil {
		return nil, err
	}
	ids := slices.SortedFunc(maps.Keys(b.Uploads), func(x, y string) int {
		return strings.Compare(b.Uploads[x].Key+"\x00"+x, b.Uploads[y].Key+"\x00"+y)
	})
	out := &s3.ListMultipartUploadsOutput{
		Bucket: aws.String(b.Name), Prefix: q.given(in.Prefix), KeyMarker: q.text(aws.ToString(in.KeyMarker)),
		UploadIdMarker: aws.String(aws.ToString(in.UploadIdMarker)), MaxUploads: aws.Int32(int32(q.most)), EncodingType: q.encoding(), IsTruncated: aws.Bool(false),
	}
	for _, id := range ids {
		u := b.Uploads[id]
		marker := aws.ToString(in.KeyMarker)
		if !strings.HasPrefix(u.Key, q.prefix) || u.Key < marker || marker != "" && u.Key == marker && (in.UploadIdMarker == nil || id <= *in.UploadIdMarker) {
			continue
		}
		if len(out.Uploads) == q.most {
			out.IsTruncated = aws.Bool(q.most > 0)
			break
		}
		out.Uploads = append(out.Uploads, types.MultipartUpload{
			Key: q.text(u.Key), UploadId: aws.String(id), Initiated: aws.Time(u.Started), Owner: s.owner(),
			Initiator: &types.Initiator{ID: aws.String(s.canonicalID())}, StorageClass: types.StorageClassStandard,
			ChecksumAlgorithm: types.ChecksumAlgorithm(u.Algorithm),
		})
		out.NextKeyMarker, out.NextUploadIdMarker = q.text(u.Key), aws.String(id)
	}
	return out, nil
}
