package iamsim

import (
	"crypto/sha256"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

const managedPrefix = "arn:aws:iam::aws:policy"

// managedPolicy reports whether AWS has a policy with that path and name; the
// list holds what EKS clusters, their nodes and their add-ons are given.
func managedPolicy(pathAndName string) bool {
	switch pathAndName {
	case "/AmazonEKSClusterPolicy",
		"/AmazonEKSServicePolicy",
		"/AmazonEKSVPCResourceController",
		"/AmazonEKSWorkerNodePolicy",
		"/AmazonEKSWorkerNodeMinimalPolicy",
		"/AmazonEKS_CNI_Policy",
		"/AmazonEKSFargatePodExecutionRolePolicy",
		"/AmazonEC2ContainerRegistryReadOnly",
		"/AmazonEC2ContainerRegistryPullOnly",
		"/AmazonSSMManagedInstanceCore",
		"/CloudWatchAgentServerPolicy",
		"/service-role/AmazonEBSCSIDriverPolicy",
		"/service-role/AmazonEFSCSIDriverPolicy":
		return true
	}
	return false
}

// managedSince stands in for the creation date of every managed policy.
var managedSince = time.Date(2018, time.May, 27, 21, 0, 0, 0, time.UTC)

// lookupPolicy returns the managed policy of that ARN.
func lookupPolicy(arn string) (*types.Policy, error) {
	rest, ok := strings.CutPrefix(arn, managedPrefix)
	if !ok || !managedPolicy(rest) {
		return nil, noSuchEntity("Policy %s does not exist or is not attachable.", arn)
	}
	dir, name := path.Split(rest)
	sum := sha256.Sum256([]byte(rest))
	return &types.Policy{
		Arn: aws.String(arn), PolicyName: aws.String(name), Path: aws.String(dir),
		PolicyId:         aws.String(strings.ToUpper(fmt.Sprintf("ANPA%x", sum))[:21]),
		DefaultVersionId: aws.String("v1"), IsAttachable: true,
		CreateDate: aws.Time(managedSince), UpdateDate: aws.Time(managedSince),
		PermissionsBoundaryUsageCount: aws.Int32(0),
	}, nil
}

func (s *Service) getPolicy(_ *service.Call, in *iam.GetPolicyInput) (*iam.GetPolicyOutput, error) {
	arn := aws.ToString(in.PolicyArn)
	policy, err := lookupPolicy(arn)
	if err != nil {
		return nil, err
	}
	var attached, bounded int32
	for _, r := range s.state.Roles {
		if r.Attached[arn] {
			attached++
		}
		if r.Boundary == arn {
			bounded++
		}
	}
	policy.AttachmentCount = aws.Int32(attached)
	policy.PermissionsBoundaryUsageCount = aws.Int32(bounded)
	return &iam.GetPolicyOutput{Policy: policy}, nil
}
