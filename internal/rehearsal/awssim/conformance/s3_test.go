package conformance_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/google/go-cmp/cmp"
)

func (a *account) bucket(name, region string) *s3.Client {
	a.t.Helper()
	client := a.s3In(region)
	must[*s3.CreateBucketOutput](a.t)(client.CreateBucket(a.t.Context(), &s3.CreateBucketInput{
		Bucket: &name, CreateBucketConfiguration: &types.CreateBucketConfiguration{LocationConstraint: types.BucketLocationConstraint(region)},
	}))
	return client
}

func (a *account) put(client *s3.Client, bucket, key, content string) *s3.PutObjectOutput {
	a.t.Helper()
	return must[*s3.PutObjectOutput](a.t)(client.PutObject(a.t.Context(), &s3.PutObjectInput{
		Bucket: &bucket, Key: &key, Body: strings.NewReader(content),
	}))
}

func (a *account) content(client *s3.Client, in *s3.GetObjectInput) string {
	a.t.Helper()
	out := must[*s3.GetObjectOutput](a.t)(client.GetObject(a.t.Context(), in))
	data, err := io.ReadAll(out.Body)
	if err != nil {
		a.t.Fatal(err)
	}
	return string(data)
}

func TestBucketNamesAndRegions(t *testing.T) {
	a := newAccount(t)
	ctx := t.Context()
	client := a.bucket("acme-x", home)

	for _, test := range []struct{ name, signed, constraint, code string }{
		{"acme-x", home, home, "BucketAlreadyOwnedByYou"},
		{"acme-x", "us-east-1", "", "BucketAlreadyOwnedByYou"},
		{"taken-by-another", home, home, "BucketAlreadyExists"},
		{"Acme", home, home, "InvalidBucketName"},
		{"10.0.0.1", home, home, "InvalidBucketName"},
		{"acme-y", home, "", "IllegalLocationConstraintException"},
		{"acme-y", home, "eu-west-1", "IllegalLocationConstraintException"},
		{"acme-y", "us-east-1", "mars-1", "InvalidLocationConstraint"},
	} {
		in := &s3.CreateBucketInput{Bucket: &test.name}
		if test.constraint != "" {
			in.CreateBucketConfiguration = &types.CreateBucketConfiguration{LocationConstraint: types.BucketLocationConstraint(test.constraint)}
		}
		// The SDK checks names before it sends them when it makes hosts of them.
		_, err := a.s3In(test.signed).CreateBucket(ctx, in, func(o *s3.Options) { o.UsePathStyle = true })
		refused(t, test.code, err)
	}

	_, err := a.s3In("eu-west-1").GetBucketTagging(ctx, &s3.GetBucketTaggingInput{Bucket: aws.String("acme-x")})
	refused(t, "PermanentRedirect", err)
	_, err = a.s3In("us-east-1").GetBucketTagging(ctx, &s3.GetBucketTaggingInput{Bucket: aws.String("acme-x")})
	refused(t, "AuthorizationHeaderMalformed", err)
	_, err = a.s3In("eu-west-1").HeadBucket(ctx, &s3.HeadBucketInput{Bucket: aws.String("acme-x")})
	var response *awshttp.ResponseError
	if !errors.As(err, &response) || response.HTTPStatusCode() != http.StatusMovedPermanently ||
		response.Response.Header.Get("X-Amz-Bucket-Region") != home {
		t.Errorf("HeadBucket in another region: %v", err)
	}
	where := must[*s3.GetBucketLocationOutput](t)(a.s3In("us-east-1").GetBucketLocation(ctx, &s3.GetBucketLocationInput{Bucket: aws.String("acme-x")}))
	if where.LocationConstraint != home {
		t.Errorf("the bucket is in %q", where.LocationConstraint)
	}
	head := must[*s3.HeadBucketOutput](t)(client.HeadBucket(ctx, &s3.HeadBucketInput{Bucket: aws.String("acme-x")}))
	if aws.ToString(head.BucketRegion) != home {
		t.Errorf("HeadBucket says %q", aws.ToString(head.BucketRegion))
	}
	_, err = client.HeadBucket(ctx, &s3.HeadBucketInput{Bucket: aws.String("no-such-bucket")})
	refused(t, "NotFound", err)
	_, err = client.GetBucketTagging(ctx, &s3.GetBucketTaggingInput{Bucket: aws.String("no-such-bucket")})
	refused(t, "NoSuchBucket", err)
	_, err = client.GetBucketTagging(ctx, &s3.GetBucketTaggingInput{Bucket: aws.String("acme-x"), ExpectedBucketOwner: aws.String("999988887777")})
	refused(t, "AccessDenied", err)

	// In us-east-1 a bucket can be made twice.
	for range 2 {
		must[*s3.CreateBucketOutput](t)(a.s3In("us-east-1").CreateBucket(ctx, &s3.CreateBucketInput{Bucket: aws.String("acme-virginia")}))
	}
	var pages [][]string
	for p := s3.NewListBucketsPaginator(client, &s3.ListBucketsInput{MaxBuckets: aws.Int32(1)}); p.HasMorePages(); {
		out := must[*s3.ListBucketsOutput](t)(p.NextPage(ctx))
		var names []string
		for _, b := range out.Buckets {
			names = append(names, *b.Name+" in "+*b.BucketRegion)
		}
		pages = append(pages, names)
	}
	if diff := cmp.Diff([][]string{{"acme-virginia in us-east-1"}, {"acme-x in " + home}}, pages); diff != "" {
		t.Errorf("pages of buckets (-want +got):\n%s", diff)
	}
}

// TestBucketConfiguration reads the 21 settings of a new bucket that
// controllers read, and writes those that the estate declares.
func TestBucketConfiguration(t *testing.T) {
	a := newAccount(t)
	ctx, name := t.Context(), aws.String("acme-x")
	client := a.bucket(*name, home)

	for _, unset := range []struct {
		code string
		call func() error
	}{
		{"NoSuchCORSConfiguration", func() error { _, err := client.GetBucketCors(ctx, &s3.GetBucketCorsInput{Bucket: name}); return err }},
		{"NoSuchLifecycleConfiguration", func() error {
			_, err := client.GetBucketLifecycleConfiguration(ctx, &s3.GetBucketLifecycleConfigurationInput{Bucket: name})
			return err
		}},
		{"NoSuchBucketPolicy", func() error {
			_, err := client.GetBucketPolicy(ctx, &s3.GetBucketPolicyInput{Bucket: name})
			return err
		}},
		{"ReplicationConfigurationNotFoundError", func() error {
			_, err := client.GetBucketReplication(ctx, &s3.GetBucketReplicationInput{Bucket: name})
			return err
		}},
		{"NoSuchTagSet", func() error {
			_, err := client.GetBucketTagging(ctx, &s3.GetBucketTaggingInput{Bucket: name})
			return err
		}},
		{"NoSuchWebsiteConfiguration", func() error {
			_, err := client.GetBucketWebsite(ctx, &s3.GetBucketWebsiteInput{Bucket: name})
			return err
		}},
		{"ObjectLockConfigurationNotFoundError", func() error {
			_, err := client.GetObjectLockConfiguration(ctx, &s3.GetObjectLockConfigurationInput{Bucket: name})
			return err
		}},
		{"success", func() error { _, err := client.GetBucketAbac(ctx, &s3.GetBucketAbacInput{Bucket: name}); return err }},
		{"success", func() error {
			_, err := client.GetBucketAccelerateConfiguration(ctx, &s3.GetBucketAccelerateConfigurationInput{Bucket: name})
			return err
		}},
		{"success", func() error {
			_, err := client.ListBucketAnalyticsConfigurations(ctx, &s3.ListBucketAnalyticsConfigurationsInput{Bucket: name})
			return err
		}},
		{"success", func() error {
			_, err := client.ListBucketIntelligentTieringConfigurations(ctx, &s3.ListBucketIntelligentTieringConfigurationsInput{Bucket: name})
			return err
		}},
		{"success", func() error {
			_, err := client.ListBucketInventoryConfigurations(ctx, &s3.ListBucketInventoryConfigurationsInput{Bucket: name})
			return err
		}},
		{"success", func() error {
			_, err := client.ListBucketMetricsConfigurations(ctx, &s3.ListBucketMetricsConfigurationsInput{Bucket: name})
			return err
		}},
		{"success", func() error {
			_, err := client.GetBucketLogging(ctx, &s3.GetBucketLoggingInput{Bucket: name})
			return err
		}},
		{"success", func() error {
			_, err := client.GetBucketNotificationConfiguration(ctx, &s3.GetBucketNotificationConfigurationInput{Bucket: name})
			return err
		}},
		{"success", func() error {
			_, err := client.GetBucketRequestPayment(ctx, &s3.GetBucketRequestPaymentInput{Bucket: name})
			return err
		}},
		{"success", func() error {
			_, err := client.GetBucketVersioning(ctx, &s3.GetBucketVersioningInput{Bucket: name})
			return err
		}},
	} {
		refused(t, unset.code, unset.call())
	}

	acl := must[*s3.GetBucketAclOutput](t)(client.GetBucketAcl(ctx, &s3.GetBucketAclInput{Bucket: name}))
	if len(acl.Grants) != 1 || acl.Grants[0].Grantee.Type != types.TypeCanonicalUser || aws.ToString(acl.Grants[0].Grantee.ID) != aws.ToString(acl.Owner.ID) ||
		aws.ToString(acl.Owner.ID) == "" {
		t.Errorf("the access control list of a new bucket is %+v, owner %+v", acl.Grants, acl.Owner)
	}
	encryption := must[*s3.GetBucketEncryptionOutput](t)(client.GetBucketEncryption(ctx, &s3.GetBucketEncryptionInput{Bucket: name})).ServerSideEncryptionConfiguration.Rules[0]
	if encryption.ApplyServerSideEncryptionByDefault.SSEAlgorithm != types.ServerSideEncryptionAes256 || aws.ToBool(encryption.BucketKeyEnabled) {
		t.Errorf("a new bucket is encrypted by %+v", encryption)
	}
	public := must[*s3.GetPublicAccessBlockOutput](t)(client.GetPublicAccessBlock(ctx, &s3.GetPublicAccessBlockInput{Bucket: name})).PublicAccessBlockConfiguration
	if !aws.ToBool(public.BlockPublicAcls) || !aws.ToBool(public.BlockPublicPolicy) || !aws.ToBool(public.IgnorePublicAcls) || !aws.ToBool(public.RestrictPublicBuckets) {
		t.Errorf("a new bucket blocks public access by %+v", public)
	}
	ownership := must[*s3.GetBucketOwnershipControlsOutput](t)(client.GetBucketOwnershipControls(ctx, &s3.GetBucketOwnershipControlsInput{Bucket: name}))
	if ownership.OwnershipControls.Rules[0].ObjectOwnership != types.ObjectOwnershipBucketOwnerEnforced {
		t.Errorf("a new bucket has ownership %+v", ownership.OwnershipControls)
	}

	_, err := client.PutBucketAcl(ctx, &s3.PutBucketAclInput{Bucket: name, ACL: types.BucketCannedACLPrivate})
	refused(t, "AccessControlListNotSupported", err)
	tlsOnly := `{"Version":"2012-10-17","Statement":[{"Effect":"Deny","Principal":"*","Action":"s3:*",` +
		`"Resource":["arn:aws:s3:::acme-x","arn:aws:s3:::acme-x/*"],"Condition":{"Bool":{"aws:SecureTransport":"false"}}}]}`
	must[*s3.PutBucketPolicyOutput](t)(client.PutBucketPolicy(ctx, &s3.PutBucketPolicyInput{Bucket: name, Policy: &tlsOnly}))
	if got := must[*s3.GetBucketPolicyOutput](t)(client.GetBucketPolicy(ctx, &s3.GetBucketPolicyInput{Bucket: name})); *got.Policy != tlsOnly {
		t.Errorf("the policy came back as %s", *got.Policy)
	}
	for policy, code := range map[string]string{
		"{": "MalformedPolicy",
		`{"Statement":[{"Effect":"Allow","Principal":"*","Action":"s3:GetObject","Resource":"arn:aws:s3:::other/*"}]}`:  "MalformedPolicy",
		`{"Statement":[{"Effect":"Allow","Principal":"*","Action":"s3:GetObject","Resource":"arn:aws:s3:::acme-x/*"}]}`: "AccessDenied",
	} {
		_, err := client.PutBucketPolicy(ctx, &s3.PutBucketPolicyInput{Bucket: name, Policy: &policy})
		refused(t, code, err)
	}
	tags := []types.Tag{{Key: aws.String("krops/run"), Value: aws.String("17")}, {Key: aws.String("team"), Value: aws.String("a & b <c>")}}
	must[*s3.PutBucketTaggingOutput](t)(client.PutBucketTagging(ctx, &s3.PutBucketTaggingInput{Bucket: name, Tagging: &types.Tagging{TagSet: tags}}))
	got := must[*s3.GetBucketTaggingOutput](t)(client.GetBucketTagging(ctx, &s3.GetBucketTaggingInput{Bucket: name}))
	if diff := cmp.Diff(tags, got.TagSet, cmp.AllowUnexported(types.Tag{}), cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".noSmithyDocumentSerde" }, cmp.Ignore())); diff != "" {
		t.Errorf("tags (-want +got):\n%s", diff)
	}
	_, err = client.PutBucketReplication(ctx, &s3.PutBucketReplicationInput{Bucket: name, ReplicationConfiguration: &types.ReplicationConfiguration{
		Role: aws.String("arn:aws:iam::111122223333:role/r"), Rules: []types.ReplicationRule{{
			Status: types.ReplicationRuleStatusEnabled, Destination: &types.Destination{Bucket: aws.String("arn:aws:s3:::acme-y")},
		}},
	}})
	refused(t, "InvalidRequest", err)
	lifecycle := []types.LifecycleRule{{
		ID: aws.String("old"), Status: types.ExpirationStatusEnabled,
		Filter:                      &types.LifecycleRuleFilter{And: &types.LifecycleRuleAndOperator{Prefix: aws.String("logs/"), Tags: []types.Tag{{Key: aws.String("a"), Value: aws.String("b")}}}},
		NoncurrentVersionExpiration: &types.NoncurrentVersionExpiration{NoncurrentDays: aws.Int32(30)},
		Transitions:                 []types.Transition{{Days: aws.Int32(30), StorageClass: types.TransitionStorageClassGlacier}, {Days: aws.Int32(90), StorageClass: types.TransitionStorageClassDeepArchive}},
	}}
	must[*s3.PutBucketLifecycleConfigurationOutput](t)(client.PutBucketLifecycleConfiguration(ctx, &s3.PutBucketLifecycleConfigurationInput{
		Bucket: name, LifecycleConfiguration: &types.BucketLifecycleConfiguration{Rules: lifecycle},
	}))
	a.Restart() // settings are part of the saved account
	client = a.s3In(home)
	kept := must[*s3.GetBucketLifecycleConfigurationOutput](t)(client.GetBucketLifecycleConfiguration(ctx, &s3.GetBucketLifecycleConfigurationInput{Bucket: name})).Rules
	if len(kept) != 1 || len(kept[0].Transitions) != 2 || *kept[0].Filter.And.Tags[0].Value != "b" || *kept[0].NoncurrentVersionExpiration.NoncurrentDays != 30 {
		t.Errorf("the lifecycle rules came back as %+v", kept)
	}
}

// TestVersionedBucket is the teardown of a versioned bucket: versions and
// delete markers keep it from being deleted, and a batch can fail in part.
func TestVersionedBucket(t *testing.T) {
	a := newAccount(t)
	ctx, name := t.Context(), aws.String("acme-x")
	client := a.s3In(home)
	must[*s3.CreateBucketOutput](t)(client.CreateBucket(ctx, &s3.CreateBucketInput{
		Bucket: name, ObjectLockEnabledForBucket: aws.Bool(true),
		CreateBucketConfiguration: &types.CreateBucketConfiguration{LocationConstraint: home},
	}))
	var ids []string
	for _, key := range []string{"a", "b", "c"} {
		for _, content := range []string{"first", "second"} {
			ids = append(ids, *a.put(client, *name, key, content+" "+key).VersionId)
		}
	}
	if got := a.content(client, &s3.GetObjectInput{Bucket: name, Key: aws.String("b"), VersionId: &ids[2]}); got != "first b" {
		t.Errorf("the first version of b is %q", got)
	}
	marker := must[*s3.DeleteObjectOutput](t)(client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: name, Key: aws.String("c")}))
	if !aws.ToBool(marker.DeleteMarker) || marker.VersionId == nil {
		t.Errorf("deleting answered %+v", marker)
	}
	_, err := client.GetObject(ctx, &s3.GetObjectInput{Bucket: name, Key: aws.String("c")})
	refused(t, "NoSuchKey", err)
	_, err = client.GetObject(ctx, &s3.GetObjectInput{Bucket: name, Key: aws.String("c"), VersionId: marker.VersionId})
	refused(t, "MethodNotAllowed", err)
	_, err = client.DeleteBucket(ctx, &s3.DeleteBucketInput{Bucket: name})
	refused(t, "BucketNotEmpty", err)
	if listed := must[*s3.ListObjectsV2Output](t)(client.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: name})); len(listed.Contents) != 2 || *listed.KeyCount != 2 {
		t.Errorf("current objects: %+v", listed.Contents)
	}
	must[*s3.PutObjectLegalHoldOutput](t)(client.PutObjectLegalHold(ctx, &s3.PutObjectLegalHoldInput{
		Bucket: name, Key: aws.String("a"), VersionId: &ids[0], LegalHold: &types.ObjectLockLegalHold{Status: types.ObjectLockLegalHoldStatusOn},
	}))

	versions, markers := 0, 0
	var all []types.ObjectIdentifier
	for p := s3.NewListObjectVersionsPaginator(client, &s3.ListObjectVersionsInput{Bucket: name, MaxKeys: aws.Int32(3)}); p.HasMorePages(); {
		page := must[*s3.ListObjectVersionsOutput](t)(p.NextPage(ctx))
		versions, markers = versions+len(page.Versions), markers+len(page.DeleteMarkers)
		for _, v := range page.Versions {
			all = append(all, types.ObjectIdentifier{Key: v.Key, VersionId: v.VersionId})
		}
		for _, m := range page.DeleteMarkers {
			all = append(all, types.ObjectIdentifier{Key: m.Key, VersionId: m.VersionId})
		}
	}
	if versions != 6 || markers != 1 {
		t.Fatalf("%d versions and %d markers are listed, want 6 and 1", versions, markers)
	}
	batch := must[*s3.DeleteObjectsOutput](t)(client.DeleteObjects(ctx, &s3.DeleteObjectsInput{Bucket: name, Delete: &types.Delete{Objects: all}}))
	if len(batch.Deleted) != 6 || len(batch.Errors) != 1 || *batch.Errors[0].Code != "AccessDenied" || *batch.Errors[0].VersionId != ids[0] {
		t.Errorf("the batch deleted %d and failed with %+v", len(batch.Deleted), batch.Errors)
	}
	_, err = client.DeleteBucket(ctx, &s3.DeleteBucketInput{Bucket: name})
	refused(t, "BucketNotEmpty", err)
	must[*s3.PutObjectLegalHoldOutput](t)(client.PutObjectLegalHold(ctx, &s3.PutObjectLegalHoldInput{
		Bucket: name, Key: aws.String("a"), VersionId: &ids[0], LegalHold: &types.ObjectLockLegalHold{Status: types.ObjectLockLegalHoldStatusOff},
	}))
	must[*s3.DeleteObjectOutput](t)(client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: name, Key: aws.String("a"), VersionId: &ids[0]}))
	must[*s3.DeleteBucketOutput](t)(client.DeleteBucket(ctx, &s3.DeleteBucketInput{Bucket: name}))
	a.NothingLeft()
}
