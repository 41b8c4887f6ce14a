package inventory

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"
)

// Inventory is what belongs to a scope, as far as it could be seen.
type Inventory struct {
	Scope Scope
	// Items provably belong to the scope, sorted by region, kind and id.
	Items []Item
	// Unproven look as if they belonged to it, but carry no proof. They are
	// shown to people and never deleted.
	Unproven []Item
	// Unknown are the listings that failed. While there is one, the absence
	// of an item means nothing.
	Unknown []*ListingError
}

// Err joins the failed listings; nil means that the inventory is complete.
func (inv Inventory) Err() error {
	errs := make([]error, len(inv.Unknown))
	for i, err := range inv.Unknown {
		errs[i] = err
	}
	return errors.Join(errs...)
}

// ListingError says that it is unknown whether some kinds of items exist.
type ListingError struct {
	Service string
	Region  string // empty for IAM
	Listing string // what was being listed
	Kinds   []Kind // what may exist unseen
	Err     error
}

func (e *ListingError) Error() string {
	where := ""
	if e.Region != "" {
		where = " in " + e.Region
	}
	return fmt.Sprintf("unknown: listing %s %s%s: %v", e.Service, e.Listing, where, e.Err)
}

func (e *ListingError) Unwrap() error { return e.Err }

// listing is one look into one service of one region.
type listing struct {
	service, region, name string
	kinds                 []Kind
	list                  func(context.Context) ([]Item, error)
}

// concurrentListings keeps a big estate from throttling itself.
const concurrentListings = 8

// Take lists the account and returns what belongs to scope. The error joins
// the listings that failed; the inventory holds what was found all the same.
// Only an invalid scope returns nothing.
func Take(ctx context.Context, apis APIs, scope Scope) (Inventory, error) {
	if err := scope.Validate(); err != nil {
		return Inventory{}, err
	}
	listings := iamListings(apis.IAM)
	for _, region := range scope.AllRegions() {
		api := apis.Region(region)
		listings = append(listings, eksListings(api.EKS, region, scope.In(region))...)
		listings = append(listings, ec2Listings(api.EC2, region)...)
		listings = append(listings, autoScalingListings(api.AutoScaling, region)...)
		listings = append(listings, elbListings(api.ELB, region)...)
		listings = append(listings, elbv2Listings(api.ELBV2, region)...)
	}

	// Every listing runs whatever becomes of the others, so the group is used
	// for its limit only and its functions never fail.
	found := make([][]Item, len(listings))
	failed := make([]error, len(listings))
	var group errgroup.Group
	group.SetLimit(concurrentListings)
	for n, l := range listings {
		group.Go(func() error {
			found[n], failed[n] = l.list(ctx)
			return nil
		})
	}
	_ = group.Wait()

	inv := Inventory{Scope: scope}
	var all []Item
	for n, l := range listings {
		if failed[n] != nil {
			inv.Unknown = append(inv.Unknown, &ListingError{
				Service: l.service, Region: l.region, Listing: l.name, Kinds: l.kinds, Err: failed[n],
			})
		}
		for _, item := range found[n] {
			item.Region = l.region
			all = append(all, item)
		}
	}
	inv.Items, inv.Unproven = attribute(all, scope)
	return inv, inv.Err()
}
