package ec2sim

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// networkACL is the default network ACL of a VPC. It lets everything pass and
// covers every subnet; others cannot be made.
type networkACL struct {
	header
	VPC string
}

var networkACLKind = kind{
	typ: "network-acl", prefix: "acl-", param: "networkAclId", absent: "The networkAcl ID '%s' does not exist",
	notFound: "InvalidNetworkAclID.NotFound", malformed: "InvalidNetworkAclId.Malformed",
}

var networkACLs = family[*networkACL]{kind: networkACLKind, maxPage: largePage, fields: fields[*networkACL]{
	tags: tagged[*networkACL],
	by: map[string]func(*place, *networkACL) []string{
		"association.association-id": func(p *place, a *networkACL) []string {
			return p.covered(a, func(s *subnet) string { return s.ACLAssoc })
		},
		"association.network-acl-id": func(p *place, a *networkACL) []string {
			return p.covered(a, func(*subnet) string { return a.ID })
		},
		"association.subnet-id": func(p *place, a *networkACL) []string {
			return p.covered(a, func(s *subnet) string { return s.ID })
		},
		"default":        always[*networkACL]("true"),
		"network-acl-id": one(func(a *networkACL) string { return a.ID }),
		"owner-id":       owner[*networkACL],
		"tag-key":        tagKeys[*networkACL],
		"vpc-id":         one(func(a *networkACL) string { return a.VPC }),
	},
}}

func (s *Service) networkACLOperations() []service.Operation {
	return []service.Operation{
		read(s, "DescribeNetworkAcls", (*place).describeNetworkACLs, "NetworkAclIds", "Filters", "MaxResults", "NextToken"),
	}
}

func (p *place) addDefaultACL(v *vpc) {
	a := &networkACL{header: header{ID: p.newID("acl-")}, VPC: v.ID}
	p.NetworkACLs[a.ID] = a
}

// covered returns a value of every subnet that the ACL covers.
func (p *place) covered(a *networkACL, value func(*subnet) string) []string {
	var values []string
	for _, s := range sorted(p.Subnets) {
		if s.VPC == a.VPC {
			values = append(values, value(s))
		}
	}
	return values
}

func (p *place) describeNetworkACLs(in *ec2.DescribeNetworkAclsInput) (*ec2.DescribeNetworkAclsOutput, error) {
	found, next, err := networkACLs.list(p, p.NetworkACLs, selection{in.NetworkAclIds, in.Filters, in.MaxResults, in.NextToken})
	if err != nil {
		return nil, err
	}
	out := &ec2.DescribeNetworkAclsOutput{NextToken: next}
	for _, a := range found {
		shown := types.NetworkAcl{
			NetworkAclId: aws.String(a.ID), VpcId: aws.String(a.VPC), IsDefault: aws.Bool(true),
			OwnerId: aws.String(p.account()), Tags: a.Tags.list(),
		}
		for _, egress := range []bool{true, false} {
			shown.Entries = append(shown.Entries,
				aclEntry(100, egress, types.RuleActionAllow), aclEntry(32767, egress, types.RuleActionDeny))
		}
		for _, s := range sorted(p.Subnets) {
			if s.VPC == a.VPC {
				shown.Associations = append(shown.Associations, types.NetworkAclAssociation{
					NetworkAclAssociationId: aws.String(s.ACLAssoc), NetworkAclId: aws.String(a.ID), SubnetId: aws.String(s.ID),
				})
			}
		}
		out.NetworkAcls = append(out.NetworkAcls, shown)
	}
	return out, nil
}

func aclEntry(number int32, egress bool, action types.RuleAction) types.NetworkAclEntry {
	return types.NetworkAclEntry{
		RuleNumber: aws.Int32(number), Egress: aws.Bool(egress), RuleAction: action,
		CidrBlock: aws.String("0.0.0.0/0"), Protocol: aws.String(anyProtocol),
	}
}
