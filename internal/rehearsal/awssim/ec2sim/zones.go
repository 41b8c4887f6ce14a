package ec2sim

import (
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

func (s *Service) zoneOperations() []service.Operation {
	return []service.Operation{
		// AllAvailabilityZones adds zones that need opting in; there are none.
		read(s, "DescribeAvailabilityZones", (*place).describeZones, "Filters", "ZoneNames", "ZoneIds", "AllAvailabilityZones"),
		read(s, "DescribeRegions", (*place).describeRegions, "Filters", "RegionNames", "AllRegions"),
	}
}

// optIn is the opt-in status of all regions and zones of the account.
const optIn = string(types.AvailabilityZoneOptInStatusOptInNotRequired)

var zoneFields = fields[zone]{by: map[string]func(*place, zone) []string{
	"group-name":       func(p *place, _ zone) []string { return []string{p.region.name + "-zg-1"} },
	"message":          always[zone](""),
	"opt-in-status":    always[zone](optIn),
	"parent-zone-id":   always[zone](""),
	"parent-zone-name": always[zone](""),
	"region-name":      func(p *place, _ zone) []string { return []string{p.region.name} },
	"state":            always[zone](string(types.AvailabilityZoneStateAvailable)),
	"zone-id":          one(func(z zone) string { return z.id }),
	"zone-name":        one(func(z zone) string { return z.name }),
	"zone-type":        always[zone]("availability-zone"),
}}

func (p *place) describeZones(in *ec2.DescribeAvailabilityZonesInput) (*ec2.DescribeAvailabilityZonesOutput, error) {
	if err := zoneFields.check(in.Filters); err != nil {
		return nil, err
	}
	zones := p.region.zoneList()
	for _, name := range in.ZoneNames {
		if !slices.ContainsFunc(zones, func(z zone) bool { return z.name == name }) {
			return nil, invalid("Invalid availability zone: [%s]", name)
		}
	}
	for _, id := range in.ZoneIds {
		if !slices.ContainsFunc(zones, func(z zone) bool { return z.id == id }) {
			return nil, invalid("Invalid availability zone-id: [%s]", id)
		}
	}
	out := &ec2.DescribeAvailabilityZonesOutput{}
	for _, z := range zones {
		if len(in.ZoneNames)+len(in.ZoneIds) > 0 && !slices.Contains(in.ZoneNames, z.name) && !slices.Contains(in.ZoneIds, z.id) {
			continue
		}
		if !zoneFields.match(p, z, in.Filters) {
			continue
		}
		out.AvailabilityZones = append(out.AvailabilityZones, types.AvailabilityZone{
			ZoneName: aws.String(z.name), ZoneId: aws.String(z.id), RegionName: aws.String(p.region.name),
			ZoneType: aws.String("availability-zone"), State: types.AvailabilityZoneStateAvailable,
			GroupName: aws.String(p.region.name + "-zg-1"), NetworkBorderGroup: aws.String(p.region.name),
			OptInStatus: types.AvailabilityZoneOptInStatusOptInNotRequired,
		})
	}
	return out, nil
}

// zoneOf finds the zone a create call asks for by name or id. EC2 chooses one
// if neither is given; here that is the first.
func (p *place) zoneOf(name, id *string) (zone, error) {
	zones := p.region.zoneList()
	if name == nil && id == nil {
		return zones[0], nil
	}
	var names []string
	for _, z := range zones {
		if (name == nil || *name == z.name) && (id == nil || *id == z.id) {
			return z, nil
		}
		names = append(names, z.name)
	}
	return zone{}, invalid("Value (%s) for parameter availabilityZone is invalid. Subnets can currently only be created in the following availability zones: %s.",
		aws.ToString(name)+aws.ToString(id), strings.Join(names, ", "))
}

var regionFields = fields[region]{by: map[string]func(*place, region) []string{
	"endpoint":      one(region.endpoint),
	"opt-in-status": always[region](optIn),
	"region-name":   one(func(r region) string { return r.name }),
}}

func (p *place) describeRegions(in *ec2.DescribeRegionsInput) (*ec2.DescribeRegionsOutput, error) {
	if err := regionFields.check(in.Filters); err != nil {
		return nil, err
	}
	for _, name := range in.RegionNames {
		if _, known := regionNamed(name); !known {
			return nil, invalid("Invalid region: [%s]", name)
		}
	}
	out := &ec2.DescribeRegionsOutput{}
	for _, r := range regionTable {
		if len(in.RegionNames) > 0 && !slices.Contains(in.RegionNames, r.name) || !regionFields.match(p, r, in.Filters) {
			continue
		}
		out.Regions = append(out.Regions, types.Region{
			RegionName: aws.String(r.name), Endpoint: aws.String(r.endpoint()), OptInStatus: aws.String(optIn),
		})
	}
	return out, nil
}
