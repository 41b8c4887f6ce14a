package s3sim

import (
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// upload is an object that is being uploaded in parts.
type upload struct {
	Key       string
	Started   time.Time
	Algorithm string          // of the checksums, or empty for S3's choice
	Composite bool            // the object's checksum is of the parts' checksums
	Parts     map[int32]*part `json:",omitempty"`
	attributes
}

type part struct {
	ETag, Digest string
	Size         int64
	Uploaded     time.Time
	Checksums    map[string]string `json:",omitempty"`
}

// "Amazon S3 multipart upload limits".
const (
	mostParts    = 10000
	smallestPart = 5 << 20
)

func (s *Service) uploadOperations() []service.Operation {
	return []service.Operation{
		write(s, "CreateMultipartUpload", s.createMultipartUpload, slices.Concat(attributeFields, []string{"Key", "ChecksumAlgorithm", "ChecksumType"})...),
		write(s, "UploadPart", s.uploadPart, slices.Concat(checksumInputs, []string{"Key", "UploadId", "PartNumber", "Body", "ContentLength"})...),
		write(s, "UploadPartCopy", s.uploadPartCopy, "Key", "UploadId", "PartNumber", "CopySource", "CopySourceRange", "ExpectedSourceBucketOwner"),
		write(s, "CompleteMultipartUpload", s.completeMultipartUpload, slices.Concat(checksumInputs,
			[]string{"Key", "UploadId", "MultipartUpload", "ChecksumType", "MpuObjectSize", "IfMatch", "IfNoneMatch"})...),
		write(s, "AbortMultipartUpload", s.abortMultipartUpload, "Key", "UploadId"),
		read(s, "ListParts", s.listParts, "Key", "UploadId", "MaxParts", "PartNumberMarker"),
		read(s, "ListMultipartUploads", s.listMultipartUploads, "Prefix", "MaxUploads", "KeyMarker", "UploadIdMarker", "EncodingType"),
	}
}

func (s *Service) createMultipartUpload(c *service.Call, b *bucket, in *s3.CreateMultipartUploadInput) (*s3.CreateMultipartUploadOutput, error) {
	key, err := checkKey(in.Key)
	if err != nil {
		return nil, err
	}
	a, err := b.attributesOf(in)
	if err != nil {
		return nil, err
	}
	u := &upload{Key: key, Started: c.World.Now().UTC(), Algorithm: string(in.ChecksumAlgorithm), attributes: a}
	if u.Algorithm != "" {
		if _, err := checksum(u.Algorithm, nil); err != nil {
			return nil, err
		}
		u.Composite = u.Algorithm != "CRC64NVME" && in.ChecksumType != types.ChecksumTypeFullObject
	}
	id := c.World.NewID("", 64)
	if b.Uploads == nil {
		b.Uploads = map[string]*upload{}
	}
	b.Uploads[id] = u
	out := &s3.CreateMultipartUploadOutput{
		Bucket: aws.String(b.Name), Key: in.Key, UploadId: aws.String(id), ChecksumAlgorithm: in.ChecksumAlgorithm,
		ServerSideEncryption: a.Encryption, SSEKMSKeyId: a.KMSKey, BucketKeyEnabled: a.BucketKey,
	}
	if u.Algorithm != "" {
		out.ChecksumType = types.ChecksumTypeFullObject
		if u.Composite {
			out.ChecksumType = types.ChecksumTypeComposite
		}
	}
	return out, nil
}

func (b *bucket) upload(key, id *string) (*upload, error) {
	u := b.Uploads[aws.ToString(id)]
	if u == nil || u.Key != aws.ToString(key) {
		return nil, noSuchUpload(aws.ToString(id))
	}
	return u, nil
}

// keepPart adds a part, in place of one of the same number.
func (s *Service) keepPart(c *service.Call, u *upload, number *int32, data []byte, stated map[string]string) (*part, error) {
	n := aws.ToInt32(number)
	if n < 1 || n > mostParts {
		return nil, invalidArgument("Part number must be an integer between 1 and %d, inclusive", mostParts)
	}
	if len(stated) == 0 {
		algorithm := u.Algorithm
		if algorithm == "" {
			algorithm = "CRC64NVME"
		}
		sum, err := checksum(algorithm, data)
		if err != nil {
			return nil, err
		}
		stated = map[string]string{algorithm: sum}
	}
	digest, err := s.content.put(data)
	if err != nil {
		return nil, err
	}
	p := &part{ETag: etagOf(data), Digest: digest, Size: int64(len(data)), Uploaded: c.World.Now().UTC(), Checksums: stated}
	if u.Parts == nil {
		u.Parts = map[int32]*part{}
	}
	if old := u.Parts[n]; old != nil {
		s.content.drop(old.Digest)
	}
	u.Parts[n] = p
	return p, nil
}

func (s *Service) uploadPart(c *service.Call, b *bucket, in *s3.UploadPartInput) (*s3.UploadPartOutput, error) {
	u, err := b.upload(in.Key, in.UploadId)
	if err != nil {
		return nil, err
	}
	data, err := bodyOf(in.Body)
	if err != nil {
		return nil, err
	}
	p, err := s.keepPart(c, u, in.PartNumber, data, checksumsOf(in))
	if err != nil {
		return nil, err
	}
	out := &s3.UploadPartOutput{ETag: quoted(p.ETag), ServerSideEncryption: u.Encryption, SSEKMSKeyId: u.KMSKey, BucketKeyEnabled: u.BucketKey}
	setChecksums(out, p.Checksums, false)
	return out, nil
}

func (s *Service) uploadPartCopy(c *service.Call, b *bucket, in *s3.UploadPartCopyInput) (*s3.UploadPartCopyOutput, error) {
	u, err := b.upload(in.Key, in.UploadId)
	if err != nil {
		return nil, err
	}
	sourceBucket, from, err := s.source(c, in.CopySource, in.ExpectedSourceBucketOwner)
	if err != nil {
		return nil, err
	}
	data, err := s.bytesOf(from)
	if err != nil {
		return nil, err
	}
	w, _, err := from.window(in.CopySourceRange, nil)
	if err != nil {
		return nil, err
	}
	p, err := s.keepPart(c, u, in.PartNumber, data[w.from:w.to], nil)
	if err != nil {
		return nil, err
	}
	result := &types.CopyPartResult{ETag: quoted(p.ETag), LastModified: aws.Time(p.Uploaded)}
	setChecksums(result, p.Checksums, false)
	return &s3.UploadPartCopyOutput{CopyPartResult: result, CopySourceVersionId: sourceBucket.shownID(from), ServerSideEncryption: u.Encryption}, nil
}
