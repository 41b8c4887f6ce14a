package permission

import "strings"

func (n *Needs) eks(operation string) {
	const arn = "arn:aws:eks:{region}:{account}:"
	switch operation {
	case "ListClusters", "DescribeClusterVersions", "DescribeAddonVersions", "DescribeAddonConfiguration", "ListAccessPolicies", "RegisterCluster":
		return
	case "TagResource", "UntagResource", "ListTagsForResource":
		n.on("{ResourceArn}")
		return
	case "CreateCluster", "DescribeCluster", "DeleteCluster", "UpdateClusterConfig", "UpdateClusterVersion":
		n.on(arn + "cluster/{Name}")
	case "DescribeNodegroup", "DeleteNodegroup", "UpdateNodegroupConfig", "UpdateNodegroupVersion":
		n.on(arn + "nodegroup/{ClusterName}/{NodegroupName}/*")
	case "DescribeAddon", "DeleteAddon", "UpdateAddon":
		n.on(arn + "addon/{ClusterName}/{AddonName}/*")
	case "DescribeUpdate", "ListUpdates":
		n.on(arn + "cluster/{Name}")
	case "DescribePodIdentityAssociation", "UpdatePodIdentityAssociation", "DeletePodIdentityAssociation":
		n.on(arn + "podidentityassociation/{ClusterName}/{AssociationId}")
	case "DescribeAccessEntry", "UpdateAccessEntry", "DeleteAccessEntry", "AssociateAccessPolicy", "DisassociateAccessPolicy", "ListAssociatedAccessPolicies":
		n.on(arn + "access-entry/{ClusterName}/*")
	default:
		n.on(arn + "cluster/{ClusterName}")
	}
	if strings.HasPrefix(operation, "Create") {
		n.also("Tags", "eks:TagResource")
	}
	switch operation {
	case "CreateCluster":
		n.passes("RoleArn", "eks.amazonaws.com")
	case "CreateNodegroup":
		n.passes("NodeRole", "eks.amazonaws.com")
	case "CreateAddon", "UpdateAddon":
		n.passes("ServiceAccountRoleArn", "eks.amazonaws.com")
	case "CreatePodIdentityAssociation", "UpdatePodIdentityAssociation":
		n.passes("RoleArn", "pods.eks.amazonaws.com")
	}
}
