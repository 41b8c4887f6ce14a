package main

// api is one SDK service package and the operations to cover.
type api struct {
	// name is the last element of the SDK package's path.
	name string
	// operations are the ones whose shapes are covered; nil means all.
	operations []string
}

// modelled is the one list of what the simulated AWS can speak. APIs small
// enough are covered whole; the others are too large for that.
func modelled() []api {
	return []api{
		{name: "autoscaling"},
		{name: "cloudformation", operations: cloudformationOperations()},
		{name: "ec2", operations: ec2Operations()},
		{name: "eks"},
		{name: "elasticloadbalancing"},
		{name: "elasticloadbalancingv2"},
		{name: "iam"},
		{name: "kms"},
		{name: "rds", operations: rdsOperations()},
		{name: "resourcegroupstaggingapi"},
		{name: "s3", operations: s3Operations()},
		{name: "secretsmanager"},
		{name: "servicequotas"},
		{name: "ssm", operations: ssmOperations()},
		{name: "sts"},
	}
}

func ec2Operations() []string {
	return []string{
		// VPCs and what they consist of
		"CreateVpc", "DeleteVpc", "DescribeVpcs", "DescribeVpcAttribute", "ModifyVpcAttribute",
		"AssociateVpcCidrBlock", "DisassociateVpcCidrBlock",
		"CreateSubnet", "DeleteSubnet", "DescribeSubnets", "ModifySubnetAttribute",
		"CreateInternetGateway", "DeleteInternetGateway", "DescribeInternetGateways",
		"AttachInternetGateway", "DetachInternetGateway",
		"CreateEgressOnlyInternetGateway", "DeleteEgressOnlyInternetGateway", "DescribeEgressOnlyInternetGateways",
		"CreateNatGateway", "DeleteNatGateway", "DescribeNatGateways",
		"AllocateAddress", "AssociateAddress", "DescribeAddresses", "DisassociateAddress", "ReleaseAddress",
		"DescribeAddressesAttribute",
		"CreateRouteTable", "DeleteRouteTable", "DescribeRouteTables",
		"AssociateRouteTable", "DisassociateRouteTable", "ReplaceRouteTableAssociation",
		"CreateRoute", "DeleteRoute", "ReplaceRoute",
		"CreateVpcEndpoint", "DeleteVpcEndpoints", "DescribeVpcEndpoints", "ModifyVpcEndpoint",
		"DescribeNetworkAcls", "CreateNetworkAcl", "DeleteNetworkAcl",
		"DescribeDhcpOptions", "DescribeVpcPeeringConnections", "DescribeFlowLogs",
		// security groups and interfaces
		"CreateSecurityGroup", "DeleteSecurityGroup", "DescribeSecurityGroups", "DescribeSecurityGroupRules",
		"AuthorizeSecurityGroupIngress", "AuthorizeSecurityGroupEgress",
		"RevokeSecurityGroupIngress", "RevokeSecurityGroupEgress",
		"ModifySecurityGroupRules",
		"UpdateSecurityGroupRuleDescriptionsIngress", "UpdateSecurityGroupRuleDescriptionsEgress",
		"CreateNetworkInterface", "DeleteNetworkInterface", "DescribeNetworkInterfaces",
		"AttachNetworkInterface", "DetachNetworkInterface", "ModifyNetworkInterfaceAttribute",
		"AssignPrivateIpAddresses", "UnassignPrivateIpAddresses",
		// instances and what they start from
		"RunInstances", "TerminateInstances", "StartInstances", "StopInstances", "RebootInstances",
		"DescribeInstances", "DescribeInstanceStatus", "DescribeInstanceAttribute", "ModifyInstanceAttribute",
		"ModifyInstanceMetadataOptions",
		"DescribeInstanceTypes", "DescribeInstanceTypeOfferings",
		"CreateLaunchTemplate", "CreateLaunchTemplateVersion", "DeleteLaunchTemplate", "DeleteLaunchTemplateVersions",
		"DescribeLaunchTemplates", "DescribeLaunchTemplateVersions", "ModifyLaunchTemplate",
		"DescribeImages", "CreateKeyPair", "DeleteKeyPair", "DescribeKeyPairs", "ImportKeyPair",
		"CreateFleet", "DescribeSpotPriceHistory",
		// volumes
		"CreateVolume", "DeleteVolume", "DescribeVolumes", "AttachVolume", "DetachVolume", "ModifyVolume",
		"DescribeVolumesModifications", "CreateSnapshot", "DeleteSnapshot", "DescribeSnapshots",
		// the account and tags
		"CreateTags", "DeleteTags", "DescribeTags",
		"DescribeAvailabilityZones", "DescribeRegions", "DescribeAccountAttributes",
	}
}
