// Package conformance holds the stories that a whole simulated account is
// tested by, through the SDK over HTTP.
package conformance_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"

	"github.com/krops-go/krops/internal/rehearsal/awssim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/awssimtest"
)

const (
	accountID = awssimtest.ID
	home      = awssimtest.Home
)

// account is a served account with what these stories share.
type account struct {
	*awssimtest.Account
	t *testing.T
}

func newAccount(t *testing.T, opts ...awssim.Option) *account {
	t.Helper()
	return &account{Account: awssimtest.New(t, opts...), t: t}
}

// must ends the test unless the call succeeded.
func must[Out any](t *testing.T) func(Out, error) Out {
	return func(out Out, err error) Out {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
}

// refused checks the code of an API error.
func refused(t *testing.T, code string, err error) {
	t.Helper()
	if got := codeOf(err); got != code {
		t.Errorf("got %s, want %s (%v)", got, code, err)
	}
}

func codeOf(err error) string {
	var api smithy.APIError
	switch {
	case err == nil:
		return "success"
	case errors.As(err, &api):
		return api.ErrorCode()
	}
	return fmt.Sprintf("not an API error: %v", err)
}

func (a *account) s3In(region string) *s3.Client { return s3.NewFromConfig(a.ConfigIn(region)) }
