package ec2sim_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/ec2sim"
)

func tcp(port int32, ranges ...string) types.IpPermission {
	p := types.IpPermission{IpProtocol: aws.String("tcp"), FromPort: aws.Int32(port), ToPort: aws.Int32(port)}
	for _, r := range ranges {
		p.IpRanges = append(p.IpRanges, types.IpRange{CidrIp: aws.String(r)})
	}
	return p
}

func from(group string) types.IpPermission {
	return types.IpPermission{
		IpProtocol: aws.String("-1"), UserIdGroupPairs: []types.UserIdGroupPair{{GroupId: aws.String(group)}},
	}
}

func describeGroup(a *account, id string) types.SecurityGroup {
	a.t.Helper()
	return must[ec2.DescribeSecurityGroupsOutput](a, &ec2.DescribeSecurityGroupsInput{GroupIds: []string{id}}).SecurityGroups[0]
}

func TestSecurityGroupsThatReferToEachOther(t *testing.T) {
	a := newAccount(t, ec2sim.Options{})
	vpc := a.vpc("10.0.0.0/16")
	one, two := a.group(vpc, "one"), a.group(vpc, "two")
	a.ok(&ec2.AuthorizeSecurityGroupIngressInput{GroupId: aws.String(one), IpPermissions: []types.IpPermission{from(two), from(one)}})
	a.ok(&ec2.AuthorizeSecurityGroupIngressInput{GroupId: aws.String(two), IpPermissions: []types.IpPermission{from(one)}})
	for _, id := range []string{one, two} {
		a.refused(&ec2.DeleteSecurityGroupInput{GroupId: aws.String(id)}, "DependencyViolation")
	}
	for _, id := range []string{one, two} {
		a.ok(&ec2.RevokeSecurityGroupIngressInput{GroupId: aws.String(id), IpPermissions: describeGroup(a, id).IpPermissions})
		if left := describeGroup(a, id).IpPermissions; len(left) > 0 {
			t.Errorf("%s still lets in %v", id, left)
		}
	}
	a.restart()
	for _, id := range []string{one, two} {
		a.ok(&ec2.DeleteSecurityGroupInput{GroupId: aws.String(id)})
	}
}

// A rule of the group itself does not keep it.
func TestSecurityGroupThatRefersToItself(t *testing.T) {
	a := newAccount(t, ec2sim.Options{})
	id := a.group(a.vpc("10.0.0.0/16"), "self")
	a.ok(&ec2.AuthorizeSecurityGroupIngressInput{GroupId: aws.String(id), IpPermissions: []types.IpPermission{from(id)}})
	a.ok(&ec2.DeleteSecurityGroupInput{GroupId: aws.String(id)})
}

func TestSecurityGroupRules(t *testing.T) {
	a := newAccount(t, ec2sim.Options{})
	id := aws.String(a.group(a.vpc("10.0.0.0/16"), "node"))
	if egress := describeGroup(a, *id).IpPermissionsEgress; len(egress) != 1 || *egress[0].IpProtocol != "-1" || *egress[0].IpRanges[0].CidrIp != "0.0.0.0/0" {
		t.Errorf("a new group lets out %v, want everything", egress)
	}
	authorize := &ec2.AuthorizeSecurityGroupIngressInput{GroupId: id, IpPermissions: []types.IpPermission{tcp(443, "10.0.0.0/8", "192.168.0.0/16"), tcp(22, "10.0.0.0/8")}}
	added := must[ec2.AuthorizeSecurityGroupIngressOutput](a, authorize).SecurityGroupRules
	if len(added) != 3 {
		t.Fatalf("added %d rules, want one for each peer: %v", len(added), added)
	}
	if ingress := describeGroup(a, *id).IpPermissions; len(ingress) != 2 || len(ingress[0].IpRanges) != 2 {
		t.Errorf("the group lets in %v, want the peers of a port together", ingress)
	}
	a.refused(authorize, "InvalidPermission.Duplicate")
	a.refused(&ec2.AuthorizeSecurityGroupIngressInput{GroupId: id, IpPermissions: []types.IpPermission{tcp(80, "10.0.0.0/8", "10.0.0.0/8")}}, "InvalidPermission.Duplicate")
	a.refused(&ec2.AuthorizeSecurityGroupIngressInput{GroupId: id, IpPermissions: []types.IpPermission{from("sg-00000000000000fff")}}, "InvalidGroup.NotFound")
	a.refused(&ec2.AuthorizeSecurityGroupIngressInput{GroupId: id, IpPermissions: []types.IpPermission{tcp(80, "ten")}}, "InvalidParameterValue")
	a.refused(&ec2.AuthorizeSecurityGroupIngressInput{GroupId: id, IpPermissions: []types.IpPermission{tcp(70000, "10.0.0.0/8")}}, "InvalidParameterValue")
	a.refused(&ec2.AuthorizeSecurityGroupIngressInput{GroupId: id, IpPermissions: []types.IpPermission{tcp(80)}}, "MissingParameter")
	a.refused(&ec2.AuthorizeSecurityGroupIngressInput{GroupId: id}, "MissingParameter")

	byGroup := &ec2.DescribeSecurityGroupRulesInput{Filters: []types.Filter{filter("group-id", *id)}}
	if rules := must[ec2.DescribeSecurityGroupRulesOutput](a, byGroup).SecurityGroupRules; len(rules) != 4 {
		t.Errorf("the group has %d rules, want 3 in and 1 out", len(rules))
	}
	byCIDR := &ec2.DescribeSecurityGroupsInput{Filters: []types.Filter{filter("ip-permission.cidr", "192.168.0.0/16"), filter("ip-permission.from-port", "443")}}
	if found := must[ec2.DescribeSecurityGroupsOutput](a, byCIDR).SecurityGroups; len(found) != 1 {
		t.Errorf("by rule: %v", found)
	}

	a.ok(&ec2.RevokeSecurityGroupIngressInput{GroupId: id, SecurityGroupRuleIds: []string{*added[0].SecurityGroupRuleId}})
	a.refused(&ec2.RevokeSecurityGroupIngressInput{GroupId: id, SecurityGroupRuleIds: []string{*added[0].SecurityGroupRuleId}}, "InvalidSecurityGroupRuleId.NotFound")
	a.refused(&ec2.RevokeSecurityGroupIngressInput{GroupId: id, IpPermissions: []types.IpPermission{tcp(443, "192.168.0.0/16", "10.0.0.0/8")}}, "InvalidPermission.NotFound")
	if rules := must[ec2.DescribeSecurityGroupRulesOutput](a, byGroup).SecurityGroupRules; len(rules) != 3 {
		t.Errorf("a refused revocation left %d rules, want 3", len(rules))
	}
	a.ok(&ec2.RevokeSecurityGroupEgressInput{GroupId: id, IpPermissions: describeGroup(a, *id).IpPermissionsEgress})
	a.ok(&ec2.AuthorizeSecurityGroupEgressInput{GroupId: id, IpPermissions: []types.IpPermission{{IpProtocol: aws.String("17"), FromPort: aws.Int32(53), ToPort: aws.Int32(53), Ipv6Ranges: []types.Ipv6Range{{CidrIpv6: aws.String("::/0")}}}}})
	if egress := describeGroup(a, *id).IpPermissionsEgress; len(egress) != 1 || *egress[0].IpProtocol != "udp" || len(egress[0].Ipv6Ranges) != 1 {
		t.Errorf("the group lets out %v, want DNS over IPv6", egress)
	}
}

func TestSecurityGroupRefusals(t *testing.T) {
	a := newAccount(t, ec2sim.Options{})
	vpc := a.vpc("10.0.0.0/16")
	a.group(vpc, "node")
	create := func(name, description string) *ec2.CreateSecurityGroupInput {
		return &ec2.CreateSecurityGroupInput{VpcId: aws.String(vpc), GroupName: aws.String(name), Description: aws.String(description)}
	}
	a.refused(create("node", "again"), "InvalidGroup.Duplicate")
	a.refused(create("default", "mine"), "InvalidGroup.Reserved")
	a.refused(create("sg-node", "x"), "InvalidParameterValue")
	a.refused(create("other", ""), "MissingParameter")
	a.refused(create("other", "naïve"), "InvalidParameterValue")
	a.refused(&ec2.CreateSecurityGroupInput{GroupName: aws.String("x"), Description: aws.String("x")}, "VPCIdNotSpecified")
	a.group(a.vpc("10.1.0.0/16"), "node")
}
