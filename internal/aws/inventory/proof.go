package inventory

import (
	"maps"
	"slices"
	"strings"
)

const (
	providerTagPrefix = "sigs.k8s.io/cluster-api-provider-aws/cluster/"
	cloudTagPrefix    = "kubernetes.io/cluster/"
	eksClusterTag     = "aws:eks:cluster-name"
	owned             = "owned"
)

// attribute divides what the listings found into what provably belongs to the
// scope and what only looks like it. Everything else is dropped: it belongs to
// others and is none of our business.
func attribute(found []Item, scope Scope) (items, unproven []Item) {
	p := newProver(scope)
	p.distrustForeignClusters(found)

	// Containers first, since their contents are proven by the link to them.
	owners := map[string]Item{}
	for _, item := range found {
		if item.Kind != VPC && item.Kind != Cluster {
			continue
		}
		if owner, reason, ok := p.byTag(item); ok {
			item.Owner, item.Reason = owner, reason
			owners[linkKey(item.Kind, item.Region, item.ID)] = item
		}
	}
	groups := p.groupsOfNodeGroups(found, owners)

	for _, item := range found {
		switch {
		case p.prove(&item, owners, groups):
			items = append(items, item)
		case p.suspect(&item, owners):
			unproven = append(unproven, item)
		}
	}
	sortItems(items)
	sortItems(unproven)
	return items, unproven
}

type prover struct {
	scope Scope
	// tags maps region ("" for IAM) and tag, spelled key=value, to the owner
	// that the tag proves.
	tags map[string]map[string]string
}

func newProver(scope Scope) *prover {
	p := &prover{scope: scope, tags: map[string]map[string]string{}}
	for _, region := range append(scope.AllRegions(), "") {
		tags := map[string]string{}
		for _, c := range scope.In(region) {
			for _, name := range []string{c.CAPI, c.EKS} {
				tags[providerTagPrefix+name+"="+owned] = c.CAPI
				tags[cloudTagPrefix+name+"="+owned] = c.CAPI
			}
			tags[eksClusterTag+"="+c.EKS] = c.CAPI
		}
		p.tags[region] = tags
	}
	return p
}

// distrustForeignClusters takes the force from the tags that EKS itself gives
// to the parts of a cluster, where the cluster that bears our EKS name turns
// out not to be ours: its instances carry them all the same.
func (p *prover) distrustForeignClusters(found []Item) {
	for _, item := range found {
		if item.Kind != Cluster {
			continue
		}
		if _, _, ok := p.byTag(item); ok {
			continue
		}
		delete(p.tags[item.Region], cloudTagPrefix+item.ID+"="+owned)
		delete(p.tags[item.Region], eksClusterTag+"="+item.ID)
	}
}

// byTag proves ownership by the item's own tags. Tags are tried in sorted
// order, so that the reason is the same every time.
func (p *prover) byTag(item Item) (owner, reason string, ok bool) {
	for _, key := range slices.Sorted(maps.Keys(item.Tags)) {
		tag := key + "=" + item.Tags[key]
		if owner, ok := p.tags[item.Region][tag]; ok {
			return owner, "tag " + tag, true
		}
	}
	return "", "", false
}

func (p *prover) prove(item *Item, owners, groups map[string]Item) bool {
	if owner, reason, ok := p.byTag(*item); ok {
		item.Owner, item.Reason = owner, reason
		return true
	}
	if foreignTag(*item) != "" {
		return false
	}
	// An address is never proven by a link: the gateway that uses it may have
	// been given an address somebody brought along and wants to keep.
	if item.Kind == ElasticIP {
		return false
	}
	container, linked := p.container(*item, owners, groups)
	if linked {
		item.Owner = container.Owner
		item.Reason = "belongs to " + container.Ref() + " (" + container.Reason + ")"
	}
	return linked
}

// container returns the owned item that holds this one.
func (p *prover) container(item Item, owners, groups map[string]Item) (Item, bool) {
	switch item.Kind {
	case NodeGroup, Addon:
		owner, ok := owners[linkKey(Cluster, item.Region, item.Parent)]
		return owner, ok
	case AutoScalingGroup:
		if owner, ok := groups[linkKey(AutoScalingGroup, item.Region, item.ID)]; ok {
			return owner, true
		}
	case Cluster:
		// Somebody may run a cluster of their own in our network; the
		// provider always tags the ones it makes.
		return Item{}, false
	}
	owner, ok := owners[linkKey(VPC, item.Region, item.VPC)]
	return owner, ok
}

// suspect reports items that look like ours without being proven so: they
// sit in an owned VPC but carry the ownership tag of somebody else, or they
// bear a name the provider would give.
func (p *prover) suspect(item *Item, owners map[string]Item) bool {
	vpc, inside := owners[linkKey(VPC, item.Region, item.VPC)]
	if foreign := foreignTag(*item); inside && foreign != "" {
		item.Owner = vpc.Owner
		item.Reason = "in " + vpc.Ref() + ", but tagged " + foreign
		return true
	}
	for _, c := range p.scope.In(item.Region) {
		if item.Name != "" && item.Name == ruledName(item.Kind, c) {
			item.Owner = c.CAPI
			item.Reason = "has the name of the " + string(item.Kind) + " of cluster " + c.CAPI + ", but no ownership tag"
			return true
		}
	}
	return false
}

// ruledName is the name the provider gives to what it makes once per cluster.
func ruledName(kind Kind, c ClusterName) string {
	switch kind {
	case Role:
		return c.CAPI + "-iam-service-role"
	case Cluster:
		return c.EKS
	case VPC:
		return c.CAPI + "-vpc"
	}
	return ""
}

// foreignTag returns an ownership tag on the item that proved nothing for the
// scope, or "".
func foreignTag(item Item) string {
	for _, key := range slices.Sorted(maps.Keys(item.Tags)) {
		if item.Tags[key] == owned && (strings.HasPrefix(key, providerTagPrefix) || strings.HasPrefix(key, cloudTagPrefix)) {
			return key + "=" + owned
		}
		if key == eksClusterTag {
			return key + "=" + item.Tags[key]
		}
	}
	return ""
}

// groupsOfNodeGroups maps the autoscaling groups that owned node groups name.
func (p *prover) groupsOfNodeGroups(found []Item, owners map[string]Item) map[string]Item {
	groups := map[string]Item{}
	for _, item := range found {
		if item.Kind != NodeGroup || !p.prove(&item, owners, nil) {
			continue
		}
		for _, name := range item.Uses {
			groups[linkKey(AutoScalingGroup, item.Region, name)] = item
		}
	}
	return groups
}

func linkKey(kind Kind, region, id string) string {
	return string(kind) + "|" + region + "|" + id
}
