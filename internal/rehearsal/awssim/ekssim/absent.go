package ekssim

import (
	"github.com/aws/aws-sdk-go-v2/service/eks"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// absentOperations list what no cluster here can have, so that clients that
// look for it find none.
func (s *Service) absentOperations() []service.Operation {
	return []service.Operation{
		service.Read("ListFargateProfiles", s.listFargateProfiles, "ClusterName", "MaxResults", "NextToken"),
	}
}

func (s *Service) listFargateProfiles(c *service.Call, in *eks.ListFargateProfilesInput) (*eks.ListFargateProfilesOutput, error) {
	if _, err := s.lookup(c.Region, in.ClusterName); err != nil {
		return nil, err
	}
	return &eks.ListFargateProfilesOutput{FargateProfileNames: []string{}}, nil
}
