package awssim

import (
	"errors"
	"net/http"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
	"github.com/krops-go/krops/internal/rehearsal/awssim/sigv4"
	"github.com/krops-go/krops/internal/rehearsal/awssim/wire"
	"github.com/krops-go/krops/internal/rehearsal/awssim/wire/spelling"
)

// The error codes by which an API refuses what no service sees: "Common
// Errors" in each API reference.
type codes struct {
	operation, member, value           string // not modelled or malformed
	missing, incomplete                string // signature
	unknownKey, mismatch, expired      string
	unauthenticated                    int // HTTP status of the former three
	internal, unavailable              string
	unknownKeyMessage, mismatchMessage string
}

const (
	badToken     = "The security token included in the request is invalid."
	badSignature = "The request signature we calculated does not match the signature you provided. " +
		"Check your AWS Secret Access Key and signing method. Consult the service documentation for details."
	badCredentials = "AWS was not able to validate the provided access credentials"
)

func codesOf(p spelling.Protocol) codes {
	switch p {
	case spelling.EC2Query:
		return codes{
			operation: "UnsupportedOperation", member: "UnsupportedOperation", value: "InvalidParameterValue",
			missing: "MissingAuthenticationToken", incomplete: "IncompleteSignature",
			unknownKey: "AuthFailure", mismatch: "AuthFailure", expired: "RequestExpired",
			unauthenticated: http.StatusUnauthorized,
			internal:        "InternalError", unavailable: "Unavailable",
			unknownKeyMessage: badCredentials, mismatchMessage: badCredentials,
		}
	case spelling.Query:
		return codes{
			operation: "InvalidAction", member: "ValidationError", value: "ValidationError",
			missing: "MissingAuthenticationToken", incomplete: "IncompleteSignature",
			unknownKey: "InvalidClientTokenId", mismatch: "SignatureDoesNotMatch", expired: "RequestExpired",
			unauthenticated: http.StatusForbidden,
			internal:        "InternalFailure", unavailable: "ServiceUnavailable",
			unknownKeyMessage: badToken, mismatchMessage: badSignature,
		}
	case spelling.RESTXML: // "Error responses", Amazon S3 API reference
		return codes{
			operation: "NotImplemented", member: "NotImplemented", value: "InvalidArgument",
			missing: "AccessDenied", incomplete: "AuthorizationHeaderMalformed",
			unknownKey: "InvalidAccessKeyId", mismatch: "SignatureDoesNotMatch", expired: "RequestTimeTooSkewed",
			unauthenticated: http.StatusForbidden,
			internal:        "InternalError", unavailable: "ServiceUnavailable",
			unknownKeyMessage: "The AWS Access Key Id you provided does not exist in our records.",
			mismatchMessage:   badSignature,
		}
	case spelling.JSON11:
		c := codesOf(spelling.RESTJSON)
		c.operation, c.member, c.value = "UnknownOperationException", "ValidationException", "SerializationException"
		c.unauthenticated = http.StatusBadRequest
		return c
	default:
		return codes{
			operation: "InvalidParameterException", member: "InvalidParameterException", value: "InvalidParameterException",
			missing: "MissingAuthenticationTokenException", incomplete: "IncompleteSignatureException",
			unknownKey: "UnrecognizedClientException", mismatch: "InvalidSignatureException", expired: "InvalidSignatureException",
			unauthenticated: http.StatusForbidden,
			internal:        "InternalFailure", unavailable: "ServiceUnavailableException",
			unknownKeyMessage: badToken, mismatchMessage: badSignature,
		}
	}
}

// signatureRefusal words an error of package sigv4 as the API does.
func signatureRefusal(api *wire.API, err error) *service.Error {
	c := codesOf(api.Protocol())
	switch {
	case errors.Is(err, sigv4.ErrMissing):
		return service.RefuseStatus(http.StatusForbidden, c.missing, "Request is missing Authentication Token")
	case errors.Is(err, sigv4.ErrUnknownKey):
		return service.RefuseStatus(c.unauthenticated, c.unknownKey, "%s", c.unknownKeyMessage)
	case errors.Is(err, sigv4.ErrMismatch):
		return service.RefuseStatus(c.unauthenticated, c.mismatch, "%s", c.mismatchMessage)
	case errors.Is(err, sigv4.ErrExpired):
		return service.Refuse(c.expired, "Signature expired: %v", err)
	default:
		return service.Refuse(c.incomplete, "The request signature does not conform to AWS standards: %v", err)
	}
}

// sessionEnded is the refusal of temporary credentials that have ended.
func sessionEnded(p spelling.Protocol) *service.Error {
	const message = "The security token included in the request is expired"
	switch p {
	case spelling.EC2Query:
		return service.Refuse("RequestExpired", "Request has expired.")
	case spelling.RESTJSON:
		return service.RefuseStatus(http.StatusForbidden, "ExpiredTokenException", message)
	case spelling.JSON11:
		return service.Refuse("ExpiredTokenException", message)
	case spelling.RESTXML:
		return service.Refuse("ExpiredToken", "The provided token has expired.")
	}
	return service.RefuseStatus(http.StatusForbidden, "ExpiredToken", message)
}
