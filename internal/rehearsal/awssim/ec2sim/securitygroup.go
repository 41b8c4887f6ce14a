package ec2sim

import (
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

type securityGroup struct {
	header
	VPC         string
	Name        string
	Description string
	Rules       []*rule
}

var securityGroupKind = kind{
	typ: "security-group", prefix: "sg-", param: "groupId", absent: "The security group '%s' does not exist",
	notFound: "InvalidGroup.NotFound", malformed: "InvalidGroupId.Malformed",
}

var securityGroups = family[*securityGroup]{kind: securityGroupKind, maxPage: largePage, fields: fields[*securityGroup]{
	tags: tagged[*securityGroup],
	by: map[string]func(*place, *securityGroup) []string{
		"description":                    one(func(g *securityGroup) string { return g.Description }),
		"egress.ip-permission.cidr":      ruleField(true, func(r *rule) string { return r.CIDR }),
		"egress.ip-permission.from-port": ruleField(true, (*rule).fromPort),
		"egress.ip-permission.group-id":  ruleField(true, func(r *rule) string { return r.Peer }),
		"egress.ip-permission.ipv6-cidr": ruleField(true, func(r *rule) string { return r.CIDR6 }),
		"egress.ip-permission.protocol":  ruleField(true, func(r *rule) string { return r.Protocol }),
		"egress.ip-permission.to-port":   ruleField(true, (*rule).toPort),
		"group-id":                       one(func(g *securityGroup) string { return g.ID }),
		"group-name":                     one(func(g *securityGroup) string { return g.Name }),
		"ip-permission.cidr":             ruleField(false, func(r *rule) string { return r.CIDR }),
		"ip-permission.from-port":        ruleField(false, (*rule).fromPort),
		"ip-permission.group-id":         ruleField(false, func(r *rule) string { return r.Peer }),
		"ip-permission.ipv6-cidr":        ruleField(false, func(r *rule) string { return r.CIDR6 }),
		"ip-permission.protocol":         ruleField(false, func(r *rule) string { return r.Protocol }),
		"ip-permission.to-port":          ruleField(false, (*rule).toPort),
		"owner-id":                       owner[*securityGroup],
		"tag-key":                        tagKeys[*securityGroup],
		"vpc-id":                         one(func(g *securityGroup) string { return g.VPC }),
	},
}}

func (s *Service) securityGroupOperations() []service.Operation {
	return []service.Operation{
		write(s, "CreateSecurityGroup", (*place).createSecurityGroup, "VpcId", "GroupName", "Description", "TagSpecifications"),
		read(s, "DescribeSecurityGroups", (*place).describeSecurityGroups, "GroupIds", "Filters", "MaxResults", "NextToken"),
		write(s, "DeleteSecurityGroup", (*place).deleteSecurityGroup, "GroupId"),
	}
}

// defaultGroup is the name of the group that a VPC is created with.
const defaultGroup = "default"

func (g *securityGroup) isDefault() bool { return g.Name == defaultGroup }

// addGroup makes a group that lets everything out and nothing in.
func (p *place) addGroup(v *vpc, name, description string, tags tags) *securityGroup {
	g := &securityGroup{header: header{ID: p.newID("sg-"), Tags: tags}, VPC: v.ID, Name: name, Description: description}
	g.Rules = []*rule{{
		header: header{ID: p.newID("sgr-")}, Group: g.ID, Egress: true,
		Protocol: anyProtocol, From: anyPort, To: anyPort, CIDR: "0.0.0.0/0",
	}}
	p.SecurityGroups[g.ID] = g
	return g
}

// addDefaultGroup makes a VPC's default group, whose members reach each other.
func (p *place) addDefaultGroup(v *vpc) {
	g := p.addGroup(v, defaultGroup, "default VPC security group", nil)
	g.Rules = append(g.Rules, &rule{
		header: header{ID: p.newID("sgr-")}, Group: g.ID, Protocol: anyProtocol, From: anyPort, To: anyPort, Peer: g.ID,
	})
}

// groupText is what names and descriptions of groups may be made of (EC2 API,
// CreateSecurityGroup).
var groupText = regexp.MustCompile(`^[a-zA-Z0-9 ._\-:/()#,@\[\]+=&;{}!$*]{1,255}$`)

func (p *place) createSecurityGroup(in *ec2.CreateSecurityGroupInput) (*ec2.CreateSecurityGroupOutput, error) {
	if in.VpcId == nil {
		return nil, service.Refuse("VPCIdNotSpecified", "No default VPC for this user")
	}
	v, err := get(vpcKind, p.VPCs, in.VpcId)
	if err != nil {
		return nil, err
	}
	name, description := aws.ToString(in.GroupName), aws.ToString(in.Description)
	if err := p.checkGroup(v, name, description); err != nil {
		return nil, err
	}
	tags, err := securityGroupKind.tagsFor(in.TagSpecifications)
	if err != nil {
		return nil, err
	}
	g := p.addGroup(v, name, description, tags)
	return &ec2.CreateSecurityGroupOutput{
		GroupId: aws.String(g.ID), SecurityGroupArn: aws.String(p.arn(securityGroupKind, g.ID)), Tags: g.Tags.list(),
	}, nil
}

func (p *place) checkGroup(v *vpc, name, description string) error {
	switch {
	case name == "":
		return missing("groupName")
	case description == "":
		return missing("groupDescription")
	case name == defaultGroup:
		return service.Refuse("InvalidGroup.Reserved", "The security group '%s' is reserved", name)
	case strings.HasPrefix(name, securityGroupKind.prefix):
		return invalid("Value (%s) for parameter GroupName is invalid. Group names may not be in the format sg-*.", name)
	case !groupText.MatchString(name):
		return invalid("Value (%s) for parameter GroupName is invalid. It has characters that are not allowed or is too long.", name)
	case !groupText.MatchString(description):
		return invalid("Value (%s) for parameter GroupDescription is invalid. It has characters that are not allowed or is too long.", description)
	}
	for _, g := range p.SecurityGroups {
		if g.VPC == v.ID && g.Name == name {
			return service.Refuse("InvalidGroup.Duplicate", "The security group '%s' already exists for VPC '%s'", name, v.ID)
		}
	}
	return nil
}

func (p *place) describeSecurityGroups(in *ec2.DescribeSecurityGroupsInput) (*ec2.DescribeSecurityGroupsOutput, error) {
	found, next, err := securityGroups.list(p, p.SecurityGroups, selection{in.GroupIds, in.Filters, in.MaxResults, in.NextToken})
	if err != nil {
		return nil, err
	}
	out := &ec2.DescribeSecurityGroupsOutput{NextToken: next}
	for _, g := range found {
		out.SecurityGroups = append(out.SecurityGroups, types.SecurityGroup{
			GroupId: aws.String(g.ID), GroupName: aws.String(g.Name), Description: aws.String(g.Description),
			SecurityGroupArn: aws.String(p.arn(securityGroupKind, g.ID)), VpcId: aws.String(g.VPC),
			IpPermissions: p.permissions(g, false), IpPermissionsEgress: p.permissions(g, true),
			OwnerId: aws.String(p.account()), Tags: g.Tags.list(),
		})
	}
	return out, nil
}

func (p *place) deleteSecurityGroup(in *ec2.DeleteSecurityGroupInput) (*ec2.DeleteSecurityGroupOutput, error) {
	g, err := get(securityGroupKind, p.SecurityGroups, in.GroupId)
	if err != nil {
		return nil, err
	}
	if g.isDefault() {
		return nil, service.Refuse("CannotDelete", "the specified group: %q name: %q cannot be deleted by a user", g.ID, g.Name)
	}
	if err := p.removeGroup(g); err != nil {
		return nil, err
	}
	return &ec2.DeleteSecurityGroupOutput{GroupId: aws.String(g.ID), Return: aws.Bool(true)}, nil
}

// removeGroup refuses while an interface is in the group or another group's
// rule names it. Its own rules go with it.
func (p *place) removeGroup(g *securityGroup) error {
	inUse := service.Refuse("DependencyViolation", "resource %s has a dependent object", g.ID)
	for _, i := range p.Interfaces {
		if i.in(g.ID) {
			return inUse
		}
	}
	for _, other := range p.SecurityGroups {
		for _, r := range other.Rules {
			if other != g && r.Peer == g.ID {
				return inUse
			}
		}
	}
	delete(p.SecurityGroups, g.ID)
	return nil
}

// groupNames shows the groups with these ids.
func (p *place) groupNames(ids []string) []types.GroupIdentifier {
	var names []types.GroupIdentifier
	for _, id := range ids {
		names = append(names, types.GroupIdentifier{
			GroupId: aws.String(id), GroupName: aws.String(p.SecurityGroups[id].Name),
		})
	}
	return names
}
