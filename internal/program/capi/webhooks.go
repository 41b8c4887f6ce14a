package capi

//lint:file-ignore SA1019 The old versions are served, by conversion, as long as the release serves them.

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
	clusterv1beta1 "sigs.k8s.io/cluster-api/api/core/v1beta1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/webhooks"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func addWebhooks(ctx context.Context, mgr ctrl.Manager, clusters webhooks.ClusterCacheReader) error {
	// Conversion to v1beta1 has to name the API version of every reference.
	clusterv1beta1.SetAPIVersionGetter(func(gk schema.GroupKind) (string, error) {
		return contractVersion(ctx, mgr.GetClient(), gk)
	})
	c := mgr.GetClient()
	return errors.Join(
		(&webhooks.ClusterClass{Client: c}).SetupWebhookWithManager(mgr),
		(&webhooks.Cluster{Client: c, ClusterCacheReader: clusters}).SetupWebhookWithManager(mgr),
		(&webhooks.Machine{}).SetupWebhookWithManager(mgr),
		(&webhooks.MachineSet{}).SetupWebhookWithManager(mgr),
		(&webhooks.MachineDeployment{}).SetupWebhookWithManager(mgr),
		(&webhooks.MachineDrainRule{}).SetupWebhookWithManager(mgr),
		(&webhooks.MachinePool{}).SetupWebhookWithManager(mgr),
		(&webhooks.ClusterResourceSet{}).SetupWebhookWithManager(mgr),
		(&webhooks.ClusterResourceSetBinding{}).SetupWebhookWithManager(mgr),
		(&webhooks.MachineHealthCheck{}).SetupWebhookWithManager(mgr),
		(&webhooks.ExtensionConfig{}).SetupWebhookWithManager(mgr),
		(&webhooks.IPAddress{Client: c}).SetupWebhookWithManager(mgr),
		(&webhooks.IPAddressClaim{}).SetupWebhookWithManager(mgr),
	)
}

// contractVersion returns the newest API version of a kind that implements a
// Cluster API contract, as the labels of its CRD say (Cluster API book, "API
// version labels").
func contractVersion(ctx context.Context, c client.Reader, gk schema.GroupKind) (string, error) {
	crd := &metav1.PartialObjectMetadata{}
	crd.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	name := strings.ToLower(gk.Kind) + "s." + gk.Group
	if err := c.Get(ctx, client.ObjectKey{Name: name}, crd); err != nil {
		return "", fmt.Errorf("API version of kind %s: %w", gk.Kind, err)
	}
	for _, contract := range []string{"v1beta2", "v1beta1"} {
		var newest string
		for v := range strings.SplitSeq(crd.Labels[clusterv1.GroupVersion.Group+"/"+contract], "_") {
			if v != "" && (newest == "" || version.CompareKubeAwareVersionStrings(v, newest) > 0) {
				newest = v
			}
		}
		if newest != "" {
			return schema.GroupVersion{Group: gk.Group, Version: newest}.String(), nil
		}
	}
	return "", fmt.Errorf("API version of kind %s: CRD %s carries no contract label", gk.Kind, name)
}
