package iamsim

import (
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// serviceLinked names the role of each service that a Kubernetes estate makes
// use of ("AWS services that work with IAM", IAM User Guide).
var serviceLinked = map[string]string{
	"autoscaling.amazonaws.com":          "AWSServiceRoleForAutoScaling",
	"eks.amazonaws.com":                  "AWSServiceRoleForAmazonEKS",
	"eks-nodegroup.amazonaws.com":        "AWSServiceRoleForAmazonEKSNodegroup",
	"eks-fargate.amazonaws.com":          "AWSServiceRoleForAmazonEKSForFargate",
	"elasticloadbalancing.amazonaws.com": "AWSServiceRoleForElasticLoadBalancing",
	"spot.amazonaws.com":                 "AWSServiceRoleForEC2Spot",
	"spotfleet.amazonaws.com":            "AWSServiceRoleForEC2SpotFleet",
	"rds.amazonaws.com":                  "AWSServiceRoleForRDS",
	"servicequotas.amazonaws.com":        "AWSServiceRoleForServiceQuotas",
	"transitgateway.amazonaws.com":       "AWSServiceRoleForVPCTransitGateway",
}

const serviceRolePath = "/aws-service-role/"

func (s *Service) serviceLinkedRoleOperations() []service.Operation {
	return []service.Operation{
		service.Write("CreateServiceLinkedRole", s.createServiceLinkedRole, "AWSServiceName", "Description", "CustomSuffix"),
		service.Write("DeleteServiceLinkedRole", s.deleteServiceLinkedRole, "RoleName"),
		service.Read("GetServiceLinkedRoleDeletionStatus", s.getServiceLinkedRoleDeletionStatus, "DeletionTaskId"),
	}
}

func (s *Service) createServiceLinkedRole(c *service.Call, in *iam.CreateServiceLinkedRoleInput) (*iam.CreateServiceLinkedRoleOutput, error) {
	principal := aws.ToString(in.AWSServiceName)
	name, ok := serviceLinked[principal]
	switch {
	case !ok:
		return nil, service.Refuse("InvalidInput", "The service principal %s does not support service-linked roles.", principal)
	case in.CustomSuffix != nil && principal != "autoscaling.amazonaws.com":
		return nil, service.Refuse("InvalidInput", "Custom suffix is not allowed for %s", principal)
	case in.CustomSuffix != nil:
		name += "_" + *in.CustomSuffix
	}
	if s.state.Roles[name] != nil {
		return nil, service.Refuse("InvalidInput", "Service role name %s has been taken in this account, please try a different suffix.", name)
	}
	path := serviceRolePath + principal + "/"
	r := &role{
		Name: name, Path: path, ID: strings.ToUpper(c.World.NewID("AROA", 17)), ARN: "arn:aws:iam::" + c.Account + ":role" + path + name,
		Description: in.Description, MaxSession: defaultMaxSession, CreatedAt: c.World.Now().UTC(), Tags: map[string]string{},
		Trust:    fmt.Sprintf(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":%q},"Action":"sts:AssumeRole"}]}`, principal),
		Attached: map[string]bool{}, Inline: map[string]string{},
	}
	s.state.Roles[name] = r
	return &iam.CreateServiceLinkedRoleOutput{Role: r.full()}, nil
}

func (r *role) serviceLinked() bool { return strings.HasPrefix(r.Path, serviceRolePath) }

// unmodifiable refuses what only the linked service may do to its role.
func (r *role) unmodifiable() error {
	if !r.serviceLinked() {
		return nil
	}
	return service.Refuse("UnmodifiableEntity", "Cannot perform the operation on the protected role '%s' - this role is only modifiable by AWS", r.Name)
}

// deleteServiceLinkedRole succeeds at once. AWS asks the service first whether
// anything still needs the role.
func (s *Service) deleteServiceLinkedRole(c *service.Call, in *iam.DeleteServiceLinkedRoleInput) (*iam.DeleteServiceLinkedRoleOutput, error) {
	r, err := s.lookupRole(in.RoleName)
	if err != nil {
		return nil, err
	}
	if !r.serviceLinked() {
		return nil, service.Refuse("InvalidInput", "The role %s is not a service-linked role.", r.Name)
	}
	delete(s.state.Roles, r.Name)
	task := "task" + r.Path + r.Name + "/" + c.World.NewID("", 32)
	return &iam.DeleteServiceLinkedRoleOutput{DeletionTaskId: aws.String(task)}, nil
}

func (s *Service) getServiceLinkedRoleDeletionStatus(_ *service.Call, in *iam.GetServiceLinkedRoleDeletionStatusInput) (*iam.GetServiceLinkedRoleDeletionStatusOutput, error) {
	if !strings.HasPrefix(aws.ToString(in.DeletionTaskId), "task"+serviceRolePath) {
		return nil, noSuchEntity("The deletion task %s cannot be found.", aws.ToString(in.DeletionTaskId))
	}
	return &iam.GetServiceLinkedRoleDeletionStatusOutput{Status: types.DeletionTaskStatusTypeSucceeded}, nil
}
