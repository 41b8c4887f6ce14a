package s3sim

import (
	"net/http"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// Codes and their HTTP statuses are those of "Error responses" in the Amazon
// S3 API reference.

func noSuchBucket(name string) error {
	e := service.RefuseStatus(http.StatusNotFound, "NoSuchBucket", "The specified bucket does not exist")
	e.Details = []service.Detail{{Name: "BucketName", Value: name}}
	return e
}

func noSuchKey(key string) error {
	e := service.RefuseStatus(http.StatusNotFound, "NoSuchKey", "The specified key does not exist.")
	e.Details = []service.Detail{{Name: "Key", Value: key}}
	return e
}

func noSuchVersion(key, version string) error {
	e := service.RefuseStatus(http.StatusNotFound, "NoSuchVersion", "The specified version does not exist.")
	e.Details = []service.Detail{{Name: "Key", Value: key}, {Name: "VersionId", Value: version}}
	return e
}

func noSuchUpload(id string) error {
	e := service.RefuseStatus(http.StatusNotFound, "NoSuchUpload",
		"The specified upload does not exist. The upload ID may be invalid, or the upload may have been aborted or completed.")
	e.Details = []service.Detail{{Name: "UploadId", Value: id}}
	return e
}

func unset(code, format string, args ...any) error {
	return service.RefuseStatus(http.StatusNotFound, code, format, args...)
}

func accessDenied(format string, args ...any) error {
	return service.RefuseStatus(http.StatusForbidden, "AccessDenied", format, args...)
}

func malformedXML() error {
	return service.Refuse("MalformedXML", "The XML you provided was not well-formed or did not validate against our published schema")
}

func invalidArgument(format string, args ...any) error {
	return service.Refuse("InvalidArgument", format, args...)
}

func invalidRequest(format string, args ...any) error {
	return service.Refuse("InvalidRequest", format, args...)
}

func invalidState(format string, args ...any) error {
	return service.RefuseStatus(http.StatusConflict, "InvalidBucketState", format, args...)
}

func conflict(code, format string, args ...any) error {
	return service.RefuseStatus(http.StatusConflict, code, format, args...)
}

func preconditionFailed(condition string) error {
	e := service.RefuseStatus(http.StatusPreconditionFailed, "PreconditionFailed", "At least one of the pre-conditions you specified did not hold")
	e.Details = []service.Detail{{Name: "Condition", Value: condition}}
	return e
}

// elsewhere sends a client to the region of the bucket. A request that was
// signed for us-east-1 went to the global endpoint, which knows where the
// bucket is and finds the signature to be for the wrong region; that of any
// other region can only point on ("Making requests", S3 API reference).
func elsewhere(asked, region, name string) error {
	header := http.Header{"X-Amz-Bucket-Region": {region}}
	if asked == globalRegion {
		return &service.Error{
			Status: http.StatusBadRequest, Code: "AuthorizationHeaderMalformed", Header: header,
			Message: "The authorization header is malformed; the region '" + asked + "' is wrong; expecting '" + region + "'",
			Details: []service.Detail{{Name: "Region", Value: region}},
		}
	}
	return &service.Error{
		Status: http.StatusMovedPermanently, Code: "PermanentRedirect", Header: header,
		Message: "The bucket you are attempting to access must be addressed using the specified endpoint. Please send all future requests to this endpoint.",
		Details: []service.Detail{{Name: "Endpoint", Value: name + ".s3." + region + ".amazonaws.com"}, {Name: "Bucket", Value: name}},
	}
}
