package ec2sim

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// tags are a resource's tags.
type tags map[string]string

func (t tags) keys() []string { return slices.Sorted(maps.Keys(t)) }

// list returns the tags as EC2 shows them, in the order of their keys.
func (t tags) list() []types.Tag {
	var list []types.Tag
	for _, key := range t.keys() {
		list = append(list, types.Tag{Key: aws.String(key), Value: aws.String(t[key])})
	}
	return list
}

// reservedTags start the keys that only AWS services may set and remove.
const reservedTags = "aws:"

// EC2 User Guide, "Tag restrictions".
const (
	mostTags      = 50
	longestTag    = 128
	longestTagVal = 256
)

// checkTags returns the tags of a request.
func checkTags(list []types.Tag) (tags, error) {
	checked := tags{}
	for _, tag := range list {
		key, value := aws.ToString(tag.Key), aws.ToString(tag.Value)
		switch {
		case key == "":
			return nil, invalid("Tag key cannot be null or empty")
		case utf8.RuneCountInString(key) > longestTag:
			return nil, invalid("Tag key exceeds the maximum length of %d characters", longestTag)
		case utf8.RuneCountInString(value) > longestTagVal:
			return nil, invalid("Tag value exceeds the maximum length of %d characters", longestTagVal)
		case strings.HasPrefix(strings.ToLower(key), reservedTags):
			return nil, invalid("Tag keys starting with 'aws:' are reserved for internal use")
		}
		if _, twice := checked[key]; twice {
			return nil, invalid("Duplicate tag key '%s' specified.", key)
		}
		checked[key] = value
	}
	return checked, checked.limit()
}

// limit refuses more tags than a resource may have; AWS's own do not count.
func (t tags) limit() error {
	count := 0
	for key := range t {
		if !strings.HasPrefix(key, reservedTags) {
			count++
		}
	}
	if count > mostTags {
		return service.Refuse("TagLimitExceeded", "Tag limit exceeded: %d tags, at most %d", count, mostTags)
	}
	return nil
}

// tagsFor returns the tags with which a create call wants the new resource.
func (k kind) tagsFor(specifications []types.TagSpecification) (tags, error) {
	switch {
	case len(specifications) == 0:
		return tags{}, nil
	case len(specifications) > 1:
		return nil, invalid("Duplicate resource type '%s' in tag specifications", specifications[1].ResourceType)
	case specifications[0].ResourceType == "":
		return nil, invalid("Tag specification resource type must have a value")
	case string(specifications[0].ResourceType) != k.typ:
		return nil, invalid("'%s' is not a valid taggable resource type for this operation.", specifications[0].ResourceType)
	}
	return checkTags(specifications[0].Tags)
}

// entry is a resource among all those of a region.
type entry struct {
	*header
	kind    kind
	implied bool // comes and goes with something else
}

// entries lists everything that exists in the region, by kind and id. What is
// deleted and can only still be described is not among it.
func (r *RegionState) entries() []entry {
	var all []entry
	for _, v := range sorted(r.VPCs) {
		all = append(all, entry{&v.header, vpcKind, false})
	}
	for _, s := range sorted(r.Subnets) {
		all = append(all, entry{&s.header, subnetKind, false})
	}
	for _, g := range sorted(r.InternetGateways) {
		all = append(all, entry{&g.header, internetGatewayKind, false})
	}
	for _, n := range sorted(r.NATGateways) {
		if n.State != types.NatGatewayStateDeleted {
			all = append(all, entry{&n.header, natGatewayKind, false})
		}
	}
	for _, e := range sorted(r.ElasticIPs) {
		all = append(all, entry{&e.header, elasticIPKind, false})
	}
	for _, t := range sorted(r.RouteTables) {
		all = append(all, entry{&t.header, routeTableKind, t.isMain()})
	}
	for _, g := range sorted(r.SecurityGroups) {
		all = append(all, entry{&g.header, securityGroupKind, g.isDefault()})
	}
	for _, i := range sorted(r.Interfaces) {
		all = append(all, entry{&i.header, networkInterfaceKind, false})
	}
	for _, i := range sorted(r.Instances) {
		if !i.terminated() {
			all = append(all, entry{&i.header, instanceKind, false})
		}
	}
	for _, t := range sorted(r.LaunchTemplates) {
		all = append(all, entry{&t.header, launchTemplateKind, false})
	}
	for _, a := range sorted(r.NetworkACLs) {
		all = append(all, entry{&a.header, networkACLKind, true})
	}
	for _, g := range sorted(r.SecurityGroups) {
		for _, rule := range g.Rules {
			all = append(all, entry{&rule.header, securityGroupRuleKind, true})
		}
	}
	return all
}
