package ec2sim

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// absent is a kind of resource that can be asked for but not made here: the
// answer is that there is none, with unknown ids and filters refused as ever.
type absent struct{ header }

var volumeKind = kind{
	typ: "volume", prefix: "vol-", param: "volumeId", absent: "The volume '%s' does not exist.",
	notFound: "InvalidVolume.NotFound", malformed: "InvalidVolumeID.Malformed",
}

var vpcEndpointKind = kind{
	typ: "vpc-endpoint", prefix: "vpce-", param: "vpcEndpointId", absent: "The Vpc Endpoint Id '%s' does not exist",
	notFound: "InvalidVpcEndpointId.NotFound", malformed: "InvalidVpcEndpointId.Malformed",
}

var volumes = family[*absent]{kind: volumeKind, maxPage: largePage, fields: absentFields(
	"attachment.attach-time", "attachment.delete-on-termination", "attachment.device", "attachment.instance-id",
	"attachment.status", "availability-zone", "availability-zone-id", "create-time", "encrypted", "fast-restored",
	"multi-attach-enabled", "operator.managed", "operator.principal", "size", "snapshot-id", "status", "volume-id",
	"volume-type",
)}

var vpcEndpoints = family[*absent]{kind: vpcEndpointKind, maxPage: largePage, fields: absentFields(
	"ip-address-type", "service-name", "service-region", "vpc-id", "vpc-endpoint-id", "vpc-endpoint-state",
	"vpc-endpoint-type",
)}

func absentFields(names ...string) fields[*absent] {
	f := fields[*absent]{tags: tagged[*absent], by: map[string]func(*place, *absent) []string{"tag-key": tagKeys[*absent]}}
	for _, name := range names {
		f.by[name] = always[*absent]("")
	}
	return f
}

func (s *Service) absentOperations() []service.Operation {
	return []service.Operation{
		read(s, "DescribeVolumes", (*place).describeVolumes, "VolumeIds", "Filters", "MaxResults", "NextToken"),
		read(s, "DescribeVpcEndpoints", (*place).describeVPCEndpoints, "VpcEndpointIds", "Filters", "MaxResults", "NextToken"),
		write(s, "DeleteVpcEndpoints", (*place).deleteVPCEndpoints, "VpcEndpointIds"),
	}
}

func (p *place) describeVolumes(in *ec2.DescribeVolumesInput) (*ec2.DescribeVolumesOutput, error) {
	_, _, err := volumes.list(p, nil, selection{in.VolumeIds, in.Filters, in.MaxResults, in.NextToken})
	if err != nil {
		return nil, err
	}
	return &ec2.DescribeVolumesOutput{}, nil
}

func (p *place) describeVPCEndpoints(in *ec2.DescribeVpcEndpointsInput) (*ec2.DescribeVpcEndpointsOutput, error) {
	_, _, err := vpcEndpoints.list(p, nil, selection{in.VpcEndpointIds, in.Filters, in.MaxResults, in.NextToken})
	if err != nil {
		return nil, err
	}
	return &ec2.DescribeVpcEndpointsOutput{}, nil
}

// deleteVPCEndpoints succeeds as a call and names each endpoint that it could
// not delete (EC2 API, DeleteVpcEndpoints).
func (p *place) deleteVPCEndpoints(in *ec2.DeleteVpcEndpointsInput) (*ec2.DeleteVpcEndpointsOutput, error) {
	if len(in.VpcEndpointIds) == 0 {
		return nil, missing(vpcEndpointKind.param)
	}
	out := &ec2.DeleteVpcEndpointsOutput{}
	for _, id := range in.VpcEndpointIds {
		refusal := service.Refuse(vpcEndpointKind.notFound, vpcEndpointKind.absent, id)
		out.Unsuccessful = append(out.Unsuccessful, types.UnsuccessfulItem{
			ResourceId: aws.String(id),
			Error:      &types.UnsuccessfulItemError{Code: aws.String(refusal.Code), Message: aws.String(refusal.Message)},
		})
	}
	return out, nil
}
