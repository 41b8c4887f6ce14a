package s3sim

import (
	"encoding/base64"
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// globalRegion is the region of the global endpoint.
const globalRegion = "us-east-1"

type bucket struct {
	Name, Region string
	CreatedAt    time.Time
	Tags         map[string]string `json:",omitempty"`
	settings
	Objects map[string]*object `json:",omitempty"` // by key
	Uploads map[string]*upload `json:",omitempty"` // by id
}

func (s *Service) bucketOperations() []service.Operation {
	return []service.Operation{
		service.Write("CreateBucket", s.createBucket, "Bucket", "CreateBucketConfiguration", "ObjectOwnership", "ObjectLockEnabledForBucket", "ACL"),
		service.Read("ListBuckets", s.listBuckets, "BucketRegion", "Prefix", "MaxBuckets", "ContinuationToken"),
		read(s, "HeadBucket", s.headBucket),
		service.Read("GetBucketLocation", s.getBucketLocation, "Bucket", "ExpectedBucketOwner"),
		write(s, "DeleteBucket", s.deleteBucket),
	}
}

// located gives a handler the bucket that the call is for.
func located[In, Out any](s *Service, handle func(*service.Call, *bucket, *In) (*Out, error)) func(*service.Call, *In) (*Out, error) {
	return func(c *service.Call, in *In) (*Out, error) {
		v := reflect.ValueOf(in).Elem()
		name, _ := v.FieldByName("Bucket").Interface().(*string)
		owner, _ := v.FieldByName("ExpectedBucketOwner").Interface().(*string)
		b, err := s.bucket(c, aws.ToString(name), owner)
		if err != nil {
			return nil, err
		}
		return handle(c, b, in)
	}
}

// The fields that every operation on a bucket honours.
var onBucket = []string{"Bucket", "ExpectedBucketOwner"}

func read[In, Out any](s *Service, name string, handle func(*service.Call, *bucket, *In) (*Out, error), fields ...string) service.Operation {
	return service.Read(name, located(s, handle), slices.Concat(onBucket, fields)...)
}

// write also honours what says how the body is sent, which the front checks.
func write[In, Out any](s *Service, name string, handle func(*service.Call, *bucket, *In) (*Out, error), fields ...string) service.Operation {
	all := slices.Concat(onBucket, fields)
	for _, transport := range []string{"ContentMD5", "ChecksumAlgorithm"} {
		if _, has := reflect.TypeFor[In]().FieldByName(transport); has && !slices.Contains(all, transport) {
			all = append(all, transport)
		}
	}
	return service.Write(name, located(s, handle), all...)
}

// bucket finds the bucket for a call that must be signed for its region.
func (s *Service) bucket(c *service.Call, name string, owner *string) (*bucket, error) {
	b := s.state.Buckets[name]
	switch {
	case b == nil && slices.Contains(s.taken, name):
		return nil, accessDenied("Access Denied")
	case b == nil:
		return nil, noSuchBucket(name)
	case b.Region != c.Region:
		return nil, elsewhere(c.Region, b.Region, name)
	case owner != nil && *owner != s.account:
		return nil, accessDenied("Access Denied")
	}
	return b, nil
}

// "Bucket naming rules", S3 User Guide.
var (
	namePattern    = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)
	addressPattern = regexp.MustCompile(`^\d+\.\d+\.\d+\.\d+$`)
)

func validName(name string) bool {
	return namePattern.MatchString(name) && !addressPattern.MatchString(name) && !strings.Contains(name, "..") &&
		!slices.ContainsFunc([]string{"xn--", "sthree-", "amzn-s3-demo-"}, func(p string) bool { return strings.HasPrefix(name, p) }) &&
		!slices.ContainsFunc([]string{"-s3alias", "--ol-s3", ".mrap", "--x-s3", "--table-s3"}, func(p string) bool { return strings.HasSuffix(name, p) })
}

func (s *Service) createBucket(c *service.Call, in *s3.CreateBucketInput) (*s3.CreateBucketOutput, error) {
	name := aws.ToString(in.Bucket)
	if !validName(name) {
		e := service.Refuse("InvalidBucketName", "The specified bucket is not valid.")
		e.Details = []service.Detail{{Name: "BucketName", Value: name}}
		return nil, e
	}
	configuration := in.CreateBucketConfiguration
	if configuration == nil {
		configuration = &types.CreateBucketConfiguration{}
	}
	if configuration.Bucket != nil || configuration.Location != nil {
		return nil, invalidRequest("Directory buckets are not modelled")
	}
	region, err := s.regionFor(c.Region, string(configuration.LocationConstraint))
	if err != nil {
		return nil, err
	}
	tags, err := tagMap(configuration.Tags)
	if err != nil {
		return nil, err
	}
	ownership := in.ObjectOwnership
	if ownership == "" {
		ownership = types.ObjectOwnershipBucketOwnerEnforced
	}
	if ownership == types.ObjectOwnershipBucketOwnerEnforced && in.ACL != "" && in.ACL != types.BucketCannedACLPrivate {
		return nil, service.Refuse("InvalidBucketAclWithObjectOwnership", "Bucket cannot have ACLs set with ObjectOwnership's BucketOwnerEnforced setting")
	}
	if err := s.nameFree(name, region); err != nil {
		return nil, err
	}
	location := &s3.CreateBucketOutput{Location: aws.String("/" + name), BucketArn: aws.String(arn(name))}
	if s.state.Buckets[name] != nil {
		return location, nil
	}
	b := &bucket{Name: name, Region: region, CreatedAt: c.World.Now().UTC(), Tags: tags, settings: defaultSettings(ownership)}
	if in.ACL != "" {
		b.CannedACL = string(in.ACL)
	}
	if aws.ToBool(in.ObjectLockEnabledForBucket) {
		b.Versioning = types.BucketVersioningStatusEnabled
		b.ObjectLock = &types.ObjectLockConfiguration{ObjectLockEnabled: types.ObjectLockEnabledEnabled}
	}
	s.state.Buckets[name] = b
	return location, nil
}

// regionFor returns where a bucket is made: where the request was sent, or
// anywhere when that was the global endpoint ("CreateBucket", S3 API reference).
func (s *Service) regionFor(asked, constraint string) (string, error) {
	if constraint == "EU" {
		constraint = "eu-west-1"
	}
	switch {
	case constraint == globalRegion:
		return "", service.Refuse("InvalidLocationConstraint", "The specified location-constraint is not valid")
	case constraint == "" && asked == globalRegion:
		return globalRegion, nil
	case constraint == "":
		return "", service.Refuse("IllegalLocationConstraintException",
			"The unspecified location constraint is incompatible for the region specific endpoint this request was sent to.")
	case !s.regions.HasRegion(constraint):
		return "", service.Refuse("InvalidLocationConstraint", "The specified location-constraint is not valid")
	case asked != globalRegion && constraint != asked:
		return "", service.Refuse("IllegalLocationConstraintException",
			"The %s location constraint is incompatible for the region specific endpoint this request was sent to.", constraint)
	}
	return constraint, nil
}

// nameFree allows a bucket to be made again in us-east-1 by its owner, which
// changes nothing; everywhere else that is refused.
func (s *Service) nameFree(name, region string) error {
	if slices.Contains(s.taken, name) {
		return conflict("BucketAlreadyExists", "The requested bucket name is not available. "+
			"The bucket namespace is shared by all users of the system. Please select a different name and try again.")
	}
	if b := s.state.Buckets[name]; b != nil && (b.Region != globalRegion || region != globalRegion) {
		return conflict("BucketAlreadyOwnedByYou", "Your previous request to create the named bucket succeeded and you already own it.")
	}
	return nil
}

const mostBuckets = 10000

func (s *Service) listBuckets(_ *service.Call, in *s3.ListBucketsInput) (*s3.ListBucketsOutput, error) {
	size := mostBuckets
	if in.MaxBuckets != nil {
		if size = int(*in.MaxBuckets); size < 1 || size > mostBuckets {
			return nil, invalidArgument("Argument max-buckets must be an integer between 1 and %d", mostBuckets)
		}
	}
	after, err := base64.RawURLEncoding.DecodeString(aws.ToString(in.ContinuationToken))
	if err != nil {
		return nil, invalidArgument("The continuation token provided is incorrect")
	}
	out := &s3.ListBucketsOutput{Buckets: []types.Bucket{}, Owner: &types.Owner{ID: aws.String(s.canonicalID())}, Prefix: in.Prefix}
	for _, name := range slices.Sorted(maps.Keys(s.state.Buckets)) {
		b := s.state.Buckets[name]
		if name <= string(after) || !strings.HasPrefix(name, aws.ToString(in.Prefix)) || in.BucketRegion != nil && *in.BucketRegion != b.Region {
			continue
		}
		if len(out.Buckets) == size {
			last := *out.Buckets[size-1].Name
			out.ContinuationToken = aws.String(base64.RawURLEncoding.EncodeToString([]byte(last)))
			break
		}
		out.Buckets = append(out.Buckets, types.Bucket{
			Name: aws.String(name), CreationDate: aws.Time(b.CreatedAt), BucketRegion: aws.String(b.Region), BucketArn: aws.String(arn(name)),
		})
	}
	return out, nil
}

func (s *Service) headBucket(_ *service.Call, b *bucket, _ *s3.HeadBucketInput) (*s3.HeadBucketOutput, error) {
	return &s3.HeadBucketOutput{BucketRegion: aws.String(b.Region), BucketArn: aws.String(arn(b.Name)), AccessPointAlias: aws.Bool(false)}, nil
}

// getBucketLocation is also answered by the global endpoint, which is how a
// client that has nothing but the name finds the region.
func (s *Service) getBucketLocation(c *service.Call, in *s3.GetBucketLocationInput) (*s3.GetBucketLocationOutput, error) {
	asked := *c
	if b := s.state.Buckets[aws.ToString(in.Bucket)]; b != nil && c.Region == globalRegion {
		asked.Region = b.Region
	}
	b, err := s.bucket(&asked, aws.ToString(in.Bucket), in.ExpectedBucketOwner)
	if err != nil {
		return nil, err
	}
	if b.Region == globalRegion {
		return &s3.GetBucketLocationOutput{}, nil
	}
	return &s3.GetBucketLocationOutput{LocationConstraint: types.BucketLocationConstraint(b.Region)}, nil
}

// deleteBucket refuses while there is any version or delete marker. Uploads
// that were not completed go with the bucket.
func (s *Service) deleteBucket(_ *service.Call, b *bucket, _ *s3.DeleteBucketInput) (*s3.DeleteBucketOutput, error) {
	if len(b.Objects) > 0 {
		message := "The bucket you tried to delete is not empty"
		if b.Versioning != "" {
			message += ". You must delete all versions in the bucket."
		}
		e := service.RefuseStatus(http.StatusConflict, "BucketNotEmpty", "%s", message)
		e.Details = []service.Detail{{Name: "BucketName", Value: b.Name}}
		return nil, e
	}
	b.content(s.content.drop)
	delete(s.state.Buckets, b.Name)
	return &s3.DeleteBucketOutput{}, nil
}
