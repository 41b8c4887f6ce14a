package ec2sim

import (
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// rule lets traffic with one peer pass.
type rule struct {
	header
	Group       string // that has the rule
	Egress      bool
	Protocol    string
	From, To    int32
	CIDR, CIDR6 string // one of these
	Peer        string // or another group
	Description string
}

const (
	anyProtocol = "-1"
	anyPort     = int32(-1)
)

var securityGroupRuleKind = kind{
	typ: "security-group-rule", prefix: "sgr-", param: "securityGroupRuleId", absent: "The security group rule ID '%s' does not exist",
	notFound: "InvalidSecurityGroupRuleId.NotFound", malformed: "InvalidSecurityGroupRuleId.Malformed",
}

var securityGroupRules = family[*rule]{kind: securityGroupRuleKind, maxPage: largePage, fields: fields[*rule]{
	tags: tagged[*rule],
	by: map[string]func(*place, *rule) []string{
		"group-id":               one(func(r *rule) string { return r.Group }),
		"security-group-rule-id": one(func(r *rule) string { return r.ID }),
	},
}}

func (s *Service) securityGroupRuleOperations() []service.Operation {
	return []service.Operation{
		read(s, "DescribeSecurityGroupRules", (*place).describeSecurityGroupRules,
			"SecurityGroupRuleIds", "Filters", "MaxResults", "NextToken"),
		write(s, "AuthorizeSecurityGroupIngress", (*place).authorizeIngress, "GroupId", "IpPermissions", "TagSpecifications"),
		write(s, "AuthorizeSecurityGroupEgress", (*place).authorizeEgress, "GroupId", "IpPermissions", "TagSpecifications"),
		write(s, "RevokeSecurityGroupIngress", (*place).revokeIngress, "GroupId", "IpPermissions", "SecurityGroupRuleIds"),
		write(s, "RevokeSecurityGroupEgress", (*place).revokeEgress, "GroupId", "IpPermissions", "SecurityGroupRuleIds"),
	}
}

func (r *rule) fromPort() string { return strconv.Itoa(int(r.From)) }
func (r *rule) toPort() string   { return strconv.Itoa(int(r.To)) }

// same reports whether two rules let the same traffic pass.
func (r *rule) same(other *rule) bool {
	return r.Egress == other.Egress && r.Protocol == other.Protocol && r.From == other.From && r.To == other.To &&
		r.CIDR == other.CIDR && r.CIDR6 == other.CIDR6 && r.Peer == other.Peer
}

// ruleField makes a filter field of a group from its rules.
func ruleField(egress bool, value func(*rule) string) func(*place, *securityGroup) []string {
	return func(_ *place, g *securityGroup) []string {
		var values []string
		for _, r := range g.Rules {
			if r.Egress == egress {
				values = append(values, value(r))
			}
		}
		return values
	}
}

func (p *place) showRule(r *rule) types.SecurityGroupRule {
	shown := types.SecurityGroupRule{
		SecurityGroupRuleId: aws.String(r.ID), SecurityGroupRuleArn: aws.String(p.arn(securityGroupRuleKind, r.ID)),
		GroupId: aws.String(r.Group), GroupOwnerId: aws.String(p.account()), IsEgress: aws.Bool(r.Egress),
		IpProtocol: aws.String(r.Protocol), FromPort: aws.Int32(r.From), ToPort: aws.Int32(r.To),
		CidrIpv4: set(r.CIDR), CidrIpv6: set(r.CIDR6), Description: set(r.Description), Tags: r.Tags.list(),
	}
	if r.Peer != "" {
		shown.ReferencedGroupInfo = &types.ReferencedSecurityGroup{GroupId: aws.String(r.Peer), UserId: aws.String(p.account())}
	}
	return shown
}

// set returns nil for an empty text, as EC2 leaves such members out.
func set(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func (p *place) describeSecurityGroupRules(in *ec2.DescribeSecurityGroupRulesInput) (*ec2.DescribeSecurityGroupRulesOutput, error) {
	table := map[string]*rule{}
	for _, g := range p.SecurityGroups {
		for _, r := range g.Rules {
			table[r.ID] = r
		}
	}
	found, next, err := securityGroupRules.list(p, table, selection{in.SecurityGroupRuleIds, in.Filters, in.MaxResults, in.NextToken})
	if err != nil {
		return nil, err
	}
	out := &ec2.DescribeSecurityGroupRulesOutput{NextToken: next}
	for _, r := range found {
		out.SecurityGroupRules = append(out.SecurityGroupRules, p.showRule(r))
	}
	return out, nil
}

func (p *place) authorizeIngress(in *ec2.AuthorizeSecurityGroupIngressInput) (*ec2.AuthorizeSecurityGroupIngressOutput, error) {
	rules, err := p.authorize(in.GroupId, false, in.IpPermissions, in.TagSpecifications)
	if err != nil {
		return nil, err
	}
	return &ec2.AuthorizeSecurityGroupIngressOutput{Return: aws.Bool(true), SecurityGroupRules: rules}, nil
}

func (p *place) authorizeEgress(in *ec2.AuthorizeSecurityGroupEgressInput) (*ec2.AuthorizeSecurityGroupEgressOutput, error) {
	rules, err := p.authorize(in.GroupId, true, in.IpPermissions, in.TagSpecifications)
	if err != nil {
		return nil, err
	}
	return &ec2.AuthorizeSecurityGroupEgressOutput{Return: aws.Bool(true), SecurityGroupRules: rules}, nil
}

// authorize adds all rules of the permissions or none.
func (p *place) authorize(group *string, egress bool, permissions []types.IpPermission, specifications []types.TagSpecification) ([]types.SecurityGroupRule, error) {
	g, err := get(securityGroupKind, p.SecurityGroups, group)
	if err != nil {
		return nil, err
	}
	tags, err := securityGroupRuleKind.tagsFor(specifications)
	if err != nil {
		return nil, err
	}
	added, err := p.rules(g, egress, permissions)
	if err != nil {
		return nil, err
	}
	for n, r := range added {
		if slices.ContainsFunc(g.Rules, r.same) || slices.ContainsFunc(added[:n], r.same) {
			return nil, service.Refuse("InvalidPermission.Duplicate",
				"the specified rule \"peer: %s, %s, from port: %d, to port: %d, ALLOW\" already exists",
				r.CIDR+r.CIDR6+r.Peer, r.Protocol, r.From, r.To)
		}
	}
	var shown []types.SecurityGroupRule
	for _, r := range added {
		r.ID, r.Tags = p.newID("sgr-"), tags
		g.Rules = append(g.Rules, r)
		shown = append(shown, p.showRule(r))
	}
	return shown, nil
}

func (p *place) revokeIngress(in *ec2.RevokeSecurityGroupIngressInput) (*ec2.RevokeSecurityGroupIngressOutput, error) {
	revoked, err := p.revoke(in.GroupId, false, in.IpPermissions, in.SecurityGroupRuleIds)
	if err != nil {
		return nil, err
	}
	return &ec2.RevokeSecurityGroupIngressOutput{Return: aws.Bool(true), RevokedSecurityGroupRules: revoked}, nil
}

func (p *place) revokeEgress(in *ec2.RevokeSecurityGroupEgressInput) (*ec2.RevokeSecurityGroupEgressOutput, error) {
	revoked, err := p.revoke(in.GroupId, true, in.IpPermissions, in.SecurityGroupRuleIds)
	if err != nil {
		return nil, err
	}
	return &ec2.RevokeSecurityGroupEgressOutput{Return: aws.Bool(true), RevokedSecurityGroupRules: revoked}, nil
}

// revoke removes rules by what they say or by id, all of them or none. A rule
// that the group does not have is an error outside a default VPC (EC2 API,
// RevokeSecurityGroupIngress).
func (p *place) revoke(group *string, egress bool, permissions []types.IpPermission, ids []string) ([]types.RevokedSecurityGroupRule, error) {
	g, err := get(securityGroupKind, p.SecurityGroups, group)
	if err != nil {
		return nil, err
	}
	if len(permissions) > 0 && len(ids) > 0 {
		return nil, service.Refuse("InvalidParameterCombination", "Either ipPermissions or securityGroupRuleIds can be specified, not both")
	}
	var going []*rule
	for _, id := range ids {
		at := slices.IndexFunc(g.Rules, func(r *rule) bool { return r.ID == id && r.Egress == egress })
		if at < 0 {
			return nil, securityGroupRuleKind.unknown(id)
		}
		going = append(going, g.Rules[at])
	}
	if len(ids) == 0 {
		unwanted, err := p.rules(g, egress, permissions)
		if err != nil {
			return nil, err
		}
		for _, r := range unwanted {
			at := slices.IndexFunc(g.Rules, r.same)
			if at < 0 {
				return nil, service.Refuse("InvalidPermission.NotFound", "The specified rule does not exist in this security group.")
			}
			going = append(going, g.Rules[at])
		}
	}
	g.Rules = slices.DeleteFunc(g.Rules, func(r *rule) bool { return slices.Contains(going, r) })
	var shown []types.RevokedSecurityGroupRule
	for _, r := range going {
		shown = append(shown, types.RevokedSecurityGroupRule{
			SecurityGroupRuleId: aws.String(r.ID), GroupId: aws.String(r.Group), IsEgress: aws.Bool(r.Egress),
			IpProtocol: aws.String(r.Protocol), FromPort: aws.Int32(r.From), ToPort: aws.Int32(r.To),
			CidrIpv4: set(r.CIDR), CidrIpv6: set(r.CIDR6), ReferencedGroupId: set(r.Peer), Description: set(r.Description),
		})
	}
	return shown, nil
}
