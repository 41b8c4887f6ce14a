// Package awserr reads what an error of an AWS call means for somebody who is
// taking things away: absent, busy, or neither.
package awserr

import (
	"errors"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go"
)

// Code returns the error code AWS answered with, or "" if it did not answer.
func Code(err error) string {
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		return api.ErrorCode()
	}
	return ""
}

// ruleNotFound is EC2's answer to revoking a rule that changed since it was
// read. The group it was in is there.
const ruleNotFound = "InvalidPermission.NotFound"

// NotFound reports that AWS said the resource does not exist. Only then may it
// be taken for absent.
func NotFound(err error) bool {
	switch code := Code(err); code {
	case ruleNotFound:
		return false
	case "NoSuchEntity", // IAM
		"ResourceNotFoundException",                                          // EKS
		"NatGatewayNotFound",                                                 // EC2
		"LoadBalancerNotFound", "AccessPointNotFound", "TargetGroupNotFound": // load balancing
		return true
	default:
		// EC2 spells it per kind: InvalidVpcID.NotFound, InvalidGroup.NotFound.
		return strings.HasPrefix(code, "Invalid") && strings.HasSuffix(code, ".NotFound")
	}
}

// busy are the codes with which AWS refuses to delete something that is still
// used, still referred to or still changing.
var busy = []string{
	"DependencyViolation",           // EC2
	"DeleteConflict",                // IAM
	"ConcurrentModification",        // IAM
	"ResourceInUseException",        // EKS
	"InvalidRequestException",       // EKS: not in a state to be deleted yet
	"ResourceInUse",                 // Auto Scaling, load balancing
	"ScalingActivityInProgress",     // Auto Scaling
	"InvalidIPAddress.InUse",        // EC2
	"InvalidGroup.InUse",            // EC2
	"InvalidNetworkInterface.InUse", // EC2
	ruleNotFound,
	"IncorrectState",                 // EC2
	"IncorrectInstanceState",         // EC2
	"NotReady", "ServiceUnavailable", // any
}

// Busy reports that a deletion was refused for a reason that passes when
// something else is gone.
func Busy(err error) bool {
	return errors.Is(err, ErrBusy) || slices.Contains(busy, Code(err))
}

// ErrBusy marks an error as one that passes where its code alone does not tell.
var ErrBusy = errors.New("still in use")

// New makes an error of a code and message that AWS reports inside an answer
// that is otherwise a success.
func New(code, message string) error {
	return &smithy.GenericAPIError{Code: code, Message: message}
}

// Transient reports throttling and failures of the service or the connection,
// which say nothing about the resource and go away by asking again.
func Transient(err error) bool {
	return retry.IsErrorRetryables(retry.DefaultRetryables).IsErrorRetryable(err) == aws.TrueTernary
}
