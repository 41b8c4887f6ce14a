package lifecycle

import (
	"context"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/krops-go/krops/internal/kube"
	"github.com/krops-go/krops/internal/presence"
)

var clusterKind = schema.GroupVersionKind{Group: "cluster.x-k8s.io", Version: "v1beta2", Kind: "Cluster"}

func newCluster() *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(clusterKind)
	return object
}

func isPaused(cluster *unstructured.Unstructured) bool {
	paused, _, _ := unstructured.NestedBool(cluster.Object, "spec", "paused")
	return paused
}

// setPaused changes spec.paused of a Cluster that exists.
func setPaused(ctx context.Context, c client.Client, key types.NamespacedName, paused bool) error {
	object := newCluster()
	object.SetNamespace(key.Namespace)
	object.SetName(key.Name)
	patch := fmt.Appendf(nil, `{"spec":{"paused":%t}}`, paused)
	if err := c.Patch(ctx, object, client.RawPatch(types.MergePatchType, patch)); err != nil {
		return fmt.Errorf("setting spec.paused=%t of Cluster %s: %w", paused, key, err)
	}
	return nil
}

// servesClusters reports whether Cluster API's CRDs are installed.
func servesClusters(ctx context.Context, c client.Reader) (bool, error) {
	var crd apiextensionsv1.CustomResourceDefinition
	found, err := kube.Lookup(ctx, c, types.NamespacedName{Name: "clusters.cluster.x-k8s.io"}, &crd)
	return found == presence.Present, err
}

// listClusters returns all Cluster objects of a cluster, in stable order.
func listClusters(ctx context.Context, c client.Reader) ([]unstructured.Unstructured, error) {
	served, err := servesClusters(ctx, c)
	if err != nil || !served {
		return nil, err
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(clusterKind.GroupVersion().WithKind("ClusterList"))
	if err := c.List(ctx, list); err != nil {
		return nil, fmt.Errorf("listing Clusters: %w", err)
	}
	return list.Items, nil
}
