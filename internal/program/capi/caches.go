package capi

import (
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/cluster-api/controllers/remote"
	"sigs.k8s.io/cluster-api/util/secret"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// managerCache holds only those Secrets that belong to clusters, and of their
// data only the kubeconfigs.
func managerCache(namespace string, syncPeriod time.Duration) cache.Options {
	options := cache.Options{SyncPeriod: &syncPeriod, DefaultNamespaces: namespaces(namespace)}
	ofClusters := labels.NewSelector()
	// The requirement is constant and valid.
	if exists, err := labels.NewRequirement(clusterv1.ClusterNameLabel, selection.Exists, nil); err == nil {
		ofClusters = ofClusters.Add(*exists)
	}
	options.ByObject = map[client.Object]cache.ByObject{
		&corev1.Secret{}: {Label: ofClusters, Transform: func(in any) (any, error) {
			if s, ok := in.(*corev1.Secret); ok {
				s.ManagedFields = nil
				if !strings.HasSuffix(s.Name, "-"+string(secret.Kubeconfig)) {
					s.Data = nil
				}
			}
			return in, nil
		}},
	}
	return options
}

func namespaces(namespace string) map[string]cache.Config {
	if namespace == "" {
		return nil
	}
	return map[string]cache.Config{namespace: {}}
}

func managerClient() client.Options {
	return client.Options{Cache: &client.CacheOptions{
		DisableFor:   []client.Object{&corev1.ConfigMap{}, &corev1.Secret{}},
		Unstructured: true,
	}}
}

// secretCachingClient reads the Secrets that the manager's cache holds.
func secretCachingClient(mgr ctrl.Manager) (client.Client, error) {
	return client.New(mgr.GetConfig(), client.Options{
		HTTPClient: mgr.GetHTTPClient(),
		Cache:      &client.CacheOptions{Reader: mgr.GetCache()},
	})
}

// secretMetadataCache watches the metadata of all Secrets, for controllers
// that follow Secrets of no particular cluster.
func secretMetadataCache(mgr ctrl.Manager, o options) (cache.Cache, error) {
	c, err := cache.New(mgr.GetConfig(), cache.Options{
		Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper(), HTTPClient: mgr.GetHTTPClient(),
		SyncPeriod: &o.syncPeriod, DefaultNamespaces: namespaces(o.namespace),
		DefaultTransform: func(in any) (any, error) {
			if _, ok := in.(*metav1.PartialObjectMetadata); !ok {
				return nil, fmt.Errorf("the cache of Secret metadata was asked for %T", in)
			}
			return cache.TransformStripManagedFields()(in)
		},
	})
	if err != nil {
		return nil, err
	}
	return c, mgr.Add(c)
}

func clusterCacheOptions(o options, secrets client.Reader) clustercache.Options {
	return clustercache.Options{
		SecretClient:     secrets,
		WatchFilterValue: o.watchFilter,
		Cache: clustercache.CacheOptions{
			Indexes:  []clustercache.CacheOptionsIndex{clustercache.NodeProviderIDIndex},
			ByObject: map[client.Object]cache.ByObject{&corev1.Node{}: {Transform: cache.TransformStripManagedFields()}},
		},
		Client: clustercache.ClientOptions{
			QPS: o.clusterCacheQPS, Burst: o.clusterCacheBurst,
			UserAgent: remote.DefaultClusterAPIUserAgent(controllerName),
			Cache: clustercache.ClientCacheOptions{DisableFor: []client.Object{
				&corev1.ConfigMap{}, &corev1.Secret{}, &corev1.Pod{}, &appsv1.DaemonSet{},
				&storagev1.VolumeAttachment{}, &corev1.PersistentVolume{},
			}},
		},
	}
}
