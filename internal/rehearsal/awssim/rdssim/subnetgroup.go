package rdssim

import (
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/rds"
	"github.com/aws/aws-sdk-go-v2/service/rds/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/ec2sim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

const (
	leastZones = 2
	mostGroups = 50 // "Quotas and constraints for Amazon RDS"
)

type subnetGroup struct {
	Name, Description, VPC string
	Subnets                []string
	Tags                   map[string]string
}

func (s *Service) subnetGroupOperations() []service.Operation {
	return []service.Operation{
		service.Write("CreateDBSubnetGroup", s.createGroup, "DBSubnetGroupName", "DBSubnetGroupDescription", "SubnetIds", "Tags"),
		service.Read("DescribeDBSubnetGroups", s.describeGroups, "DBSubnetGroupName", "Marker", "MaxRecords"),
		service.Write("ModifyDBSubnetGroup", s.modifyGroup, "DBSubnetGroupName", "DBSubnetGroupDescription", "SubnetIds"),
		service.Write("DeleteDBSubnetGroup", s.deleteGroup, "DBSubnetGroupName"),
	}
}

func noGroup(name string) error {
	return absent("DBSubnetGroupNotFoundFault", "DB subnet group '%s' does not exist.", name)
}

func (s *Service) group(c *service.Call, name *string) (*subnetGroup, error) {
	asked := strings.ToLower(aws.ToString(name))
	if g := s.in(c.Region).Groups[asked]; g != nil {
		return g, nil
	}
	return nil, noGroup(asked)
}

// subnets checks the subnets of a group: of one VPC, in two zones at least.
func (s *Service) subnets(c *service.Call, ids []string) (vpc string, err error) {
	var zones []string
	for _, id := range ids {
		subnet, ok := s.network.LookupSubnet(c.Region, id)
		switch {
		case !ok:
			return "", service.Refuse("InvalidSubnet", "Some input subnets in :[%s] are invalid.", id)
		case vpc != "" && vpc != subnet.VPC:
			return "", service.Refuse("InvalidSubnet", "The subnets are not all in the same VPC: %s and %s.", vpc, subnet.VPC)
		}
		vpc = subnet.VPC
		if !slices.Contains(zones, subnet.Zone) {
			zones = append(zones, subnet.Zone)
		}
	}
	if len(zones) < leastZones {
		slices.Sort(zones)
		return "", service.Refuse("DBSubnetGroupDoesNotCoverEnoughAZs", "The DB subnet group doesn't meet Availability Zone (AZ) coverage requirement. "+
			"Current AZ coverage: %s. Add subnets to cover at least %d AZs.", strings.Join(zones, ", "), leastZones)
	}
	return vpc, nil
}

func (s *Service) createGroup(c *service.Call, in *rds.CreateDBSubnetGroupInput) (*rds.CreateDBSubnetGroupOutput, error) {
	name := strings.ToLower(aws.ToString(in.DBSubnetGroupName))
	groups := s.in(c.Region).Groups
	switch {
	case name == "" || len(name) > 255 || name == "default":
		return nil, invalidValue("The parameter DBSubnetGroupName is not a valid identifier or is reserved.")
	case aws.ToString(in.DBSubnetGroupDescription) == "":
		return nil, invalidValue("The parameter DBSubnetGroupDescription must be provided and must not be blank.")
	case groups[name] != nil:
		return nil, service.Refuse("DBSubnetGroupAlreadyExists", "The DB subnet group '%s' already exists.", name)
	case len(groups) >= mostGroups:
		return nil, service.Refuse("DBSubnetGroupQuotaExceeded", "The request would result in the user exceeding the allowed number of DB subnet groups.")
	}
	vpc, err := s.subnets(c, in.SubnetIds)
	if err != nil {
		return nil, err
	}
	tags, err := tagged(nil, in.Tags)
	if err != nil {
		return nil, err
	}
	g := &subnetGroup{Name: name, Description: *in.DBSubnetGroupDescription, VPC: vpc, Subnets: in.SubnetIds, Tags: tags}
	groups[name] = g
	return &rds.CreateDBSubnetGroupOutput{DBSubnetGroup: s.shownGroup(c.Region, g)}, nil
}

func (s *Service) shownGroup(region string, g *subnetGroup) *types.DBSubnetGroup {
	out := &types.DBSubnetGroup{
		DBSubnetGroupName: aws.String(g.Name), DBSubnetGroupDescription: aws.String(g.Description), DBSubnetGroupArn: aws.String(s.arn(region, "subgrp", g.Name)),
		SubnetGroupStatus: aws.String("Complete"), VpcId: aws.String(g.VPC), SupportedNetworkTypes: []string{"IPV4"}, Subnets: []types.Subnet{},
	}
	for _, id := range g.Subnets {
		subnet, ok := s.network.LookupSubnet(region, id)
		if !ok {
			continue // deleted since, which a group does not prevent
		}
		out.Subnets = append(out.Subnets, types.Subnet{
			SubnetIdentifier: aws.String(id), SubnetStatus: aws.String("Active"), SubnetAvailabilityZone: &types.AvailabilityZone{Name: aws.String(subnet.Zone)},
			SubnetOutpost: &types.Outpost{},
		})
	}
	return out
}

func (s *Service) describeGroups(c *service.Call, in *rds.DescribeDBSubnetGroupsInput) (*rds.DescribeDBSubnetGroupsOutput, error) {
	if in.DBSubnetGroupName != nil {
		g, err := s.group(c, in.DBSubnetGroupName)
		if err != nil {
			return nil, err
		}
		return &rds.DescribeDBSubnetGroupsOutput{DBSubnetGroups: []types.DBSubnetGroup{*s.shownGroup(c.Region, g)}}, nil
	}
	groups := s.in(c.Region).Groups
	names, next, err := page(slices.Sorted(maps.Keys(groups)), in.Marker, in.MaxRecords)
	if err != nil {
		return nil, err
	}
	out := &rds.DescribeDBSubnetGroupsOutput{DBSubnetGroups: []types.DBSubnetGroup{}, Marker: next}
	for _, name := range names {
		out.DBSubnetGroups = append(out.DBSubnetGroups, *s.shownGroup(c.Region, groups[name]))
	}
	return out, nil
}

func (s *Service) modifyGroup(c *service.Call, in *rds.ModifyDBSubnetGroupInput) (*rds.ModifyDBSubnetGroupOutput, error) {
	g, err := s.group(c, in.DBSubnetGroupName)
	if err != nil {
		return nil, err
	}
	vpc, err := s.subnets(c, in.SubnetIds)
	if err != nil {
		return nil, err
	}
	for _, i := range s.in(c.Region).Instances {
		if i.Group != g.Name {
			continue
		}
		for _, subnet := range i.subnets() {
			if !slices.Contains(in.SubnetIds, subnet) {
				return nil, service.Refuse("SubnetAlreadyInUse", "The DB subnet %s is already in use by the DB instance %s.", subnet, i.id())
			}
		}
	}
	g.VPC, g.Subnets = vpc, in.SubnetIds
	if in.DBSubnetGroupDescription != nil {
		g.Description = *in.DBSubnetGroupDescription
	}
	return &rds.ModifyDBSubnetGroupOutput{DBSubnetGroup: s.shownGroup(c.Region, g)}, nil
}

func (s *Service) deleteGroup(c *service.Call, in *rds.DeleteDBSubnetGroupInput) (*rds.DeleteDBSubnetGroupOutput, error) {
	g, err := s.group(c, in.DBSubnetGroupName)
	if err != nil {
		return nil, err
	}
	for _, id := range slices.Sorted(maps.Keys(s.in(c.Region).Instances)) {
		if s.in(c.Region).Instances[id].Group == g.Name {
			return nil, service.Refuse("InvalidDBSubnetGroupStateFault",
				"Cannot delete the subnet group '%s' because at least one database instance: %s is still using it.", g.Name, id)
		}
	}
	delete(s.in(c.Region).Groups, g.Name)
	return &rds.DeleteDBSubnetGroupOutput{}, nil
}

// placed chooses the subnets for an instance: that of its zone, and another
// for a standby.
func (s *Service) placed(region string, g *subnetGroup, zone string, standby bool) ([]ec2sim.Subnet, error) {
	var chosen []ec2sim.Subnet
	for _, id := range slices.Sorted(slices.Values(g.Subnets)) {
		subnet, ok := s.network.LookupSubnet(region, id)
		if !ok || zone != "" && len(chosen) == 0 && subnet.Zone != zone ||
			slices.ContainsFunc(chosen, func(c ec2sim.Subnet) bool { return c.Zone == subnet.Zone }) {
			continue
		}
		chosen = append(chosen, subnet)
		if !standby {
			return chosen, nil
		}
		if zone != "" && len(chosen) == 1 {
			return s.standbyBeside(region, g, chosen), nil
		}
		if len(chosen) == 2 {
			return chosen, nil
		}
	}
	if len(chosen) == 0 {
		return nil, invalidValue("The DB subnet group '%s' has no usable subnet in the Availability Zone %s", g.Name, zone)
	}
	return chosen, nil
}

// standbyBeside adds a subnet in another zone, whichever comes first.
func (s *Service) standbyBeside(region string, g *subnetGroup, chosen []ec2sim.Subnet) []ec2sim.Subnet {
	for _, id := range slices.Sorted(slices.Values(g.Subnets)) {
		if subnet, ok := s.network.LookupSubnet(region, id); ok && subnet.Zone != chosen[0].Zone {
			return append(chosen, subnet)
		}
	}
	return chosen
}
