package permission

import "strings"

// ec2Resources are the resources of EC2 actions that have some, without the
// beginning of the ARN.
var ec2Resources = map[string][]string{
	"CreateVpc":                                  {"vpc/*"},
	"DeleteVpc":                                  {"vpc/{VpcId}"},
	"ModifyVpcAttribute":                         {"vpc/{VpcId}"},
	"AssociateVpcCidrBlock":                      {"vpc/{VpcId}"},
	"DisassociateVpcCidrBlock":                   {"vpc/*"},
	"CreateSubnet":                               {"subnet/*", "vpc/{VpcId}"},
	"DeleteSubnet":                               {"subnet/{SubnetId}"},
	"ModifySubnetAttribute":                      {"subnet/{SubnetId}"},
	"CreateInternetGateway":                      {"internet-gateway/*"},
	"DeleteInternetGateway":                      {"internet-gateway/{InternetGatewayId}"},
	"AttachInternetGateway":                      {"internet-gateway/{InternetGatewayId}", "vpc/{VpcId}"},
	"DetachInternetGateway":                      {"internet-gateway/{InternetGatewayId}", "vpc/{VpcId}"},
	"AllocateAddress":                            {"elastic-ip/*"},
	"ReleaseAddress":                             {"elastic-ip/{AllocationId}"},
	"AssociateAddress":                           {"elastic-ip/{AllocationId}"},
	"DisassociateAddress":                        {"elastic-ip/*"},
	"CreateNatGateway":                           {"elastic-ip/{AllocationId}", "natgateway/*", "subnet/{SubnetId}"},
	"DeleteNatGateway":                           {"natgateway/{NatGatewayId}"},
	"CreateRouteTable":                           {"route-table/*", "vpc/{VpcId}"},
	"DeleteRouteTable":                           {"route-table/{RouteTableId}"},
	"CreateRoute":                                {"route-table/{RouteTableId}"},
	"ReplaceRoute":                               {"route-table/{RouteTableId}"},
	"DeleteRoute":                                {"route-table/{RouteTableId}"},
	"AssociateRouteTable":                        {"route-table/{RouteTableId}", "subnet/{SubnetId}"},
	"DisassociateRouteTable":                     {"route-table/*"},
	"ReplaceRouteTableAssociation":               {"route-table/{RouteTableId}"},
	"CreateSecurityGroup":                        {"security-group/*", "vpc/{VpcId}"},
	"DeleteSecurityGroup":                        {"security-group/{GroupId}"},
	"AuthorizeSecurityGroupIngress":              {"security-group/{GroupId}"},
	"AuthorizeSecurityGroupEgress":               {"security-group/{GroupId}"},
	"RevokeSecurityGroupIngress":                 {"security-group/{GroupId}"},
	"RevokeSecurityGroupEgress":                  {"security-group/{GroupId}"},
	"ModifySecurityGroupRules":                   {"security-group/{GroupId}"},
	"CreateNetworkAcl":                           {"network-acl/*", "vpc/{VpcId}"},
	"DeleteNetworkAcl":                           {"network-acl/{NetworkAclId}"},
	"CreateNetworkInterface":                     {"network-interface/*", "subnet/{SubnetId}"},
	"DeleteNetworkInterface":                     {"network-interface/{NetworkInterfaceId}"},
	"ModifyNetworkInterfaceAttribute":            {"network-interface/{NetworkInterfaceId}"},
	"AttachNetworkInterface":                     {"network-interface/{NetworkInterfaceId}", "instance/{InstanceId}"},
	"CreateVpcEndpoint":                          {"vpc-endpoint/*", "vpc/{VpcId}"},
	"DeleteVpcEndpoints":                         {"vpc-endpoint/{VpcEndpointIds}"},
	"CreateLaunchTemplate":                       {"launch-template/*"},
	"CreateLaunchTemplateVersion":                {"launch-template/{LaunchTemplateId}"},
	"ModifyLaunchTemplate":                       {"launch-template/{LaunchTemplateId}"},
	"DeleteLaunchTemplate":                       {"launch-template/{LaunchTemplateId}"},
	"DeleteLaunchTemplateVersions":               {"launch-template/{LaunchTemplateId}"},
	"RunInstances":                               {"instance/*", "network-interface/*", "subnet/{SubnetId}", "volume/*"},
	"TerminateInstances":                         {"instance/{InstanceIds}"},
	"StartInstances":                             {"instance/{InstanceIds}"},
	"StopInstances":                              {"instance/{InstanceIds}"},
	"RebootInstances":                            {"instance/{InstanceIds}"},
	"ModifyInstanceAttribute":                    {"instance/{InstanceId}"},
	"CreateVolume":                               {"volume/*"},
	"DeleteVolume":                               {"volume/{VolumeId}"},
	"AttachVolume":                               {"instance/{InstanceId}", "volume/{VolumeId}"},
	"DetachVolume":                               {"volume/{VolumeId}"},
	"CreateKeyPair":                              {"key-pair/{KeyName}"},
	"ImportKeyPair":                              {"key-pair/{KeyName}"},
	"DeleteKeyPair":                              {"key-pair/{KeyName}"},
	"CreateEgressOnlyInternetGateway":            {"egress-only-internet-gateway/*", "vpc/{VpcId}"},
	"DeleteEgressOnlyInternetGateway":            {"egress-only-internet-gateway/{EgressOnlyInternetGatewayId}"},
	"UpdateSecurityGroupRuleDescriptionsIngress": {"security-group/{GroupId}"},
	"UpdateSecurityGroupRuleDescriptionsEgress":  {"security-group/{GroupId}"},
}

const ec2ARN = "arn:aws:ec2:{region}:{account}:"

func (n *Needs) ec2(operation string) {
	switch operation {
	case "CreateTags", "DeleteTags":
		n.on("{Resources}") // see EC2ResourceType
		return
	}
	for _, template := range ec2Resources[operation] {
		n.on(ec2ARN + template)
	}
	if len(n.Resources) > 0 {
		// Tags at creation need the tagging permission on what is created (EC2
		// User Guide, "Grant permission to tag EC2 resources during creation").
		n.Also = append(n.Also, Also{Field: "TagSpecifications", Action: "ec2:CreateTags", Resources: created(n.Resources)})
	}
}

// created are the resources that come into being with the call.
func created(templates []string) []string {
	var out []string
	for _, t := range templates {
		if strings.HasSuffix(t, "/*") {
			out = append(out, t)
		}
	}
	return out
}

// EC2ResourceType returns the resource type of an id in EC2's ARNs, or * for
// an id of no known kind.
func EC2ResourceType(id string) string {
	prefix, _, _ := strings.Cut(id, "-")
	switch prefix {
	case "vpc", "subnet":
		return prefix
	case "igw":
		return "internet-gateway"
	case "eigw":
		return "egress-only-internet-gateway"
	case "nat":
		return "natgateway"
	case "eipalloc":
		return "elastic-ip"
	case "rtb":
		return "route-table"
	case "sg":
		return "security-group"
	case "sgr":
		return "security-group-rule"
	case "acl":
		return "network-acl"
	case "eni":
		return "network-interface"
	case "i":
		return "instance"
	case "lt":
		return "launch-template"
	case "vol":
		return "volume"
	case "snap":
		return "snapshot"
	case "vpce":
		return "vpc-endpoint"
	case "ami":
		return "image"
	}
	return "*"
}
