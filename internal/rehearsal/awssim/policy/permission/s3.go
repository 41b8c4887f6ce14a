package permission

import "strings"

// s3Actions are the actions of operations that are not named like them.
var s3Actions = map[string]string{
	"ListBuckets":                                 "ListAllMyBuckets",
	"HeadBucket":                                  "ListBucket",
	"ListObjects":                                 "ListBucket",
	"ListObjectsV2":                               "ListBucket",
	"ListObjectVersions":                          "ListBucketVersions",
	"ListMultipartUploads":                        "ListBucketMultipartUploads",
	"ListParts":                                   "ListMultipartUploadParts",
	"HeadObject":                                  "GetObject",
	"CopyObject":                                  "PutObject",
	"CreateMultipartUpload":                       "PutObject",
	"UploadPart":                                  "PutObject",
	"UploadPartCopy":                              "PutObject",
	"CompleteMultipartUpload":                     "PutObject",
	"DeleteObjects":                               "DeleteObject",
	"GetBucketEncryption":                         "GetEncryptionConfiguration",
	"PutBucketEncryption":                         "PutEncryptionConfiguration",
	"DeleteBucketEncryption":                      "PutEncryptionConfiguration",
	"GetBucketLifecycleConfiguration":             "GetLifecycleConfiguration",
	"PutBucketLifecycleConfiguration":             "PutLifecycleConfiguration",
	"DeleteBucketLifecycle":                       "PutLifecycleConfiguration",
	"GetBucketReplication":                        "GetReplicationConfiguration",
	"PutBucketReplication":                        "PutReplicationConfiguration",
	"DeleteBucketReplication":                     "PutReplicationConfiguration",
	"GetBucketAccelerateConfiguration":            "GetAccelerateConfiguration",
	"PutBucketAccelerateConfiguration":            "PutAccelerateConfiguration",
	"GetPublicAccessBlock":                        "GetBucketPublicAccessBlock",
	"PutPublicAccessBlock":                        "PutBucketPublicAccessBlock",
	"DeletePublicAccessBlock":                     "PutBucketPublicAccessBlock",
	"DeleteBucketTagging":                         "PutBucketTagging",
	"GetBucketCors":                               "GetBucketCORS",
	"PutBucketCors":                               "PutBucketCORS",
	"DeleteBucketCors":                            "PutBucketCORS",
	"DeleteBucketOwnershipControls":               "PutBucketOwnershipControls",
	"GetBucketNotificationConfiguration":          "GetBucketNotification",
	"PutBucketNotificationConfiguration":          "PutBucketNotification",
	"GetObjectLockConfiguration":                  "GetBucketObjectLockConfiguration",
	"PutObjectLockConfiguration":                  "PutBucketObjectLockConfiguration",
	"GetBucketAnalyticsConfiguration":             "GetAnalyticsConfiguration",
	"ListBucketAnalyticsConfigurations":           "GetAnalyticsConfiguration",
	"PutBucketAnalyticsConfiguration":             "PutAnalyticsConfiguration",
	"DeleteBucketAnalyticsConfiguration":          "PutAnalyticsConfiguration",
	"GetBucketInventoryConfiguration":             "GetInventoryConfiguration",
	"ListBucketInventoryConfigurations":           "GetInventoryConfiguration",
	"PutBucketInventoryConfiguration":             "PutInventoryConfiguration",
	"DeleteBucketInventoryConfiguration":          "PutInventoryConfiguration",
	"GetBucketMetricsConfiguration":               "GetMetricsConfiguration",
	"ListBucketMetricsConfigurations":             "GetMetricsConfiguration",
	"PutBucketMetricsConfiguration":               "PutMetricsConfiguration",
	"DeleteBucketMetricsConfiguration":            "PutMetricsConfiguration",
	"GetBucketIntelligentTieringConfiguration":    "GetIntelligentTieringConfiguration",
	"ListBucketIntelligentTieringConfigurations":  "GetIntelligentTieringConfiguration",
	"PutBucketIntelligentTieringConfiguration":    "PutIntelligentTieringConfiguration",
	"DeleteBucketIntelligentTieringConfiguration": "PutIntelligentTieringConfiguration",
}

// s3ObjectOperations work on an object; all others on a bucket.
func s3Object(operation string) bool {
	switch operation {
	case "CopyObject", "CreateMultipartUpload", "UploadPart", "UploadPartCopy", "CompleteMultipartUpload", "AbortMultipartUpload", "ListParts":
		return true
	case "ListObjects", "ListObjectsV2", "ListObjectVersions", "GetObjectLockConfiguration", "PutObjectLockConfiguration":
		return false
	}
	return strings.Contains(operation, "Object")
}

func (n *Needs) s3(operation string) {
	if action, other := s3Actions[operation]; other {
		n.Action = "s3:" + action
	}
	switch {
	case operation == "ListBuckets":
	case operation == "DeleteObjects":
		n.on("arn:aws:s3:::{Bucket}/*")
	case s3Object(operation):
		n.on("arn:aws:s3:::{Bucket}/{Key}")
	default:
		n.on("arn:aws:s3:::{Bucket}")
	}
	switch operation {
	case "GetObject", "HeadObject", "GetObjectTagging", "DeleteObject", "DeleteObjectTagging":
		n.Also = append(n.Also, Also{Field: "VersionId", Action: versioned(n.Action), Resources: n.Resources, Instead: true})
	case "PutObject", "CreateMultipartUpload":
		n.also("Tagging", "s3:PutObjectTagging")
	case "CreateBucket":
		n.also("CreateBucketConfiguration.Tags", "s3:TagResource")
		n.also("ObjectLockEnabledForBucket", "s3:PutBucketObjectLockConfiguration")
	}
}

// versioned is the action on one version of an object.
func versioned(action string) string {
	if tagging, ok := strings.CutSuffix(action, "Tagging"); ok {
		return tagging + "VersionTagging"
	}
	return action + "Version"
}
