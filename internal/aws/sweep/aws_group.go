package sweep

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/krops-go/krops/internal/aws/inventory"
)

func (a *account) interfaceState(ctx context.Context, item inventory.Item) (State, error) {
	out, err := a.ec2(item).DescribeNetworkInterfaces(ctx, &ec2.DescribeNetworkInterfacesInput{NetworkInterfaceIds: []string{item.ID}})
	if err != nil {
		return State{}, err
	}
	for _, eni := range out.NetworkInterfaces {
		// An attached interface is taken away by what it is attached to;
		// EC2 lets nobody else delete it.
		if eni.Status != types.NetworkInterfaceStatusAvailable {
			return State{Phase: Held, Detail: holder(eni)}, nil
		}
	}
	return listed(len(out.NetworkInterfaces)), nil
}

func holder(eni types.NetworkInterface) string {
	by := "unknown"
	if eni.Attachment != nil {
		by = orElse(aws.ToString(eni.Attachment.InstanceId), aws.ToString(eni.Attachment.InstanceOwnerId))
	}
	return fmt.Sprintf("%s, attached to %s, described as %q", eni.Status, by, aws.ToString(eni.Description))
}

func (a *account) deleteInterface(ctx context.Context, item inventory.Item) error {
	_, err := a.ec2(item).DeleteNetworkInterface(ctx, &ec2.DeleteNetworkInterfaceInput{NetworkInterfaceId: aws.String(item.ID)})
	return err
}

func (a *account) securityGroup(ctx context.Context, item inventory.Item) (*ec2.DescribeSecurityGroupsOutput, error) {
	return a.ec2(item).DescribeSecurityGroups(ctx, &ec2.DescribeSecurityGroupsInput{GroupIds: []string{item.ID}})
}

func (a *account) securityGroupState(ctx context.Context, item inventory.Item) (State, error) {
	out, err := a.securityGroup(ctx, item)
	if err != nil {
		return State{}, err
	}
	return listed(len(out.SecurityGroups)), nil
}

func (a *account) deleteSecurityGroup(ctx context.Context, item inventory.Item) error {
	_, err := a.ec2(item).DeleteSecurityGroup(ctx, &ec2.DeleteSecurityGroupInput{GroupId: aws.String(item.ID)})
	return err
}

// Revoke implements Cloud. Rules that name address ranges hold nothing up and
// go with the group.
func (a *account) Revoke(ctx context.Context, item inventory.Item) error {
	out, err := a.securityGroup(ctx, item)
	if err != nil {
		return fmt.Errorf("look at the rules: %w", err)
	}
	for _, group := range out.SecurityGroups {
		if rules := referring(group.IpPermissions); len(rules) > 0 {
			_, err := a.ec2(item).RevokeSecurityGroupIngress(ctx, &ec2.RevokeSecurityGroupIngressInput{
				GroupId: group.GroupId, IpPermissions: rules,
			})
			if err != nil {
				return fmt.Errorf("revoke inbound rules: %w", err)
			}
		}
		if rules := referring(group.IpPermissionsEgress); len(rules) > 0 {
			_, err := a.ec2(item).RevokeSecurityGroupEgress(ctx, &ec2.RevokeSecurityGroupEgressInput{
				GroupId: group.GroupId, IpPermissions: rules,
			})
			if err != nil {
				return fmt.Errorf("revoke outbound rules: %w", err)
			}
		}
	}
	return nil
}

// referring reduces rules to their parts that refer to groups.
func referring(rules []types.IpPermission) []types.IpPermission {
	var out []types.IpPermission
	for _, rule := range rules {
		if len(rule.UserIdGroupPairs) == 0 {
			continue
		}
		out = append(out, types.IpPermission{
			IpProtocol: rule.IpProtocol, FromPort: rule.FromPort, ToPort: rule.ToPort,
			UserIdGroupPairs: rule.UserIdGroupPairs,
		})
	}
	return out
}
