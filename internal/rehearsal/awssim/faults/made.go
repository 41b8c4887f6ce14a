package faults

import (
	"net/http"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// made is what a call makes: the field that names it, the fields by which
// other calls use it (any, if none are listed), and how they are refused.
type made struct {
	field  string
	uses   []string
	refuse func(name string) *service.Error
}

// ec2Made are the kinds of EC2 that are known to appear late, with the code
// that clients retry on.
var ec2Made = []struct{ operation, field, prefix, code, noun string }{
	{"CreateVpc", "VpcId", "vpc-", "InvalidVpcID.NotFound", "vpc ID"},
	{"CreateSubnet", "SubnetId", "subnet-", "InvalidSubnetID.NotFound", "subnet ID"},
	{"CreateInternetGateway", "InternetGatewayId", "igw-", "InvalidInternetGatewayID.NotFound", "internetGateway ID"},
	{"AllocateAddress", "AllocationId", "eipalloc-", "InvalidAllocationID.NotFound", "allocation ID"},
	{"CreateNatGateway", "NatGatewayId", "nat-", "InvalidNatGatewayID.NotFound", "natGateway ID"},
	{"CreateRouteTable", "RouteTableId", "rtb-", "InvalidRouteTableID.NotFound", "routeTable ID"},
	{"CreateSecurityGroup", "GroupId", "sg-", "InvalidGroup.NotFound", "security group"},
	{"CreateNetworkInterface", "NetworkInterfaceId", "eni-", "InvalidNetworkInterfaceID.NotFound", "networkInterface ID"},
	{"CreateLaunchTemplate", "LaunchTemplateId", "lt-", "InvalidLaunchTemplateId.NotFound", "launch template ID"},
	{"CreateVolume", "VolumeId", "vol-", "InvalidVolume.NotFound", "volume"},
}

func madeBy(c Call) (made, bool) {
	switch c.Service {
	case "ec2":
		for _, m := range ec2Made {
			if m.operation == c.Operation {
				return made{field: m.field, refuse: func(name string) *service.Error {
					return service.Refuse(m.code, "The %s '%s' does not exist", m.noun, name)
				}}, true
			}
		}
	case "iam":
		for operation, field := range map[string]string{
			"CreateRole": "RoleName", "CreateUser": "UserName", "CreateInstanceProfile": "InstanceProfileName",
		} {
			if operation == c.Operation {
				return made{field: field, uses: []string{field}, refuse: func(name string) *service.Error {
					return service.RefuseStatus(http.StatusNotFound, "NoSuchEntity", "%s %s cannot be found.", field, name)
				}}, true
			}
		}
	case "eks":
		if c.Operation == "CreateCluster" {
			return made{field: "Name", uses: []string{"Name", "ClusterName"}, refuse: func(name string) *service.Error {
				return service.RefuseStatus(http.StatusNotFound, "ResourceNotFoundException", "No cluster found for name: %s.", name)
			}}, true
		}
	case "s3":
		if c.Operation == "CreateBucket" {
			return made{field: "Bucket", uses: []string{"Bucket"}, refuse: func(string) *service.Error {
				return service.RefuseStatus(http.StatusNotFound, "NoSuchBucket", "The specified bucket does not exist")
			}}, true
		}
	}
	return made{}, false
}
