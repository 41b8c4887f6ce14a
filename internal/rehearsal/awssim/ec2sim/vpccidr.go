package ec2sim

import (
	"net/netip"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// cidrAssociation is a block that was added to a VPC.
type cidrAssociation struct {
	ID   string
	CIDR netip.Prefix
}

// mostCIDRs is the default quota of IPv4 blocks of a VPC, the primary one
// included (VPC User Guide, "Amazon VPC quotas").
const mostCIDRs = 5

func (s *Service) vpcCIDROperations() []service.Operation {
	return []service.Operation{
		write(s, "AssociateVpcCidrBlock", (*place).associateVPCCIDR, "VpcId", "CidrBlock"),
		write(s, "DisassociateVpcCidrBlock", (*place).disassociateVPCCIDR, "AssociationId"),
	}
}

// associations lists the VPC's blocks, the primary one first.
func (v *vpc) associations() []cidrAssociation {
	return append([]cidrAssociation{{ID: v.Association, CIDR: v.CIDR}}, v.Secondary...)
}

// holds reports whether one of the VPC's blocks holds the whole other one.
func (v *vpc) holds(cidr netip.Prefix) bool {
	return slices.ContainsFunc(v.associations(), func(a cidrAssociation) bool {
		return cidr.Bits() >= a.CIDR.Bits() && a.CIDR.Contains(cidr.Addr())
	})
}

func (v *vpc) values(value func(cidrAssociation) string) []string {
	var list []string
	for _, a := range v.associations() {
		list = append(list, value(a))
	}
	return list
}

func (a cidrAssociation) show(state types.VpcCidrBlockStateCode) types.VpcCidrBlockAssociation {
	return types.VpcCidrBlockAssociation{
		AssociationId: aws.String(a.ID), CidrBlock: aws.String(a.CIDR.String()), CidrBlockState: &types.VpcCidrBlockState{State: state},
	}
}

// associateVPCCIDR adds a block. Each route table of the VPC gets a local
// route to it.
func (p *place) associateVPCCIDR(in *ec2.AssociateVpcCidrBlockInput) (*ec2.AssociateVpcCidrBlockOutput, error) {
	v, err := get(vpcKind, p.VPCs, in.VpcId)
	if err != nil {
		return nil, err
	}
	if in.CidrBlock == nil {
		return nil, missing("cidrBlock")
	}
	cidr, err := parseCIDR(*in.CidrBlock, "InvalidVpc.Range")
	if err != nil {
		return nil, err
	}
	for _, a := range v.associations() {
		if a.CIDR.Overlaps(cidr) {
			return nil, service.Refuse("CidrConflict", "The CIDR '%s' conflicts with the block %s of the VPC", cidr, a.CIDR)
		}
	}
	if len(v.associations()) >= mostCIDRs {
		return nil, service.Refuse("CidrLimitExceeded", "This network '%s' has met its maximum number of allowed CIDRs: %d", v.ID, mostCIDRs)
	}
	a := cidrAssociation{ID: p.newID("vpc-cidr-assoc-"), CIDR: cidr}
	v.Secondary = append(v.Secondary, a)
	return &ec2.AssociateVpcCidrBlockOutput{
		VpcId: aws.String(v.ID), CidrBlockAssociation: new(a.show(types.VpcCidrBlockStateCodeAssociating)),
	}, nil
}

func (p *place) disassociateVPCCIDR(in *ec2.DisassociateVpcCidrBlockInput) (*ec2.DisassociateVpcCidrBlockOutput, error) {
	if in.AssociationId == nil {
		return nil, missing("associationId")
	}
	for _, v := range p.VPCs {
		if v.Association == *in.AssociationId {
			return nil, service.Refuse("OperationNotPermitted",
				"The vpc CIDR block with association ID %s may not be disassociated. It is the primary IPv4 CIDR block of the VPC", v.Association)
		}
		at := slices.IndexFunc(v.Secondary, func(a cidrAssociation) bool { return a.ID == *in.AssociationId })
		if at < 0 {
			continue
		}
		a := v.Secondary[at]
		for _, s := range p.Subnets {
			if s.VPC == v.ID && a.CIDR.Contains(s.CIDR.Addr()) {
				return nil, service.Refuse("InvalidCidr.InUse", "The vpc %s currently has a subnet within CIDR block %s", v.ID, a.CIDR)
			}
		}
		v.Secondary = slices.Delete(v.Secondary, at, at+1)
		return &ec2.DisassociateVpcCidrBlockOutput{
			VpcId: aws.String(v.ID), CidrBlockAssociation: new(a.show(types.VpcCidrBlockStateCodeDisassociating)),
		}, nil
	}
	return nil, service.Refuse("InvalidVpcCidrBlockAssociationID.NotFound",
		"The vpc CIDR block association ID '%s' does not exist", *in.AssociationId)
}
