package stssim_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
	"github.com/krops-go/krops/internal/rehearsal/awssim/stssim"
)

func TestCallerIdentityIsWhoSigned(t *testing.T) {
	ops := stssim.New().Operations()
	if len(ops) != 1 || ops[0].Name != "GetCallerIdentity" || ops[0].Mutates {
		t.Fatalf("operations are %+v", ops)
	}
	out, err := ops[0].Invoke(&service.Call{
		Account: "111122223333", Caller: service.Principal{ARN: "arn:aws:iam::111122223333:user/u", UserID: "AIDA"},
	}, &sts.GetCallerIdentityInput{})
	if err != nil {
		t.Fatal(err)
	}
	got := out.(*sts.GetCallerIdentityOutput)
	if *got.Account != "111122223333" || *got.Arn != "arn:aws:iam::111122223333:user/u" || *got.UserId != "AIDA" {
		t.Errorf("got account %s, ARN %s, user %s", *got.Account, *got.Arn, *got.UserId)
	}
}
