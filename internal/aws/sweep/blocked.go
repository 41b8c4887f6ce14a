package sweep

import (
	"slices"

	"github.com/krops-go/krops/internal/aws/inventory"
)

// blockedByUnknown keeps a step from being tried while it is unknown whether
// something exists that has to go first.
func (r rules) blockedByUnknown(s Step, inv inventory.Inventory) []string {
	var reasons []string
	rests := r.restsOn(kindOf(s))
	regions := regionsOf(s.Item, inv.Scope)
	for _, listing := range inv.Unknown {
		if listing.Region != "" && !slices.Contains(regions, listing.Region) {
			continue
		}
		if slices.ContainsFunc(listing.Kinds, func(k inventory.Kind) bool { return rests[k] }) {
			reasons = append(reasons, listing.Error())
		}
	}
	return reasons
}

// regionsOf lists where an item's dependents may be: in its region, or, for
// IAM, wherever its owner may have something.
func regionsOf(item inventory.Item, scope inventory.Scope) []string {
	if item.Region != "" {
		return []string{item.Region}
	}
	return slices.DeleteFunc(scope.AllRegions(), func(region string) bool {
		return !slices.ContainsFunc(scope.In(region), func(c inventory.ClusterName) bool { return c.CAPI == item.Owner })
	})
}

// blockedByOthers keeps the network of a VPC in place as long as something
// lives in it that is not proven to be ours: taking the gateways and routes
// away would cut it off.
func blockedByOthers(s Step, inv inventory.Inventory) []string {
	if s.Item.VPC == "" || !isNetwork(s.Item.Kind) {
		return nil
	}
	var reasons []string
	for _, other := range inv.Unproven {
		if other.VPC == s.Item.VPC && other.Region == s.Item.Region {
			reasons = append(reasons, other.Ref()+" is not proven to be ours: "+other.Reason)
		}
	}
	return reasons
}

func isNetwork(kind inventory.Kind) bool {
	switch kind {
	case inventory.NATGateway, inventory.VPCEndpoint, inventory.NetworkInterface, inventory.InternetGateway,
		inventory.RouteTable, inventory.SecurityGroup, inventory.Subnet, inventory.VPC:
		return true
	}
	return false
}
