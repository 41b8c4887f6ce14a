package s3sim

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// settings are what a bucket is configured with. Nil members are not set.
type settings struct {
	Abac          types.BucketAbacStatus                           `json:",omitempty"`
	Accelerate    types.BucketAccelerateStatus                     `json:",omitempty"`
	CannedACL     string                                           `json:",omitempty"`
	Grants        []types.Grant                                    `json:",omitempty"` // set in full
	CORS          []types.CORSRule                                 `json:",omitempty"`
	Encryption    *types.ServerSideEncryptionByDefault             `json:",omitempty"`
	BucketKey     bool                                             `json:",omitempty"`
	Lifecycle     []types.LifecycleRule                            `json:",omitempty"`
	Logging       *types.LoggingEnabled                            `json:",omitempty"`
	EventBridge   bool                                             `json:",omitempty"`
	ObjectLock    *types.ObjectLockConfiguration                   `json:",omitempty"`
	Ownership     types.ObjectOwnership                            `json:",omitempty"`
	Policy        string                                           `json:",omitempty"`
	PublicAccess  *types.PublicAccessBlockConfiguration            `json:",omitempty"`
	Replication   *types.ReplicationConfiguration                  `json:",omitempty"`
	RequesterPays bool                                             `json:",omitempty"`
	Versioning    types.BucketVersioningStatus                     `json:",omitempty"`
	Website       *types.WebsiteConfiguration                      `json:",omitempty"`
	Analytics     map[string]types.AnalyticsConfiguration          `json:",omitempty"` // by id, as the next three
	Inventories   map[string]types.InventoryConfiguration          `json:",omitempty"`
	Metrics       map[string]types.MetricsConfiguration            `json:",omitempty"`
	Tierings      map[string]types.IntelligentTieringConfiguration `json:",omitempty"`
}

// defaultSettings are those of a bucket that is made today: encrypted,
// without access control lists, and without public access ("Default settings
// for new S3 buckets", S3 User Guide).
func defaultSettings(ownership types.ObjectOwnership) settings {
	return settings{
		Ownership: ownership,
		PublicAccess: &types.PublicAccessBlockConfiguration{
			BlockPublicAcls: aws.Bool(true), BlockPublicPolicy: aws.Bool(true),
			IgnorePublicAcls: aws.Bool(true), RestrictPublicBuckets: aws.Bool(true),
		},
	}
}

const (
	mostBucketTags = 50
	mostObjectTags = 10
)

func tagMap(tags []types.Tag) (map[string]string, error) {
	out := map[string]string{}
	for _, t := range tags {
		key := aws.ToString(t.Key)
		switch {
		case key == "" || len(key) > 128 || len(aws.ToString(t.Value)) > 256:
			return nil, service.Refuse("InvalidTag", "The TagKey or TagValue you have provided is invalid")
		case strings.HasPrefix(strings.ToLower(key), "aws:"):
			return nil, service.Refuse("InvalidTag", "System tags cannot be added/updated by requester")
		}
		if _, twice := out[key]; twice {
			return nil, service.Refuse("InvalidTag", "Cannot provide multiple Tags with the same key")
		}
		out[key] = aws.ToString(t.Value)
	}
	if len(out) > mostBucketTags {
		return nil, service.Refuse("BadRequest", "Bucket tag count cannot be greater than %d", mostBucketTags)
	}
	return out, nil
}

func objectTags(tags []types.Tag) (map[string]string, error) {
	out, err := tagMap(tags)
	if err == nil && len(out) > mostObjectTags {
		return nil, service.Refuse("BadRequest", "Object tags cannot be greater than %d", mostObjectTags)
	}
	return out, err
}

// queryTags reads tags from the header that carries them as a query.
func queryTags(text *string) (map[string]string, error) {
	parsed, err := url.ParseQuery(aws.ToString(text))
	if err != nil {
		return nil, invalidArgument("The header 'x-amz-tagging' shall be encoded as UTF-8 then URLEncoded URL query parameters without tag name duplicates.")
	}
	var tags []types.Tag
	for key, values := range parsed {
		for _, value := range values {
			tags = append(tags, types.Tag{Key: aws.String(key), Value: aws.String(value)})
		}
	}
	return objectTags(tags)
}

func tagSet(tags map[string]string) []types.Tag {
	out := make([]types.Tag, 0, len(tags))
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		out = append(out, types.Tag{Key: aws.String(key), Value: aws.String(tags[key])})
	}
	return out
}
