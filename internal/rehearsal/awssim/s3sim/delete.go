package s3sim

import (
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

func (s *Service) deleteOperations() []service.Operation {
	return []service.Operation{
		write(s, "DeleteObject", s.deleteObject, "Key", "VersionId", "BypassGovernanceRetention", "IfMatch"),
		write(s, "DeleteObjects", s.deleteObjects, "Delete", "BypassGovernanceRetention"),
	}
}

// deletion is what became of one object.
type deletion struct {
	version *string // that was removed or, as marker, made
	marker  bool
}

// delete removes a version for good, or without one puts a delete marker on
// the key ("Working with delete markers", S3 User Guide).
func (s *Service) delete(c *service.Call, b *bucket, key string, id, ifMatch *string, bypass bool) (deletion, error) {
	if err := b.mayWriteOver(key, ifMatch); err != nil {
		return deletion{}, err
	}
	if id != nil {
		v, err := b.find(key, id)
		if err != nil {
			return deletion{version: id}, nil // deleting what is not there succeeds
		}
		if v.locked(c.World.Now(), bypass) {
			return deletion{}, accessDenied("Access Denied because object protected by object lock.")
		}
		s.remove(b, key, *id)
		return deletion{version: id, marker: v.Marker}, nil
	}
	if b.Versioning == "" {
		s.remove(b, key, nullVersion)
		return deletion{}, nil
	}
	marker := &version{Marker: true}
	s.add(c, b, key, marker)
	return deletion{version: aws.String(marker.ID), marker: true}, nil
}

// mayWriteOver is mayWrite for a delete.
func (b *bucket) mayWriteOver(key string, ifMatch *string) error {
	if ifMatch != nil && *ifMatch == "*" {
		if now := b.current(key); now == nil || now.Marker {
			return noSuchKey(key)
		}
		return nil
	}
	return b.mayWrite(key, ifMatch, nil)
}

func (s *Service) deleteObject(c *service.Call, b *bucket, in *s3.DeleteObjectInput) (*s3.DeleteObjectOutput, error) {
	key, err := checkKey(in.Key)
	if err != nil {
		return nil, err
	}
	done, err := s.delete(c, b, key, in.VersionId, in.IfMatch, aws.ToBool(in.BypassGovernanceRetention))
	if err != nil {
		return nil, err
	}
	out := &s3.DeleteObjectOutput{VersionId: done.version}
	if done.marker {
		out.DeleteMarker = aws.Bool(true)
	}
	return out, nil
}

const mostDeletes = 1000

// deleteObjects succeeds as a call even when objects in it are refused; each
// of them has its error in the answer.
func (s *Service) deleteObjects(c *service.Call, b *bucket, in *s3.DeleteObjectsInput) (*s3.DeleteObjectsOutput, error) {
	if in.Delete == nil || len(in.Delete.Objects) == 0 || len(in.Delete.Objects) > mostDeletes {
		return nil, malformedXML()
	}
	out := &s3.DeleteObjectsOutput{}
	for _, o := range in.Delete.Objects {
		key, err := checkKey(o.Key)
		if err != nil {
			return nil, err
		}
		if o.LastModifiedTime != nil || o.Size != nil {
			return nil, service.Refuse("NotImplemented", "The simulated AWS does not model conditions on the size or age of what is deleted")
		}
		done, err := s.delete(c, b, key, o.VersionId, o.ETag, aws.ToBool(in.BypassGovernanceRetention))
		var refusal *service.Error
		switch {
		case errors.As(err, &refusal):
			out.Errors = append(out.Errors, types.Error{
				Key: o.Key, VersionId: o.VersionId, Code: aws.String(refusal.Code), Message: aws.String(refusal.Message),
			})
		case err != nil:
			return nil, err
		case !aws.ToBool(in.Delete.Quiet):
			deleted := types.DeletedObject{Key: o.Key, VersionId: o.VersionId}
			if done.marker {
				deleted.DeleteMarker, deleted.DeleteMarkerVersionId = aws.Bool(true), done.version
			}
			out.Deleted = append(out.Deleted, deleted)
		}
	}
	return out, nil
}
