package iamsim

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

func (s *Service) userOperations() []service.Operation {
	return []service.Operation{
		service.Read("ListUsers", s.listUsers, "PathPrefix", "Marker", "MaxItems"),
		service.Read("GetUser", s.getUser, "UserName"),
	}
}

func (s *Service) listUsers(*service.Call, *iam.ListUsersInput) (*iam.ListUsersOutput, error) {
	return &iam.ListUsersOutput{Users: []types.User{}}, nil
}

func (s *Service) getUser(_ *service.Call, in *iam.GetUserInput) (*iam.GetUserOutput, error) {
	if in.UserName == nil {
		return nil, service.Refuse("ValidationError", "Must specify userName when calling with non-User credentials")
	}
	return nil, noSuchEntity("The user with name %s cannot be found.", aws.ToString(in.UserName))
}
