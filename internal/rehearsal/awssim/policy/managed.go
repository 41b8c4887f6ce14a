package policy

import (
	"path"
	"slices"
	"strings"
)

// managedPrefix starts the ARNs of the policies that AWS itself keeps.
const managedPrefix = "arn:aws:iam::aws:policy"

// Managed is a policy that AWS keeps for every account.
type Managed struct {
	ARN, Name, Path string
	Document        string
}

// LookupManaged returns the AWS-managed policy of that ARN, or false when none
// of that ARN is known here. Documents say what AWS's own say as far as calls
// of the simulated services can tell; the wording is ours.
func LookupManaged(arn string) (Managed, bool) {
	rest, ok := strings.CutPrefix(arn, managedPrefix)
	if !ok {
		return Managed{}, false
	}
	document, known := managedDocuments[rest]
	if !known {
		return Managed{}, false
	}
	dir, name := path.Split(rest)
	return Managed{ARN: arn, Name: name, Path: dir, Document: document}, true
}

// ManagedARNs lists the AWS-managed policies, sorted.
func ManagedARNs() []string {
	var arns []string
	for name := range managedDocuments {
		arns = append(arns, managedPrefix+name)
	}
	slices.Sort(arns)
	return arns
}

func allow(actions ...string) string {
	return `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["` + strings.Join(actions, `","`) + `"],"Resource":"*"}]}`
}

// AdministratorAccess allows everything.
const AdministratorAccess = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}`

// managedDocuments are the policies that Kubernetes estates on AWS give to
// clusters, nodes, add-ons and people (AWS Managed Policy Reference Guide).
var managedDocuments = map[string]string{
	"/AdministratorAccess": AdministratorAccess,
	"/PowerUserAccess": `{"Version":"2012-10-17","Statement":[
		{"Effect":"Allow","NotAction":["iam:*","organizations:*","account:*"],"Resource":"*"},
		{"Effect":"Allow","Action":["iam:CreateServiceLinkedRole","iam:DeleteServiceLinkedRole","iam:ListRoles",
			"organizations:DescribeOrganization","account:ListRegions","account:GetAccountInformation"],"Resource":"*"}]}`,
	"/ReadOnlyAccess": allow("ec2:Describe*", "ec2:Get*", "ec2:Search*", "eks:Describe*", "eks:List*", "iam:Get*", "iam:List*",
		"iam:Generate*", "iam:SimulateCustomPolicy", "iam:SimulatePrincipalPolicy", "sts:GetCallerIdentity", "sts:GetAccessKeyInfo",
		"sts:GetSessionToken", "autoscaling:Describe*", "elasticloadbalancing:Describe*", "tag:Get*", "s3:Get*", "s3:List*",
		"s3:DescribeJob", "rds:Describe*", "rds:List*", "rds:Download*", "cloudformation:Describe*", "cloudformation:Get*",
		"cloudformation:List*", "cloudformation:Detect*", "servicequotas:Get*", "servicequotas:List*", "ssm:Describe*", "ssm:Get*",
		"ssm:List*", "kms:Describe*", "kms:Get*", "kms:List*", "secretsmanager:Describe*", "secretsmanager:List*",
		"secretsmanager:GetResourcePolicy", "ecr:Get*", "ecr:Describe*", "ecr:List*", "ecr:BatchGet*", "ecr:BatchCheck*"),
	"/SecurityAudit": allow("ec2:Describe*", "eks:Describe*", "eks:List*", "iam:Get*", "iam:List*", "iam:SimulatePrincipalPolicy",
		"s3:GetBucket*", "s3:GetEncryptionConfiguration", "s3:ListAllMyBuckets", "rds:Describe*", "cloudformation:Describe*",
		"tag:GetResources", "tag:GetTagKeys"),
	"/IAMFullAccess": allow("iam:*", "organizations:DescribeAccount", "organizations:DescribeOrganization"),
	"/IAMReadOnlyAccess": allow("iam:GenerateCredentialReport", "iam:GenerateServiceLastAccessedDetails", "iam:Get*", "iam:List*",
		"iam:SimulateCustomPolicy", "iam:SimulatePrincipalPolicy"),
	"/AmazonEC2FullAccess": `{"Version":"2012-10-17","Statement":[
		{"Effect":"Allow","Action":["ec2:*","elasticloadbalancing:*","cloudwatch:*","autoscaling:*"],"Resource":"*"},
		{"Effect":"Allow","Action":"iam:CreateServiceLinkedRole","Resource":"*","Condition":{"StringEquals":{"iam:AWSServiceName":[
			"autoscaling.amazonaws.com","ec2scheduled.amazonaws.com","elasticloadbalancing.amazonaws.com","spot.amazonaws.com",
			"spotfleet.amazonaws.com","transitgateway.amazonaws.com"]}}}]}`,
	"/AmazonEC2ReadOnlyAccess": allow("ec2:Describe*", "ec2:GetSecurityGroupsForVpc", "elasticloadbalancing:Describe*",
		"cloudwatch:ListMetrics", "cloudwatch:GetMetricStatistics", "cloudwatch:Describe*", "autoscaling:Describe*"),
	"/AmazonVPCFullAccess": allow("ec2:*Vpc*", "ec2:*Subnet*", "ec2:*RouteTable*", "ec2:*Route", "ec2:*InternetGateway*", "ec2:*NatGateway*",
		"ec2:*Address*", "ec2:*SecurityGroup*", "ec2:*NetworkAcl*", "ec2:*NetworkInterface*", "ec2:*Tags", "ec2:*DhcpOptions",
		"ec2:DescribeAvailabilityZones", "ec2:DescribeInstances", "ec2:DescribeAccountAttributes"),
	"/AmazonS3FullAccess":     allow("s3:*", "s3-object-lambda:*"),
	"/AmazonS3ReadOnlyAccess": allow("s3:Get*", "s3:List*", "s3:Describe*", "s3-object-lambda:Get*", "s3-object-lambda:List*"),
	"/AmazonRDSFullAccess": `{"Version":"2012-10-17","Statement":[
		{"Effect":"Allow","Action":["rds:*","application-autoscaling:*","cloudwatch:*","ec2:DescribeAccountAttributes",
			"ec2:DescribeAvailabilityZones","ec2:DescribeSecurityGroups","ec2:DescribeSubnets","ec2:DescribeVpcAttribute",
			"ec2:DescribeVpcs","sns:ListTopics","sns:Publish","logs:DescribeLogStreams","logs:GetLogEvents"],"Resource":"*"},
		{"Effect":"Allow","Action":"iam:CreateServiceLinkedRole","Resource":"*","Condition":{"StringLike":{"iam:AWSServiceName":[
			"rds.amazonaws.com","rds.application-autoscaling.amazonaws.com"]}}}]}`,
	"/AmazonRDSReadOnlyAccess": allow("rds:Describe*", "rds:ListTagsForResource", "ec2:DescribeAccountAttributes",
		"ec2:DescribeAvailabilityZones", "ec2:DescribeSecurityGroups", "ec2:DescribeVpcs"),
	"/AWSCloudFormationFullAccess":     allow("cloudformation:*"),
	"/AWSCloudFormationReadOnlyAccess": allow("cloudformation:Describe*", "cloudformation:EstimateTemplateCost", "cloudformation:Get*", "cloudformation:List*", "cloudformation:ValidateTemplate", "cloudformation:Detect*"),
	"/SecretsManagerReadWrite": allow("secretsmanager:*", "cloudformation:CreateChangeSet", "cloudformation:DescribeChangeSet",
		"cloudformation:DescribeStackResource", "cloudformation:DescribeStacks", "cloudformation:ExecuteChangeSet",
		"ec2:DescribeSecurityGroups", "ec2:DescribeSubnets", "ec2:DescribeVpcs", "kms:DescribeKey", "kms:ListAliases", "kms:ListKeys",
		"rds:DescribeDBClusters", "rds:DescribeDBInstances", "tag:GetResources"),
	"/ServiceQuotasFullAccess": allow("servicequotas:*", "autoscaling:DescribeAccountLimits", "cloudformation:DescribeAccountLimits",
		"elasticloadbalancing:DescribeAccountLimits", "iam:GetAccountSummary", "rds:DescribeAccountAttributes"),

	// What EKS clusters, nodes and add-ons run with.
	"/AmazonEKSClusterPolicy": allow("autoscaling:DescribeAutoScalingGroups", "autoscaling:UpdateAutoScalingGroup",
		"ec2:AttachVolume", "ec2:AuthorizeSecurityGroupIngress", "ec2:CreateRoute", "ec2:CreateSecurityGroup", "ec2:CreateTags",
		"ec2:CreateVolume", "ec2:DeleteRoute", "ec2:DeleteSecurityGroup", "ec2:DeleteVolume", "ec2:DescribeInstances",
		"ec2:DescribeRouteTables", "ec2:DescribeSecurityGroups", "ec2:DescribeSubnets", "ec2:DescribeVolumes",
		"ec2:DescribeVolumesModifications", "ec2:DescribeVpcs", "ec2:DescribeDhcpOptions", "ec2:DescribeNetworkInterfaces",
		"ec2:DescribeAvailabilityZones", "ec2:DescribeInstanceTopology", "ec2:DetachVolume", "ec2:ModifyInstanceAttribute",
		"ec2:ModifyVolume", "ec2:RevokeSecurityGroupIngress", "ec2:DescribeAccountAttributes", "ec2:DescribeAddresses",
		"ec2:DescribeInternetGateways", "elasticloadbalancing:*LoadBalancer*", "elasticloadbalancing:*Listener*",
		"elasticloadbalancing:*Target*", "elasticloadbalancing:AddTags", "kms:DescribeKey"),
	"/AmazonEKSServicePolicy": allow("ec2:CreateNetworkInterface", "ec2:CreateNetworkInterfacePermission",
		"ec2:DeleteNetworkInterface", "ec2:DescribeInstances", "ec2:DescribeNetworkInterfaces", "ec2:DetachNetworkInterface",
		"ec2:DescribeSecurityGroups", "ec2:DescribeSubnets", "ec2:DescribeVpcs", "ec2:ModifyNetworkInterfaceAttribute",
		"iam:ListAttachedRolePolicies", "eks:UpdateClusterVersion", "ec2:CreateTags"),
	"/AmazonEKSVPCResourceController": `{"Version":"2012-10-17","Statement":[
		{"Effect":"Allow","Action":"ec2:CreateNetworkInterfacePermission","Resource":"*",
			"Condition":{"ForAnyValue:StringEquals":{"ec2:ResourceTag/eks:eni:owner":"eks-vpc-resource-controller"}}},
		{"Effect":"Allow","Action":["ec2:CreateNetworkInterface","ec2:DetachNetworkInterface","ec2:ModifyNetworkInterfaceAttribute",
			"ec2:DeleteNetworkInterface","ec2:AttachNetworkInterface","ec2:UnassignPrivateIpAddresses",
			"ec2:AssignPrivateIpAddresses"],"Resource":"*"}]}`,
	"/AmazonEKSWorkerNodePolicy": allow("ec2:DescribeInstances", "ec2:DescribeInstanceTypes", "ec2:DescribeRouteTables",
		"ec2:DescribeSecurityGroups", "ec2:DescribeSubnets", "ec2:DescribeVolumes", "ec2:DescribeVolumesModifications",
		"ec2:DescribeVpcs", "eks:DescribeCluster", "eks-auth:AssumeRoleForPodIdentity"),
	"/AmazonEKSWorkerNodeMinimalPolicy": allow("eks-auth:AssumeRoleForPodIdentity"),
	"/AmazonEKS_CNI_Policy": `{"Version":"2012-10-17","Statement":[
		{"Effect":"Allow","Action":["ec2:AssignPrivateIpAddresses","ec2:AttachNetworkInterface","ec2:CreateNetworkInterface",
			"ec2:DeleteNetworkInterface","ec2:DescribeInstances","ec2:DescribeTags","ec2:DescribeNetworkInterfaces",
			"ec2:DescribeInstanceTypes","ec2:DescribeSubnets","ec2:DetachNetworkInterface","ec2:ModifyNetworkInterfaceAttribute",
			"ec2:UnassignPrivateIpAddresses"],"Resource":"*"},
		{"Effect":"Allow","Action":"ec2:CreateTags","Resource":"arn:aws:ec2:*:*:network-interface/*"}]}`,
	"/AmazonEKSFargatePodExecutionRolePolicy": allow("ecr:GetAuthorizationToken", "ecr:BatchCheckLayerAvailability",
		"ecr:GetDownloadUrlForLayer", "ecr:BatchGetImage"),
	"/AmazonEKSServiceRolePolicy": allow("ec2:CreateNetworkInterface", "ec2:DeleteNetworkInterface", "ec2:DescribeNetworkInterfaces",
		"ec2:CreateSecurityGroup", "ec2:DeleteSecurityGroup", "ec2:AuthorizeSecurityGroupIngress", "ec2:DescribeSecurityGroups",
		"ec2:DescribeSubnets", "ec2:DescribeVpcs", "ec2:CreateTags"),
	"/AmazonEC2ContainerRegistryReadOnly": allow("ecr:GetAuthorizationToken", "ecr:BatchCheckLayerAvailability",
		"ecr:GetDownloadUrlForLayer", "ecr:GetRepositoryPolicy", "ecr:DescribeRepositories", "ecr:ListImages", "ecr:DescribeImages",
		"ecr:BatchGetImage", "ecr:GetLifecyclePolicy", "ecr:GetLifecyclePolicyPreview", "ecr:ListTagsForResource",
		"ecr:DescribeImageScanFindings"),
	"/AmazonEC2ContainerRegistryPullOnly": allow("ecr:GetAuthorizationToken", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer",
		"ecr:BatchImportUpstreamImage"),
	"/AmazonSSMManagedInstanceCore": allow("ssm:DescribeAssociation", "ssm:GetDeployablePatchSnapshotForInstance", "ssm:GetDocument",
		"ssm:DescribeDocument", "ssm:GetManifest", "ssm:GetParameter", "ssm:GetParameters", "ssm:ListAssociations",
		"ssm:ListInstanceAssociations", "ssm:PutInventory", "ssm:PutComplianceItems", "ssm:PutConfigurePackageResult",
		"ssm:UpdateAssociationStatus", "ssm:UpdateInstanceAssociationStatus", "ssm:UpdateInstanceInformation", "ssmmessages:*",
		"ec2messages:*"),
	"/CloudWatchAgentServerPolicy": allow("cloudwatch:PutMetricData", "ec2:DescribeVolumes", "ec2:DescribeTags", "logs:PutLogEvents",
		"logs:PutRetentionPolicy", "logs:DescribeLogStreams", "logs:DescribeLogGroups", "logs:CreateLogStream", "logs:CreateLogGroup"),
	"/service-role/AmazonEBSCSIDriverPolicy": `{"Version":"2012-10-17","Statement":[
		{"Effect":"Allow","Action":["ec2:CreateSnapshot","ec2:AttachVolume","ec2:DetachVolume","ec2:ModifyVolume",
			"ec2:DescribeAvailabilityZones","ec2:DescribeInstances","ec2:DescribeSnapshots","ec2:DescribeTags","ec2:DescribeVolumes",
			"ec2:DescribeVolumesModifications"],"Resource":"*"},
		{"Effect":"Allow","Action":"ec2:CreateTags","Resource":["arn:aws:ec2:*:*:volume/*","arn:aws:ec2:*:*:snapshot/*"],
			"Condition":{"StringEquals":{"ec2:CreateAction":["CreateVolume","CreateSnapshot"]}}},
		{"Effect":"Allow","Action":"ec2:DeleteTags","Resource":["arn:aws:ec2:*:*:volume/*","arn:aws:ec2:*:*:snapshot/*"]},
		{"Effect":"Allow","Action":"ec2:CreateVolume","Resource":"*","Condition":{"StringLike":{"aws:RequestTag/ebs.csi.aws.com/cluster":"true"}}},
		{"Effect":"Allow","Action":"ec2:CreateVolume","Resource":"*","Condition":{"StringLike":{"aws:RequestTag/CSIVolumeName":"*"}}},
		{"Effect":"Allow","Action":["ec2:DeleteVolume","ec2:DeleteSnapshot"],"Resource":"*","Condition":{"StringLike":{
			"ec2:ResourceTag/ebs.csi.aws.com/cluster":"true"}}},
		{"Effect":"Allow","Action":"ec2:DeleteVolume","Resource":"*","Condition":{"StringLike":{
			"ec2:ResourceTag/kubernetes.io/created-for/pvc/name":"*"}}}]}`,
	"/service-role/AmazonEFSCSIDriverPolicy": allow("elasticfilesystem:DescribeAccessPoints", "elasticfilesystem:DescribeFileSystems",
		"elasticfilesystem:DescribeMountTargets", "ec2:DescribeAvailabilityZones", "elasticfilesystem:CreateAccessPoint",
		"elasticfilesystem:TagResource", "elasticfilesystem:DeleteAccessPoint"),
	"/service-role/AmazonRDSEnhancedMonitoringRole": allow("logs:CreateLogGroup", "logs:PutRetentionPolicy", "logs:CreateLogStream",
		"logs:PutLogEvents", "logs:DescribeLogStreams", "logs:GetLogEvents"),
}
