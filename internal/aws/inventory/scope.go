package inventory

import (
	"errors"
	"fmt"
	"slices"
)

// Scope is the set of clusters whose belongings are looked for, and where.
type Scope struct {
	Clusters []ClusterName
	// Regions are looked through for all of the clusters, in addition to the
	// region that each lives in, such as one it lived in before. Within them
	// nobody else may have clusters of the same names, since the tags of such
	// a cluster cannot be told apart.
	Regions []string
}

// ClusterName is a cluster under both its names. The provider tags some
// resources with one and some with the other, so both are needed.
type ClusterName struct {
	// CAPI is the name of the Cluster object.
	CAPI string
	// EKS is the name of the EKS cluster, by default <namespace>_<name>.
	EKS string
	// Region is where the cluster lives.
	Region string
}

// AllRegions lists every region to look through, each once, sorted.
func (s Scope) AllRegions() []string {
	regions := slices.Clone(s.Regions)
	for _, c := range s.Clusters {
		regions = append(regions, c.Region)
	}
	slices.Sort(regions)
	return slices.Compact(regions)
}

// In lists the clusters that may have something in the region. IAM, spelled
// "", is one for all of them.
func (s Scope) In(region string) []ClusterName {
	var clusters []ClusterName
	for _, c := range s.Clusters {
		if region == "" || region == c.Region || slices.Contains(s.Regions, region) {
			clusters = append(clusters, c)
		}
	}
	return clusters
}

// Validate refuses a scope that cannot prove ownership: an empty name would
// match a tag that belongs to nobody, and an empty scope would look clean.
func (s Scope) Validate() error {
	if len(s.Clusters) == 0 {
		return errors.New("inventory scope names no cluster")
	}
	var errs []error
	for _, c := range s.Clusters {
		if c.CAPI == "" || c.EKS == "" || c.Region == "" {
			errs = append(errs, fmt.Errorf("inventory scope: cluster %q (EKS name %q, region %q) needs all three", c.CAPI, c.EKS, c.Region))
		}
	}
	if slices.Contains(s.Regions, "") {
		errs = append(errs, errors.New("inventory scope: a region has no name"))
	}
	return errors.Join(errs...)
}
