package s3sim

import (
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

func (s *Service) ruleOperations() []service.Operation {
	return []service.Operation{
		read(s, "GetBucketAbac", s.getBucketAbac),
		write(s, "PutBucketAbac", s.putBucketAbac, "AbacStatus"),
		read(s, "GetBucketAccelerateConfiguration", s.getBucketAccelerateConfiguration),
		write(s, "PutBucketAccelerateConfiguration", s.putBucketAccelerateConfiguration, "AccelerateConfiguration"),
		read(s, "GetBucketCors", s.getBucketCORS),
		write(s, "PutBucketCors", s.putBucketCORS, "CORSConfiguration"),
		write(s, "DeleteBucketCors", s.deleteBucketCORS),
		read(s, "GetBucketEncryption", s.getBucketEncryption),
		write(s, "PutBucketEncryption", s.putBucketEncryption, "ServerSideEncryptionConfiguration"),
		write(s, "DeleteBucketEncryption", s.deleteBucketEncryption),
		read(s, "GetBucketLifecycleConfiguration", s.getBucketLifecycle),
		write(s, "PutBucketLifecycleConfiguration", s.putBucketLifecycle, "LifecycleConfiguration"),
		write(s, "DeleteBucketLifecycle", s.deleteBucketLifecycle),
		read(s, "GetBucketLogging", s.getBucketLogging),
		write(s, "PutBucketLogging", s.putBucketLogging, "BucketLoggingStatus"),
		read(s, "GetBucketNotificationConfiguration", s.getBucketNotification),
		write(s, "PutBucketNotificationConfiguration", s.putBucketNotification, "NotificationConfiguration"),
		read(s, "GetBucketRequestPayment", s.getBucketRequestPayment),
		write(s, "PutBucketRequestPayment", s.putBucketRequestPayment, "RequestPaymentConfiguration"),
		read(s, "GetBucketTagging", s.getBucketTagging),
		write(s, "PutBucketTagging", s.putBucketTagging, "Tagging"),
		write(s, "DeleteBucketTagging", s.deleteBucketTagging),
		read(s, "GetBucketWebsite", s.getBucketWebsite),
		write(s, "PutBucketWebsite", s.putBucketWebsite, "WebsiteConfiguration"),
		write(s, "DeleteBucketWebsite", s.deleteBucketWebsite),
	}
}

func (s *Service) getBucketAbac(_ *service.Call, b *bucket, _ *s3.GetBucketAbacInput) (*s3.GetBucketAbacOutput, error) {
	status := b.Abac
	if status == "" {
		status = types.BucketAbacStatusDisabled
	}
	return &s3.GetBucketAbacOutput{AbacStatus: &types.AbacStatus{Status: status}}, nil
}

func (s *Service) putBucketAbac(_ *service.Call, b *bucket, in *s3.PutBucketAbacInput) (*s3.PutBucketAbacOutput, error) {
	if in.AbacStatus == nil || !slices.Contains(in.AbacStatus.Status.Values(), in.AbacStatus.Status) {
		return nil, malformedXML()
	}
	b.Abac = in.AbacStatus.Status
	return &s3.PutBucketAbacOutput{}, nil
}

func (s *Service) getBucketAccelerateConfiguration(_ *service.Call, b *bucket, _ *s3.GetBucketAccelerateConfigurationInput) (*s3.GetBucketAccelerateConfigurationOutput, error) {
	return &s3.GetBucketAccelerateConfigurationOutput{Status: b.Accelerate}, nil
}

func (s *Service) putBucketAccelerateConfiguration(_ *service.Call, b *bucket, in *s3.PutBucketAccelerateConfigurationInput) (*s3.PutBucketAccelerateConfigurationOutput, error) {
	switch {
	case in.AccelerateConfiguration == nil || !slices.Contains(in.AccelerateConfiguration.Status.Values(), in.AccelerateConfiguration.Status):
		return nil, malformedXML()
	case strings.Contains(b.Name, "."):
		return nil, invalidRequest("S3 Transfer Acceleration is not supported for buckets with periods (.) in their names")
	}
	b.Accelerate = in.AccelerateConfiguration.Status
	return &s3.PutBucketAccelerateConfigurationOutput{}, nil
}

func (s *Service) getBucketCORS(_ *service.Call, b *bucket, _ *s3.GetBucketCorsInput) (*s3.GetBucketCorsOutput, error) {
	if len(b.CORS) == 0 {
		return nil, unset("NoSuchCORSConfiguration", "The CORS configuration does not exist")
	}
	return &s3.GetBucketCorsOutput{CORSRules: b.CORS}, nil
}

func (s *Service) putBucketCORS(_ *service.Call, b *bucket, in *s3.PutBucketCorsInput) (*s3.PutBucketCorsOutput, error) {
	if in.CORSConfiguration == nil || len(in.CORSConfiguration.CORSRules) == 0 {
		return nil, malformedXML()
	}
	for _, rule := range in.CORSConfiguration.CORSRules {
		if len(rule.AllowedMethods) == 0 || len(rule.AllowedOrigins) == 0 {
			return nil, malformedXML()
		}
	}
	b.CORS = in.CORSConfiguration.CORSRules
	return &s3.PutBucketCorsOutput{}, nil
}

func (s *Service) deleteBucketCORS(_ *service.Call, b *bucket, _ *s3.DeleteBucketCorsInput) (*s3.DeleteBucketCorsOutput, error) {
	b.CORS = nil
	return &s3.DeleteBucketCorsOutput{}, nil
}

// getBucketEncryption always succeeds: a bucket without a setting of its own
// is encrypted with keys that S3 manages.
func (s *Service) getBucketEncryption(_ *service.Call, b *bucket, _ *s3.GetBucketEncryptionInput) (*s3.GetBucketEncryptionOutput, error) {
	byDefault := b.Encryption
	if byDefault == nil {
		byDefault = &types.ServerSideEncryptionByDefault{SSEAlgorithm: types.ServerSideEncryptionAes256}
	}
	return &s3.GetBucketEncryptionOutput{ServerSideEncryptionConfiguration: &types.ServerSideEncryptionConfiguration{
		Rules: []types.ServerSideEncryptionRule{{ApplyServerSideEncryptionByDefault: byDefault, BucketKeyEnabled: aws.Bool(b.BucketKey)}},
	}}, nil
}

func (s *Service) putBucketEncryption(_ *service.Call, b *bucket, in *s3.PutBucketEncryptionInput) (*s3.PutBucketEncryptionOutput, error) {
	if in.ServerSideEncryptionConfiguration == nil || len(in.ServerSideEncryptionConfiguration.Rules) != 1 {
		return nil, malformedXML()
	}
	rule := in.ServerSideEncryptionConfiguration.Rules[0]
	byDefault := rule.ApplyServerSideEncryptionByDefault
	switch {
	case byDefault == nil || !slices.Contains(byDefault.SSEAlgorithm.Values(), byDefault.SSEAlgorithm):
		return nil, malformedXML()
	case rule.BlockedEncryptionTypes != nil:
		return nil, service.Refuse("NotImplemented", "The simulated AWS does not model blocked types of encryption")
	case byDefault.SSEAlgorithm == types.ServerSideEncryptionAes256 && byDefault.KMSMasterKeyID != nil:
		return nil, invalidArgument("a KMSMasterKeyID is not applicable if the default sse algorithm is not aws:kms or aws:kms:dsse")
	}
	b.Encryption, b.BucketKey = byDefault, aws.ToBool(rule.BucketKeyEnabled)
	return &s3.PutBucketEncryptionOutput{}, nil
}

func (s *Service) deleteBucketEncryption(_ *service.Call, b *bucket, _ *s3.DeleteBucketEncryptionInput) (*s3.DeleteBucketEncryptionOutput, error) {
	b.Encryption, b.BucketKey = nil, false
	return &s3.DeleteBucketEncryptionOutput{}, nil
}

func (s *Service) getBucketLifecycle(_ *service.Call, b *bucket, _ *s3.GetBucketLifecycleConfigurationInput) (*s3.GetBucketLifecycleConfigurationOutput, error) {
	if len(b.Lifecycle) == 0 {
		return nil, unset("NoSuchLifecycleConfiguration", "The lifecycle configuration does not exist")
	}
	return &s3.GetBucketLifecycleConfigurationOutput{
		Rules:                              b.Lifecycle,
		TransitionDefaultMinimumObjectSize: types.TransitionDefaultMinimumObjectSizeAllStorageClasses128k,
	}, nil
}

func (s *Service) putBucketLifecycle(_ *service.Call, b *bucket, in *s3.PutBucketLifecycleConfigurationInput) (*s3.PutBucketLifecycleConfigurationOutput, error) {
	if in.LifecycleConfiguration == nil || len(in.LifecycleConfiguration.Rules) == 0 {
		return nil, malformedXML()
	}
	seen := map[string]bool{}
	for i, rule := range in.LifecycleConfiguration.Rules {
		if rule.ID == nil { // S3 gives it one
			rule.ID = aws.String("rule-" + string(rune('a'+i%26)))
			in.LifecycleConfiguration.Rules[i] = rule
		}
		if !slices.Contains(rule.Status.Values(), rule.Status) {
			return nil, malformedXML()
		}
		if seen[*rule.ID] {
			return nil, invalidArgument("Rule ID must be unique. Found same ID for more than one rule")
		}
		seen[*rule.ID] = true
		if rule.Expiration == nil && rule.NoncurrentVersionExpiration == nil && rule.AbortIncompleteMultipartUpload == nil &&
			len(rule.Transitions) == 0 && len(rule.NoncurrentVersionTransitions) == 0 {
			return nil, invalidRequest("At least one action needs to be specified in a rule")
		}
	}
	b.Lifecycle = in.LifecycleConfiguration.Rules
	return &s3.PutBucketLifecycleConfigurationOutput{}, nil
}

func (s *Service) deleteBucketLifecycle(_ *service.Call, b *bucket, _ *s3.DeleteBucketLifecycleInput) (*s3.DeleteBucketLifecycleOutput, error) {
	b.Lifecycle = nil
	return &s3.DeleteBucketLifecycleOutput{}, nil
}

func (s *Service) getBucketLogging(_ *service.Call, b *bucket, _ *s3.GetBucketLoggingInput) (*s3.GetBucketLoggingOutput, error) {
	return &s3.GetBucketLoggingOutput{LoggingEnabled: b.Logging}, nil
}

func (s *Service) putBucketLogging(_ *service.Call, b *bucket, in *s3.PutBucketLoggingInput) (*s3.PutBucketLoggingOutput, error) {
	if in.BucketLoggingStatus == nil {
		return nil, malformedXML()
	}
	wanted := in.BucketLoggingStatus.LoggingEnabled
	if wanted != nil {
		target := s.state.Buckets[aws.ToString(wanted.TargetBucket)]
		if target == nil || target.Region != b.Region {
			return nil, service.Refuse("InvalidTargetBucketForLogging", "The target bucket for logging does not exist")
		}
	}
	b.Logging = wanted
	return &s3.PutBucketLoggingOutput{}, nil
}

func (s *Service) getBucketNotification(_ *service.Call, b *bucket, _ *s3.GetBucketNotificationConfigurationInput) (*s3.GetBucketNotificationConfigurationOutput, error) {
	out := &s3.GetBucketNotificationConfigurationOutput{}
	if b.EventBridge {
		out.EventBridgeConfiguration = &types.EventBridgeConfiguration{}
	}
	return out, nil
}

// putBucketNotification knows of no queue, topic or function in the account,
// so S3 could reach none of them.
func (s *Service) putBucketNotification(_ *service.Call, b *bucket, in *s3.PutBucketNotificationConfigurationInput) (*s3.PutBucketNotificationConfigurationOutput, error) {
	wanted := in.NotificationConfiguration
	if wanted == nil {
		return nil, malformedXML()
	}
	if len(wanted.QueueConfigurations)+len(wanted.TopicConfigurations)+len(wanted.LambdaFunctionConfigurations) > 0 {
		return nil, invalidArgument("Unable to validate the following destination configurations")
	}
	b.EventBridge = wanted.EventBridgeConfiguration != nil
	return &s3.PutBucketNotificationConfigurationOutput{}, nil
}

func (s *Service) getBucketRequestPayment(_ *service.Call, b *bucket, _ *s3.GetBucketRequestPaymentInput) (*s3.GetBucketRequestPaymentOutput, error) {
	payer := types.PayerBucketOwner
	if b.RequesterPays {
		payer = types.PayerRequester
	}
	return &s3.GetBucketRequestPaymentOutput{Payer: payer}, nil
}

func (s *Service) putBucketRequestPayment(_ *service.Call, b *bucket, in *s3.PutBucketRequestPaymentInput) (*s3.PutBucketRequestPaymentOutput, error) {
	if in.RequestPaymentConfiguration == nil || !slices.Contains(in.RequestPaymentConfiguration.Payer.Values(), in.RequestPaymentConfiguration.Payer) {
		return nil, malformedXML()
	}
	b.RequesterPays = in.RequestPaymentConfiguration.Payer == types.PayerRequester
	return &s3.PutBucketRequestPaymentOutput{}, nil
}

func (s *Service) getBucketTagging(_ *service.Call, b *bucket, _ *s3.GetBucketTaggingInput) (*s3.GetBucketTaggingOutput, error) {
	if len(b.Tags) == 0 {
		return nil, unset("NoSuchTagSet", "The TagSet does not exist")
	}
	return &s3.GetBucketTaggingOutput{TagSet: tagSet(b.Tags)}, nil
}

func (s *Service) putBucketTagging(_ *service.Call, b *bucket, in *s3.PutBucketTaggingInput) (*s3.PutBucketTaggingOutput, error) {
	if in.Tagging == nil {
		return nil, malformedXML()
	}
	tags, err := tagMap(in.Tagging.TagSet)
	if err != nil {
		return nil, err
	}
	b.Tags = tags
	return &s3.PutBucketTaggingOutput{}, nil
}

func (s *Service) deleteBucketTagging(_ *service.Call, b *bucket, _ *s3.DeleteBucketTaggingInput) (*s3.DeleteBucketTaggingOutput, error) {
	b.Tags = nil
	return &s3.DeleteBucketTaggingOutput{}, nil
}

func (s *Service) getBucketWebsite(_ *service.Call, b *bucket, _ *s3.GetBucketWebsiteInput) (*s3.GetBucketWebsiteOutput, error) {
	if b.Website == nil {
		return nil, unset("NoSuchWebsiteConfiguration", "The specified bucket does not have a website configuration")
	}
	return &s3.GetBucketWebsiteOutput{
		ErrorDocument: b.Website.ErrorDocument, IndexDocument: b.Website.IndexDocument,
		RedirectAllRequestsTo: b.Website.RedirectAllRequestsTo, RoutingRules: b.Website.RoutingRules,
	}, nil
}

func (s *Service) putBucketWebsite(_ *service.Call, b *bucket, in *s3.PutBucketWebsiteInput) (*s3.PutBucketWebsiteOutput, error) {
	wanted := in.WebsiteConfiguration
	if wanted == nil || (wanted.IndexDocument == nil) == (wanted.RedirectAllRequestsTo == nil) {
		return nil, malformedXML()
	}
	b.Website = wanted
	return &s3.PutBucketWebsiteOutput{}, nil
}

func (s *Service) deleteBucketWebsite(_ *service.Call, b *bucket, _ *s3.DeleteBucketWebsiteInput) (*s3.DeleteBucketWebsiteOutput, error) {
	b.Website = nil
	return &s3.DeleteBucketWebsiteOutput{}, nil
}
