package awserr_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/krops-go/krops/internal/aws/awserr"
)

func TestMeaning(t *testing.T) {
	const (
		notFound, busy, transient, neither = "not found", "busy", "transient", "neither"
	)
	for code, want := range map[string]string{
		"InvalidVpcID.NotFound":           notFound,
		"InvalidGroup.NotFound":           notFound,
		"InvalidAllocationID.NotFound":    notFound,
		"InvalidVpcEndpointId.NotFound":   notFound,
		"NatGatewayNotFound":              notFound,
		"NoSuchEntity":                    notFound,
		"ResourceNotFoundException":       notFound,
		"LoadBalancerNotFound":            notFound,
		"InvalidPermission.NotFound":      busy, // the rule, not its group
		"DependencyViolation":             busy,
		"DeleteConflict":                  busy,
		"InvalidIPAddress.InUse":          busy,
		"ResourceInUseException":          busy,
		"ResourceInUse":                   busy,
		"Throttling":                      transient,
		"RequestLimitExceeded":            transient,
		"AccessDenied":                    neither,
		"UnauthorizedOperation":           neither,
		"OperationNotPermitted":           neither, // deletion protection
		"AuthFailure":                     neither,
		"ExpiredToken":                    neither,
		"InvalidVpcID.Malformed":          neither,
		"SomethingElse.NotFound":          neither,
		"InvalidParameterValue":           neither,
		"OptInRequired":                   neither,
		"UnrecognizedClientException":     neither,
		"InvalidClientTokenId":            neither,
		"SignatureDoesNotMatch":           neither,
		"SubscriptionRequiredException":   neither,
		"InvalidInternetGatewayID.Unread": neither,
	} {
		err := fmt.Errorf("wrapped: %w", awserr.New(code, "message"))
		got := neither
		for meaning, is := range map[string]bool{
			notFound: awserr.NotFound(err), busy: awserr.Busy(err), transient: awserr.Transient(err),
		} {
			if is && got != neither {
				t.Errorf("%s is both %s and %s", code, got, meaning)
			}
			if is {
				got = meaning
			}
		}
		if got != want {
			t.Errorf("%s is %s, want %s", code, got, want)
		}
		if awserr.Code(err) != code {
			t.Errorf("code %q, want %q", awserr.Code(err), code)
		}
	}

	for name, err := range map[string]error{"nil": nil, "no answer": errors.New("connection refused"), "cancelled": context.Canceled} {
		if awserr.NotFound(err) || awserr.Busy(err) || awserr.Transient(err) || awserr.Code(err) != "" {
			t.Errorf("%s means something", name)
		}
	}
	if !awserr.Busy(fmt.Errorf("%w: %w", awserr.ErrBusy, awserr.New("AuthFailure", ""))) {
		t.Error("an error marked busy is not")
	}
}
