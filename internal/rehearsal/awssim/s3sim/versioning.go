package s3sim

import (
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

func (s *Service) versioningOperations() []service.Operation {
	return []service.Operation{
		read(s, "GetBucketVersioning", s.getBucketVersioning),
		write(s, "PutBucketVersioning", s.putBucketVersioning, "VersioningConfiguration"),
		read(s, "GetBucketReplication", s.getBucketReplication),
		write(s, "PutBucketReplication", s.putBucketReplication, "ReplicationConfiguration"),
		write(s, "DeleteBucketReplication", s.deleteBucketReplication),
		read(s, "GetObjectLockConfiguration", s.getObjectLockConfiguration),
		write(s, "PutObjectLockConfiguration", s.putObjectLockConfiguration, "ObjectLockConfiguration"),
	}
}

func (s *Service) getBucketVersioning(_ *service.Call, b *bucket, _ *s3.GetBucketVersioningInput) (*s3.GetBucketVersioningOutput, error) {
	return &s3.GetBucketVersioningOutput{Status: b.Versioning}, nil
}

func (s *Service) putBucketVersioning(_ *service.Call, b *bucket, in *s3.PutBucketVersioningInput) (*s3.PutBucketVersioningOutput, error) {
	wanted := in.VersioningConfiguration
	switch {
	case wanted == nil || wanted.MFADelete == types.MFADeleteEnabled:
		return nil, malformedXML()
	case wanted.Status == types.BucketVersioningStatusEnabled:
	case wanted.Status != types.BucketVersioningStatusSuspended:
		return nil, service.Refuse("IllegalVersioningConfigurationException", "The Versioning element must be specified")
	case b.ObjectLock != nil:
		return nil, invalidState("An Object Lock configuration is present on this bucket, so the versioning state cannot be changed.")
	case b.Replication != nil:
		return nil, invalidState("A replication configuration is present on this bucket, so the versioning state cannot be changed.")
	}
	b.Versioning = wanted.Status
	return &s3.PutBucketVersioningOutput{}, nil
}

func (s *Service) getBucketReplication(_ *service.Call, b *bucket, _ *s3.GetBucketReplicationInput) (*s3.GetBucketReplicationOutput, error) {
	if b.Replication == nil {
		return nil, unset("ReplicationConfigurationNotFoundError", "The replication configuration was not found")
	}
	return &s3.GetBucketReplicationOutput{ReplicationConfiguration: b.Replication}, nil
}

func (s *Service) putBucketReplication(_ *service.Call, b *bucket, in *s3.PutBucketReplicationInput) (*s3.PutBucketReplicationOutput, error) {
	switch {
	case in.ReplicationConfiguration == nil || len(in.ReplicationConfiguration.Rules) == 0:
		return nil, malformedXML()
	case b.Versioning != types.BucketVersioningStatusEnabled:
		return nil, invalidRequest("Versioning must be 'Enabled' on the bucket to apply a replication configuration")
	}
	b.Replication = in.ReplicationConfiguration
	return &s3.PutBucketReplicationOutput{}, nil
}

func (s *Service) deleteBucketReplication(_ *service.Call, b *bucket, _ *s3.DeleteBucketReplicationInput) (*s3.DeleteBucketReplicationOutput, error) {
	b.Replication = nil
	return &s3.DeleteBucketReplicationOutput{}, nil
}

func (s *Service) getObjectLockConfiguration(_ *service.Call, b *bucket, _ *s3.GetObjectLockConfigurationInput) (*s3.GetObjectLockConfigurationOutput, error) {
	if b.ObjectLock == nil {
		return nil, unset("ObjectLockConfigurationNotFoundError", "Object Lock configuration does not exist for this bucket")
	}
	return &s3.GetObjectLockConfigurationOutput{ObjectLockConfiguration: b.ObjectLock}, nil
}

// putObjectLockConfiguration turns object lock on, for good; what it says of a
// default retention would protect every new object, which is not modelled.
func (s *Service) putObjectLockConfiguration(_ *service.Call, b *bucket, in *s3.PutObjectLockConfigurationInput) (*s3.PutObjectLockConfigurationOutput, error) {
	wanted := in.ObjectLockConfiguration
	switch {
	case wanted == nil || wanted.ObjectLockEnabled != types.ObjectLockEnabledEnabled:
		return nil, malformedXML()
	case b.Versioning != types.BucketVersioningStatusEnabled:
		return nil, invalidState("Versioning must be 'Enabled' on the bucket to apply a Object Lock configuration")
	case wanted.Rule != nil:
		return nil, service.Refuse("NotImplemented", "The simulated AWS does not model a default retention of buckets")
	}
	b.ObjectLock = wanted
	return &s3.PutObjectLockConfigurationOutput{}, nil
}
