// Package environment reads what an estate says about itself: bootstrap.toml, which declares the environments, and
// .env, which holds what a run needs and Git must not have.
package environment

import "time"

// File is the name of the declaration at the root of an estate's repository.
const File = "bootstrap.toml"

// Environment is one environment of an estate, checked: every path exists below Root, every name is valid, and the
// management cluster's manifest declares that cluster.
type Environment struct {
	Name string
	// Root is the absolute path of the estate's repository. All other paths are relative to it, with slashes.
	Root string
	// SyncPath is the tree that Flux on the management cluster reconciles.
	SyncPath string
	// Regions are all regions that the environment's clusters use, in the order of the file.
	Regions           []string
	ManagementCluster ManagementCluster
	// Providers are Cluster API's components in the order of installation.
	Providers  []Provider
	Timeouts   Timeouts
	Kubeconfig Kubeconfig
}

// ManagementCluster is the cluster that the pivot moves the Cluster API inventory into.
type ManagementCluster struct {
	// Name and Namespace are those of the Cluster object, Region is one of the environment's.
	Name, Namespace, Region string
	// Path is the folder with the cluster's manifests.
	Path string
}

// Provider is one set of Cluster API components.
type Provider struct {
	// Name is the provider's name in clusterctl's inventory.
	Name string
	// Path is the folder with the manifests, Namespace where its Deployments run.
	Path, Namespace string
	// Deployments are what must be available for the provider to be installed.
	Deployments []string
}

// Timeouts say how long each phase of a lifecycle may take.
type Timeouts struct {
	BootstrapCluster  time.Duration
	Providers         time.Duration
	ManagementCluster time.Duration
	Pivot             time.Duration
	Teardown          time.Duration
}

// Kubeconfig is where the access to the management cluster is written.
type Kubeconfig struct {
	// Path is below Root, Context the name of the context in that file.
	Path, Context string
}

// defaultTimeouts hold for what a file leaves out: EKS takes about a quarter of an hour for a cluster with a pool,
// and everything is given room for one bad day.
func defaultTimeouts() Timeouts {
	return Timeouts{
		BootstrapCluster:  5 * time.Minute,
		Providers:         10 * time.Minute,
		ManagementCluster: 40 * time.Minute,
		Pivot:             20 * time.Minute,
		Teardown:          60 * time.Minute,
	}
}
