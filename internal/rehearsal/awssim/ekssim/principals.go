package ekssim

import (
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// adminGroup is Kubernetes' group of those who may do everything.
const adminGroup = "system:masters"

// MapPrincipal returns the Kubernetes user and groups of an AWS principal that
// authenticates to the cluster's API server, or false when the cluster does not
// know it. The account's lock is held.
//
// In the API modes the access entries decide, of which the creator has one
// unless the cluster was created without. With CONFIG_MAP only the creator is
// known here: the aws-auth ConfigMap is in the cluster, out of EKS's sight. Of
// the access policies AmazonEKSClusterAdminPolicy for the whole cluster gives
// rights. The others are EKS's own authorizer's matter, which is not modelled,
// so they give none; nor are entries for nodes mapped, which have no real
// kubelet that would use them.
func (s *Service) MapPrincipal(region, clusterName string, p service.Principal) (username string, groups []string, ok bool) {
	cl := s.byID(ClusterID{Region: region, Name: clusterName})
	if cl == nil {
		return "", nil, false
	}
	asked := withoutPath(canonicalARN(p.ARN))
	if !cl.apiMode() {
		if asked == withoutPath(cl.Creator) && aws.ToBool(cl.View.AccessConfig.BootstrapClusterCreatorAdminPermissions) {
			return "kubernetes-admin", []string{adminGroup}, true
		}
		return "", nil, false
	}
	for _, e := range cl.AccessEntries {
		if aws.ToString(e.View.Type) != standardEntry || withoutPath(*e.View.PrincipalArn) != asked {
			continue
		}
		groups := slices.Clone(e.View.KubernetesGroups)
		if policy, has := e.Policies[clusterAdminPolicy]; has && policy.AccessScope.Type == types.AccessScopeTypeCluster {
			groups = append(groups, adminGroup)
		}
		username := strings.ReplaceAll(*e.View.Username, "{{SessionName}}", sessionName(p.ARN))
		return username, groups, true
	}
	return "", nil, false
}

// apiMode is whether access entries count.
func (cl *cluster) apiMode() bool {
	return cl.View.AccessConfig.AuthenticationMode != types.AuthenticationModeConfigMap
}

var assumedRole = regexp.MustCompile(`^arn:([^:]+):sts::([0-9]+):assumed-role/([^/]+)/(.+)$`)

// canonicalARN is the role's ARN where arn is of a session of a role.
func canonicalARN(arn string) string {
	if m := assumedRole.FindStringSubmatch(arn); m != nil {
		return "arn:" + m[1] + ":iam::" + m[2] + ":role/" + m[3]
	}
	return arn
}

// subject is who a caller is to EKS: the role where it is a session of one.
func subject(p service.Principal) string {
	if p.Role != "" {
		return p.Role
	}
	return canonicalARN(p.ARN)
}

func sessionName(arn string) string {
	if m := assumedRole.FindStringSubmatch(arn); m != nil {
		return m[4]
	}
	return ""
}

var principalARN = regexp.MustCompile(`^arn:([^:]+):iam::([0-9]{12}):(role|user)/(?:.*/)?([^/]+)$`)

// withoutPath drops the path of a role or user, which sessions of a role do
// not show.
func withoutPath(arn string) string {
	if m := principalARN.FindStringSubmatch(arn); m != nil {
		return "arn:" + m[1] + ":iam::" + m[2] + ":" + m[3] + "/" + m[4]
	}
	return arn
}
