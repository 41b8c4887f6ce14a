package ec2sim

import (
	"slices"
	"strings"
)

// region is a region with its availability zones.
type region struct {
	name   string
	zoneID string // what zone ids start with, such as "eun1"
	zones  string // the letters of the zones
}

// zone is an availability zone.
type zone struct {
	name, id string
}

// regionTable holds the regions that every account has without opting in
// (Account Management Guide, "Enable or disable AWS Regions"), with the zones
// that an account created today gets.
var regionTable = []region{
	{"ap-northeast-1", "apne1", "acd"},
	{"ap-northeast-2", "apne2", "abcd"},
	{"ap-northeast-3", "apne3", "abc"},
	{"ap-south-1", "aps1", "abc"},
	{"ap-southeast-1", "apse1", "abc"},
	{"ap-southeast-2", "apse2", "abc"},
	{"ca-central-1", "cac1", "abd"},
	{"eu-central-1", "euc1", "abc"},
	{"eu-north-1", "eun1", "abc"},
	{"eu-west-1", "euw1", "abc"},
	{"eu-west-2", "euw2", "abc"},
	{"eu-west-3", "euw3", "abc"},
	{"sa-east-1", "sae1", "abc"},
	{"us-east-1", "use1", "abcdef"},
	{"us-east-2", "use2", "abc"},
	{"us-west-1", "usw1", "ac"},
	{"us-west-2", "usw2", "abcd"},
}

func regionNamed(name string) (region, bool) {
	i := slices.IndexFunc(regionTable, func(r region) bool { return r.name == name })
	if i < 0 {
		return region{}, false
	}
	return regionTable[i], true
}

func (r region) zoneList() []zone {
	var zones []zone
	for i, letter := range r.zones {
		zones = append(zones, zone{
			name: r.name + string(letter),
			id:   r.zoneID + "-az" + string(rune('1'+i)),
		})
	}
	return zones
}

// endpoint is the host that serves EC2 in the region.
func (r region) endpoint() string { return "ec2." + r.name + ".amazonaws.com" }

// privateName is the name that the region's resolver gives a private address
// (VPC User Guide, "DNS attributes for your VPC").
func (r region) privateName(ip string) string {
	name := "ip-" + strings.ReplaceAll(ip, ".", "-")
	if r.name == "us-east-1" {
		return name + ".ec2.internal"
	}
	return name + "." + r.name + ".compute.internal"
}

// publicName is the public counterpart of privateName.
func (r region) publicName(ip string) string {
	name := "ec2-" + strings.ReplaceAll(ip, ".", "-")
	if r.name == "us-east-1" {
		return name + ".compute-1.amazonaws.com"
	}
	return name + "." + r.name + ".compute.amazonaws.com"
}
