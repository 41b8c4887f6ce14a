package s3sim

import (
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
	"github.com/krops-go/krops/internal/rehearsal/awssim/wire"
)

// object is a key with its versions, newest first. There is at least one.
type object struct{ Versions []*version }

// version is a version of an object, or a delete marker.
type version struct {
	ID        string // nullVersion for what was put without versioning
	Marker    bool   `json:",omitempty"`
	Modified  time.Time
	Size      int64             `json:",omitempty"`
	ETag      string            `json:",omitempty"` // without quotes
	Content   []string          `json:",omitempty"` // digests of its parts
	PartSizes []int64           `json:",omitempty"` // of an object uploaded in parts
	Checksums map[string]string `json:",omitempty"` // by algorithm, as in checksumFields
	Composite bool              `json:",omitempty"` // the checksums are those of the parts' checksums
	attributes
}

const nullVersion = "null"

// attributes are what is kept with the content of an object.
type attributes struct {
	CacheControl       *string                         `json:",omitempty"`
	ContentDisposition *string                         `json:",omitempty"`
	ContentEncoding    *string                         `json:",omitempty"`
	ContentLanguage    *string                         `json:",omitempty"`
	ContentType        *string                         `json:",omitempty"`
	Expires            *time.Time                      `json:",omitempty"`
	Metadata           map[string]string               `json:",omitempty"`
	StorageClass       types.StorageClass              `json:",omitempty"`
	Encryption         types.ServerSideEncryption      `json:",omitempty"`
	KMSKey             *string                         `json:",omitempty"`
	BucketKey          *bool                           `json:",omitempty"`
	Tags               map[string]string               `json:",omitempty"`
	LegalHold          types.ObjectLockLegalHoldStatus `json:",omitempty"`
	LockMode           types.ObjectLockMode            `json:",omitempty"`
	RetainUntil        *time.Time                      `json:",omitempty"`
}

// attributeFields are the fields of inputs that attributesOf reads.
var attributeFields = []string{
	"CacheControl", "ContentDisposition", "ContentEncoding", "ContentLanguage", "ContentType", "Expires", "Metadata",
	"StorageClass", "ServerSideEncryption", "SSEKMSKeyId", "BucketKeyEnabled", "Tagging", "ACL",
	"ObjectLockLegalHoldStatus", "ObjectLockMode", "ObjectLockRetainUntilDate",
}

// get returns a field that several inputs have.
func get[T any](in any, field string) T {
	value, _ := reflect.ValueOf(in).Elem().FieldByName(field).Interface().(T)
	return value
}

// attributesOf reads what PutObject, CopyObject and CreateMultipartUpload have
// in common.
func (b *bucket) attributesOf(in any) (attributes, error) {
	a := attributes{
		CacheControl: get[*string](in, "CacheControl"), ContentDisposition: get[*string](in, "ContentDisposition"),
		ContentEncoding: get[*string](in, "ContentEncoding"), ContentLanguage: get[*string](in, "ContentLanguage"),
		ContentType: get[*string](in, "ContentType"), Expires: get[*time.Time](in, "Expires"),
		Metadata: get[map[string]string](in, "Metadata"), StorageClass: get[types.StorageClass](in, "StorageClass"),
		Encryption: get[types.ServerSideEncryption](in, "ServerSideEncryption"), KMSKey: get[*string](in, "SSEKMSKeyId"),
		BucketKey: get[*bool](in, "BucketKeyEnabled"), LegalHold: get[types.ObjectLockLegalHoldStatus](in, "ObjectLockLegalHoldStatus"),
		LockMode: get[types.ObjectLockMode](in, "ObjectLockMode"), RetainUntil: get[*time.Time](in, "ObjectLockRetainUntilDate"),
	}
	var err error
	if a.Tags, err = queryTags(get[*string](in, "Tagging")); err != nil {
		return a, err
	}
	acl := get[types.ObjectCannedACL](in, "ACL")
	switch {
	case a.StorageClass != "" && !slices.Contains(a.StorageClass.Values(), a.StorageClass):
		return a, service.Refuse("InvalidStorageClass", "The storage class you specified is not valid")
	case acl != "" && acl != types.ObjectCannedACLPrivate && acl != types.ObjectCannedACLBucketOwnerFullControl &&
		b.Ownership == types.ObjectOwnershipBucketOwnerEnforced:
		return a, service.Refuse("AccessControlListNotSupported", "The bucket does not allow ACLs")
	case acl != "" && b.Ownership != types.ObjectOwnershipBucketOwnerEnforced && acl != types.ObjectCannedACLPrivate:
		return a, service.Refuse("NotImplemented", "The simulated AWS does not model access control lists of objects")
	case (a.LockMode != "" || a.LegalHold != "") && b.ObjectLock == nil:
		return a, invalidRequest("Bucket is missing Object Lock Configuration")
	case (a.LockMode == "") != (a.RetainUntil == nil):
		return a, invalidArgument("x-amz-object-lock-retain-until-date and x-amz-object-lock-mode must both be supplied")
	}
	if a.Encryption == "" {
		a.Encryption = types.ServerSideEncryptionAes256
		if b.settings.Encryption != nil {
			a.Encryption, a.KMSKey = b.settings.Encryption.SSEAlgorithm, b.settings.Encryption.KMSMasterKeyID
		}
	}
	return a, nil
}

// locked reports whether object lock keeps the version from being deleted.
func (v *version) locked(now time.Time, bypass bool) bool {
	if v.LegalHold == types.ObjectLockLegalHoldStatusOn {
		return true
	}
	governed := v.LockMode == types.ObjectLockModeGovernance && bypass
	return v.RetainUntil != nil && v.RetainUntil.After(now) && !governed
}

// current returns the newest version, a delete marker included, or nil.
func (b *bucket) current(key string) *version {
	if o := b.Objects[key]; o != nil {
		return o.Versions[0]
	}
	return nil
}

// find returns a version by its id, or the current one without.
func (b *bucket) find(key string, id *string) (*version, error) {
	if id == nil {
		v := b.current(key)
		if v == nil || v.Marker {
			return v, noSuchKey(key)
		}
		return v, nil
	}
	if o := b.Objects[key]; o != nil {
		for _, v := range o.Versions {
			if v.ID == *id {
				return v, nil
			}
		}
	}
	return nil, noSuchVersion(key, *id)
}

// add makes v the current version of the key. Only with versioning on does the
// one before stay.
func (s *Service) add(c *service.Call, b *bucket, key string, v *version) {
	v.ID, v.Modified = nullVersion, c.World.Now().UTC().Truncate(time.Second)
	if b.Versioning == types.BucketVersioningStatusEnabled {
		v.ID = c.World.NewID("", 32)
	} else {
		s.remove(b, key, nullVersion)
	}
	if b.Objects == nil {
		b.Objects = map[string]*object{}
	}
	o := b.Objects[key]
	if o == nil {
		o = &object{}
		b.Objects[key] = o
	}
	o.Versions = slices.Insert(o.Versions, 0, v)
}

// remove takes a version away for good, and the key with its last one.
func (s *Service) remove(b *bucket, key, id string) {
	o := b.Objects[key]
	if o == nil {
		return
	}
	o.Versions = slices.DeleteFunc(o.Versions, func(v *version) bool {
		if v.ID != id {
			return false
		}
		for _, digest := range v.Content {
			s.content.drop(digest)
		}
		return true
	})
	if len(o.Versions) == 0 {
		delete(b.Objects, key)
	}
}

// content names everything that the bucket's versions and uploads consist of.
func (b *bucket) content(each func(digest string)) {
	for _, o := range b.Objects {
		for _, v := range o.Versions {
			for _, digest := range v.Content {
				each(digest)
			}
		}
	}
	for _, u := range b.Uploads {
		for _, p := range u.Parts {
			each(p.Digest)
		}
	}
}

func (s *Service) bytesOf(v *version) ([]byte, error) {
	var all []byte
	for _, digest := range v.Content {
		data, err := s.content.get(digest)
		if err != nil {
			return nil, err
		}
		all = append(all, data...)
	}
	return all, nil
}

// checksumFields are the fields for checksums that inputs, outputs and types
// have in common, by algorithm.
var checksumFields = map[string]string{
	"CRC32": "ChecksumCRC32", "CRC32C": "ChecksumCRC32C", "CRC64NVME": "ChecksumCRC64NVME", "SHA1": "ChecksumSHA1", "SHA256": "ChecksumSHA256",
}

var checksumInputs = slices.Sorted(maps.Values(checksumFields))

// checksumsOf reads the checksums that a request states. The front has
// verified them.
func checksumsOf(in any) map[string]string {
	found := map[string]string{}
	for algorithm, field := range checksumFields {
		if value := get[*string](in, field); value != nil {
			found[algorithm] = *value
		}
	}
	return found
}

// setChecksums writes checksums into a pointer to an output or type.
func setChecksums(out any, checksums map[string]string, composite bool) {
	v := reflect.ValueOf(out).Elem()
	for algorithm, value := range checksums {
		v.FieldByName(checksumFields[algorithm]).Set(reflect.ValueOf(&value))
	}
	if kind := v.FieldByName("ChecksumType"); kind.IsValid() && len(checksums) > 0 {
		is := types.ChecksumTypeFullObject
		if composite {
			is = types.ChecksumTypeComposite
		}
		kind.Set(reflect.ValueOf(is))
	}
}

// checksum computes one by the name of its algorithm.
func checksum(algorithm string, data []byte) (string, error) {
	sum, ok := wire.NewChecksum(algorithm)
	if !ok {
		return "", invalidRequest("Checksum algorithm provided is unsupported. Please try again with any of the valid types: [CRC32, CRC32C, CRC64NVME, SHA1, SHA256]")
	}
	sum.Write(data)
	return base64Of(sum.Sum(nil)), nil
}
