package capi

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/cluster-api/feature"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller"
)

// connectionRetry is how soon a failed connection to a workload cluster is
// tried again. The first try often comes before the kubeconfig exists, and the
// release's own 30 s would then be the longest wait of a cluster's creation.
const connectionRetry = 250 * time.Millisecond

func addReconcilers(ctx context.Context, mgr ctrl.Manager, o options) (clustercache.ClusterCache, error) {
	secrets, err := secretCachingClient(mgr)
	if err != nil {
		return nil, fmt.Errorf("creating the client for cached Secrets: %w", err)
	}
	clusters, err := clustercache.SetupWithManager(ctx, mgr, clusterCacheOptions(o, secrets), controller.Options{MaxConcurrentReconciles: o.clusterConcurrency})
	if err != nil {
		return nil, fmt.Errorf("creating the cluster cache: %w", err)
	}
	settable, ok := clusters.(interface{ SetConnectionCreationRetryInterval(time.Duration) })
	if !ok {
		return nil, errors.New("the cluster cache of this Cluster API release has no settable connection retry; every new cluster would wait 30 s")
	}
	settable.SetConnectionCreationRetryInterval(connectionRetry)
	metadata, err := secretMetadataCache(mgr, o)
	if err != nil {
		return nil, fmt.Errorf("creating the cache of Secret metadata: %w", err)
	}

	many := controller.Options{MaxConcurrentReconciles: o.concurrency}
	setups := []struct {
		name  string
		setup func() error
	}{
		{"Cluster", func() error {
			return (&controllers.ClusterReconciler{
				Client: mgr.GetClient(), APIReader: mgr.GetAPIReader(), ClusterCache: clusters, WatchFilterValue: o.watchFilter,
				RemoteConnectionGracePeriod: o.remoteConnectionGracePeriod,
			}).SetupWithManager(ctx, mgr, controller.Options{MaxConcurrentReconciles: o.clusterConcurrency})
		}},
		{"Machine", func() error {
			return (&controllers.MachineReconciler{
				Client: mgr.GetClient(), APIReader: mgr.GetAPIReader(), ClusterCache: clusters, WatchFilterValue: o.watchFilter,
				RemoteConditionsGracePeriod: o.remoteConditionsGracePeriod,
			}).SetupWithManager(ctx, mgr, many)
		}},
		{"MachineSet", func() error {
			return (&controllers.MachineSetReconciler{
				Client: mgr.GetClient(), APIReader: mgr.GetAPIReader(), ClusterCache: clusters, WatchFilterValue: o.watchFilter,
				PreflightChecks: sets.New(clusterv1.MachineSetPreflightCheckAll),
			}).SetupWithManager(ctx, mgr, many)
		}},
		{"MachineDeployment", func() error {
			return (&controllers.MachineDeploymentReconciler{
				Client: mgr.GetClient(), APIReader: mgr.GetAPIReader(), WatchFilterValue: o.watchFilter,
			}).SetupWithManager(ctx, mgr, many)
		}},
		{"ClusterResourceSet", func() error {
			return (&controllers.ClusterResourceSetReconciler{
				Client: mgr.GetClient(), ClusterCache: clusters, WatchFilterValue: o.watchFilter,
			}).SetupWithManager(ctx, mgr, many, metadata)
		}},
		{"ClusterResourceSetBinding", func() error {
			return (&controllers.ClusterResourceSetBindingReconciler{
				Client: mgr.GetClient(), WatchFilterValue: o.watchFilter,
			}).SetupWithManager(ctx, mgr, many)
		}},
		{"MachineHealthCheck", func() error {
			return (&controllers.MachineHealthCheckReconciler{
				Client: mgr.GetClient(), ClusterCache: clusters, WatchFilterValue: o.watchFilter,
			}).SetupWithManager(ctx, mgr, many)
		}},
	}
	if feature.Gates.Enabled(feature.MachinePool) {
		setups = append(setups, struct {
			name  string
			setup func() error
		}{"MachinePool", func() error {
			return (&controllers.MachinePoolReconciler{
				Client: mgr.GetClient(), APIReader: mgr.GetAPIReader(), ClusterCache: clusters, WatchFilterValue: o.watchFilter,
			}).SetupWithManager(ctx, mgr, many)
		}})
	}
	for _, s := range setups {
		if err := s.setup(); err != nil {
			return nil, fmt.Errorf("creating the %s controller: %w", s.name, err)
		}
	}
	return clusters, nil
}
