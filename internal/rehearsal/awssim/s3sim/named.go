package s3sim

import (
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// namedSettingOperations are those on settings of which a bucket can have
// several, by id.
func (s *Service) namedSettingOperations() []service.Operation {
	return slices.Concat(s.analyticsOperations(), s.inventoryOperations(), s.metricsOperations(), s.tieringOperations())
}

// byID returns the entries in the order of their ids. AWS gives them out in
// pages of a hundred, more than any bucket here has.
func byID[T any](entries map[string]T) []T {
	var all []T
	for _, id := range slices.Sorted(maps.Keys(entries)) {
		all = append(all, entries[id])
	}
	return all
}

func setByID[T any](entries *map[string]T, id, inside *string, value *T) error {
	if value == nil || aws.ToString(id) == "" || aws.ToString(id) != aws.ToString(inside) {
		return malformedXML()
	}
	if *entries == nil {
		*entries = map[string]T{}
	}
	(*entries)[*id] = *value
	return nil
}

func removeByID[T any](entries map[string]T, id *string) error {
	if _, ok := entries[aws.ToString(id)]; !ok {
		return noSuchConfiguration()
	}
	delete(entries, *id)
	return nil
}

func getByID[T any](entries map[string]T, id *string) (*T, error) {
	value, ok := entries[aws.ToString(id)]
	if !ok {
		return nil, noSuchConfiguration()
	}
	return &value, nil
}

func noSuchConfiguration() error {
	return unset("NoSuchConfiguration", "The specified configuration does not exist.")
}

func firstPage(token *string) error {
	if token != nil {
		return invalidArgument("The continuation token provided is incorrect")
	}
	return nil
}

func (s *Service) analyticsOperations() []service.Operation {
	return []service.Operation{
		read(s, "ListBucketAnalyticsConfigurations", func(_ *service.Call, b *bucket, in *s3.ListBucketAnalyticsConfigurationsInput) (*s3.ListBucketAnalyticsConfigurationsOutput, error) {
			return &s3.ListBucketAnalyticsConfigurationsOutput{AnalyticsConfigurationList: byID(b.Analytics), IsTruncated: aws.Bool(false)}, firstPage(in.ContinuationToken)
		}, "ContinuationToken"),
		read(s, "GetBucketAnalyticsConfiguration", func(_ *service.Call, b *bucket, in *s3.GetBucketAnalyticsConfigurationInput) (*s3.GetBucketAnalyticsConfigurationOutput, error) {
			found, err := getByID(b.Analytics, in.Id)
			return &s3.GetBucketAnalyticsConfigurationOutput{AnalyticsConfiguration: found}, err
		}, "Id"),
		write(s, "PutBucketAnalyticsConfiguration", func(_ *service.Call, b *bucket, in *s3.PutBucketAnalyticsConfigurationInput) (*s3.PutBucketAnalyticsConfigurationOutput, error) {
			if in.AnalyticsConfiguration == nil {
				return nil, malformedXML()
			}
			return &s3.PutBucketAnalyticsConfigurationOutput{}, setByID(&b.Analytics, in.Id, in.AnalyticsConfiguration.Id, in.AnalyticsConfiguration)
		}, "Id", "AnalyticsConfiguration"),
		write(s, "DeleteBucketAnalyticsConfiguration", func(_ *service.Call, b *bucket, in *s3.DeleteBucketAnalyticsConfigurationInput) (*s3.DeleteBucketAnalyticsConfigurationOutput, error) {
			return &s3.DeleteBucketAnalyticsConfigurationOutput{}, removeByID(b.Analytics, in.Id)
		}, "Id"),
	}
}

func (s *Service) inventoryOperations() []service.Operation {
	return []service.Operation{
		read(s, "ListBucketInventoryConfigurations", func(_ *service.Call, b *bucket, in *s3.ListBucketInventoryConfigurationsInput) (*s3.ListBucketInventoryConfigurationsOutput, error) {
			return &s3.ListBucketInventoryConfigurationsOutput{InventoryConfigurationList: byID(b.Inventories), IsTruncated: aws.Bool(false)}, firstPage(in.ContinuationToken)
		}, "ContinuationToken"),
		read(s, "GetBucketInventoryConfiguration", func(_ *service.Call, b *bucket, in *s3.GetBucketInventoryConfigurationInput) (*s3.GetBucketInventoryConfigurationOutput, error) {
			found, err := getByID(b.Inventories, in.Id)
			return &s3.GetBucketInventoryConfigurationOutput{InventoryConfiguration: found}, err
		}, "Id"),
		write(s, "PutBucketInventoryConfiguration", func(_ *service.Call, b *bucket, in *s3.PutBucketInventoryConfigurationInput) (*s3.PutBucketInventoryConfigurationOutput, error) {
			if in.InventoryConfiguration == nil {
				return nil, malformedXML()
			}
			return &s3.PutBucketInventoryConfigurationOutput{}, setByID(&b.Inventories, in.Id, in.InventoryConfiguration.Id, in.InventoryConfiguration)
		}, "Id", "InventoryConfiguration"),
		write(s, "DeleteBucketInventoryConfiguration", func(_ *service.Call, b *bucket, in *s3.DeleteBucketInventoryConfigurationInput) (*s3.DeleteBucketInventoryConfigurationOutput, error) {
			return &s3.DeleteBucketInventoryConfigurationOutput{}, removeByID(b.Inventories, in.Id)
		}, "Id"),
	}
}

func (s *Service) metricsOperations() []service.Operation {
	return []service.Operation{
		read(s, "ListBucketMetricsConfigurations", func(_ *service.Call, b *bucket, in *s3.ListBucketMetricsConfigurationsInput) (*s3.ListBucketMetricsConfigurationsOutput, error) {
			return &s3.ListBucketMetricsConfigurationsOutput{MetricsConfigurationList: byID(b.Metrics), IsTruncated: aws.Bool(false)}, firstPage(in.ContinuationToken)
		}, "ContinuationToken"),
		read(s, "GetBucketMetricsConfiguration", func(_ *service.Call, b *bucket, in *s3.GetBucketMetricsConfigurationInput) (*s3.GetBucketMetricsConfigurationOutput, error) {
			found, err := getByID(b.Metrics, in.Id)
			return &s3.GetBucketMetricsConfigurationOutput{MetricsConfiguration: found}, err
		}, "Id"),
		write(s, "PutBucketMetricsConfiguration", func(_ *service.Call, b *bucket, in *s3.PutBucketMetricsConfigurationInput) (*s3.PutBucketMetricsConfigurationOutput, error) {
			if in.MetricsConfiguration == nil {
				return nil, malformedXML()
			}
			return &s3.PutBucketMetricsConfigurationOutput{}, setByID(&b.Metrics, in.Id, in.MetricsConfiguration.Id, in.MetricsConfiguration)
		}, "Id", "MetricsConfiguration"),
		write(s, "DeleteBucketMetricsConfiguration", func(_ *service.Call, b *bucket, in *s3.DeleteBucketMetricsConfigurationInput) (*s3.DeleteBucketMetricsConfigurationOutput, error) {
			return &s3.DeleteBucketMetricsConfigurationOutput{}, removeByID(b.Metrics, in.Id)
		}, "Id"),
	}
}

func (s *Service) tieringOperations() []service.Operation {
	return []service.Operation{
		read(s, "ListBucketIntelligentTieringConfigurations", func(_ *service.Call, b *bucket, in *s3.ListBucketIntelligentTieringConfigurationsInput) (*s3.ListBucketIntelligentTieringConfigurationsOutput, error) {
			return &s3.ListBucketIntelligentTieringConfigurationsOutput{IntelligentTieringConfigurationList: byID(b.Tierings), IsTruncated: aws.Bool(false)}, firstPage(in.ContinuationToken)
		}, "ContinuationToken"),
		read(s, "GetBucketIntelligentTieringConfiguration", func(_ *service.Call, b *bucket, in *s3.GetBucketIntelligentTieringConfigurationInput) (*s3.GetBucketIntelligentTieringConfigurationOutput, error) {
			found, err := getByID(b.Tierings, in.Id)
			return &s3.GetBucketIntelligentTieringConfigurationOutput{IntelligentTieringConfiguration: found}, err
		}, "Id"),
		write(s, "PutBucketIntelligentTieringConfiguration", func(_ *service.Call, b *bucket, in *s3.PutBucketIntelligentTieringConfigurationInput) (*s3.PutBucketIntelligentTieringConfigurationOutput, error) {
			if in.IntelligentTieringConfiguration == nil {
				return nil, malformedXML()
			}
			return &s3.PutBucketIntelligentTieringConfigurationOutput{}, setByID(&b.Tierings, in.Id, in.IntelligentTieringConfiguration.Id, in.IntelligentTieringConfiguration)
		}, "Id", "IntelligentTieringConfiguration"),
		write(s, "DeleteBucketIntelligentTieringConfiguration", func(_ *service.Call, b *bucket, in *s3.DeleteBucketIntelligentTieringConfigurationInput) (*s3.DeleteBucketIntelligentTieringConfigurationOutput, error) {
			return &s3.DeleteBucketIntelligentTieringConfigurationOutput{}, removeByID(b.Tierings, in.Id)
		}, "Id"),
	}
}
