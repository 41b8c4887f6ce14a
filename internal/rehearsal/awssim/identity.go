package awssim

import (
	"encoding/json"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
	"github.com/krops-go/krops/internal/rehearsal/awssim/wire"
)

// identityAnswer is the answer of GetCallerIdentity in JSON, which STS gives
// to who accepts only that, as verifiers of cluster tokens do. For other
// operations it is what AWS refuses too.
func identityAnswer(id string, out any) (*wire.Answer, *service.Error) {
	identity, ok := out.(*sts.GetCallerIdentityOutput)
	if !ok {
		return nil, service.Refuse("InvalidParameterValue", "Only GetCallerIdentity is answered in JSON by the simulated STS")
	}
	var body struct {
		Response struct {
			Result struct {
				Account *string `json:"Account"`
				ARN     *string `json:"Arn"`
				UserID  *string `json:"UserId"`
			} `json:"GetCallerIdentityResult"`
			Metadata struct {
				RequestID string `json:"RequestId"`
			} `json:"ResponseMetadata"`
		} `json:"GetCallerIdentityResponse"`
	}
	body.Response.Result.Account, body.Response.Result.ARN, body.Response.Result.UserID = identity.Account, identity.Arn, identity.UserId
	body.Response.Metadata.RequestID = id
	text, err := json.Marshal(body)
	if err != nil {
		return nil, service.RefuseStatus(http.StatusInternalServerError, "InternalFailure", "%v", err)
	}
	return &wire.Answer{
		Status: http.StatusOK, Body: text,
		Header: http.Header{"Content-Type": {"application/json"}, "X-Amzn-Requestid": {id}},
	}, nil
}
