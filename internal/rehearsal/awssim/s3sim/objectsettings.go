package s3sim

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

func (s *Service) objectSettingOperations() []service.Operation {
	onVersion := []string{"Key", "VersionId"}
	with := func(fields ...string) []string { return slices.Concat(onVersion, fields) }
	return []service.Operation{
		read(s, "GetObjectAcl", s.getObjectACL, onVersion...),
		read(s, "GetObjectTagging", s.getObjectTagging, onVersion...),
		write(s, "PutObjectTagging", s.putObjectTagging, with("Tagging")...),
		write(s, "DeleteObjectTagging", s.deleteObjectTagging, onVersion...),
		read(s, "GetObjectRetention", s.getObjectRetention, onVersion...),
		write(s, "PutObjectRetention", s.putObjectRetention, with("Retention", "BypassGovernanceRetention")...),
		read(s, "GetObjectLegalHold", s.getObjectLegalHold, onVersion...),
		write(s, "PutObjectLegalHold", s.putObjectLegalHold, with("LegalHold")...),
	}
}

// version finds what a call on an object's settings is for.
func (b *bucket) version(in any) (*version, error) {
	v, err := b.find(aws.ToString(get[*string](in, "Key")), get[*string](in, "VersionId"))
	if err != nil {
		return nil, err
	}
	if v.Marker {
		return nil, service.RefuseStatus(405, "MethodNotAllowed", "The specified method is not allowed against this resource.")
	}
	return v, nil
}

func (s *Service) getObjectACL(_ *service.Call, b *bucket, in *s3.GetObjectAclInput) (*s3.GetObjectAclOutput, error) {
	if _, err := b.version(in); err != nil {
		return nil, err
	}
	return &s3.GetObjectAclOutput{Owner: s.owner(), Grants: []types.Grant{s.ownerGrant()}}, nil
}

func (s *Service) getObjectTagging(_ *service.Call, b *bucket, in *s3.GetObjectTaggingInput) (*s3.GetObjectTaggingOutput, error) {
	v, err := b.version(in)
	if err != nil {
		return nil, err
	}
	return &s3.GetObjectTaggingOutput{TagSet: tagSet(v.Tags), VersionId: b.shownID(v)}, nil
}

func (s *Service) putObjectTagging(_ *service.Call, b *bucket, in *s3.PutObjectTaggingInput) (*s3.PutObjectTaggingOutput, error) {
	v, err := b.version(in)
	if err != nil {
		return nil, err
	}
	if in.Tagging == nil {
		return nil, malformedXML()
	}
	tags, err := objectTags(in.Tagging.TagSet)
	if err != nil {
		return nil, err
	}
	v.Tags = tags
	return &s3.PutObjectTaggingOutput{VersionId: b.shownID(v)}, nil
}

func (s *Service) deleteObjectTagging(_ *service.Call, b *bucket, in *s3.DeleteObjectTaggingInput) (*s3.DeleteObjectTaggingOutput, error) {
	v, err := b.version(in)
	if err != nil {
		return nil, err
	}
	v.Tags = nil
	return &s3.DeleteObjectTaggingOutput{VersionId: b.shownID(v)}, nil
}

// lockable finds the version in a bucket that has object lock.
func (b *bucket) lockable(in any) (*version, error) {
	if b.ObjectLock == nil {
		return nil, invalidRequest("Bucket is missing Object Lock Configuration")
	}
	return b.version(in)
}

func noSuchLock() error {
	return unset("NoSuchObjectLockConfiguration", "The specified object does not have a ObjectLock configuration")
}

func (s *Service) getObjectRetention(_ *service.Call, b *bucket, in *s3.GetObjectRetentionInput) (*s3.GetObjectRetentionOutput, error) {
	v, err := b.lockable(in)
	if err != nil {
		return nil, err
	}
	if v.RetainUntil == nil {
		return nil, noSuchLock()
	}
	return &s3.GetObjectRetentionOutput{Retention: &types.ObjectLockRetention{
		Mode: types.ObjectLockRetentionMode(v.LockMode), RetainUntilDate: v.RetainUntil,
	}}, nil
}

// putObjectRetention never shortens what protects the version, except for a
// caller that may bypass governance.
func (s *Service) putObjectRetention(c *service.Call, b *bucket, in *s3.PutObjectRetentionInput) (*s3.PutObjectRetentionOutput, error) {
	v, err := b.lockable(in)
	if err != nil {
		return nil, err
	}
	wanted := in.Retention
	if wanted == nil || (wanted.Mode == "") != (wanted.RetainUntilDate == nil) {
		return nil, malformedXML()
	}
	now := c.World.Now()
	if wanted.RetainUntilDate != nil && !wanted.RetainUntilDate.After(now) {
		return nil, invalidArgument("The retain until date must be in the future!")
	}
	inForce := v.RetainUntil != nil && v.RetainUntil.After(now)
	weaker := wanted.RetainUntilDate == nil || inForce && wanted.RetainUntilDate.Before(*v.RetainUntil) ||
		v.LockMode == types.ObjectLockModeCompliance && wanted.Mode != types.ObjectLockRetentionModeCompliance
	if inForce && weaker && (v.LockMode == types.ObjectLockModeCompliance || !aws.ToBool(in.BypassGovernanceRetention)) {
		return nil, accessDenied("Access Denied because object protected by object lock.")
	}
	v.LockMode, v.RetainUntil = types.ObjectLockMode(wanted.Mode), wanted.RetainUntilDate
	return &s3.PutObjectRetentionOutput{}, nil
}

func (s *Service) getObjectLegalHold(_ *service.Call, b *bucket, in *s3.GetObjectLegalHoldInput) (*s3.GetObjectLegalHoldOutput, error) {
	v, err := b.lockable(in)
	if err != nil {
		return nil, err
	}
	if v.LegalHold == "" {
		return nil, noSuchLock()
	}
	return &s3.GetObjectLegalHoldOutput{LegalHold: &types.ObjectLockLegalHold{Status: v.LegalHold}}, nil
}

func (s *Service) putObjectLegalHold(_ *service.Call, b *bucket, in *s3.PutObjectLegalHoldInput) (*s3.PutObjectLegalHoldOutput, error) {
	v, err := b.lockable(in)
	if err != nil {
		return nil, err
	}
	if in.LegalHold == nil || !slices.Contains(in.LegalHold.Status.Values(), in.LegalHold.Status) {
		return nil, malformedXML()
	}
	v.LegalHold = in.LegalHold.Status
	return &s3.PutObjectLegalHoldOutput{}, nil
}
