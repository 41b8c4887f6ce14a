package kube

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// WarmKinds asks for one object of every custom kind. The first complete list of a kind after its definition changed
// is refused for a second while the API server fills its watch cache; a limited list is answered at once and fills it
// too. Clients that list one kind after the other, like `clusterctl move`, are spared half a minute by that.
//
// It is an optimisation: an error says which kinds could not be listed, and nothing depends on them.
func WarmKinds(ctx context.Context, c client.Reader) error {
	var crds apiextensionsv1.CustomResourceDefinitionList
	if err := c.List(ctx, &crds); err != nil {
		return fmt.Errorf("list CustomResourceDefinitions: %w", err)
	}
	failed := make([]error, len(crds.Items))
	var workers errgroup.Group
	workers.SetLimit(applyConcurrency)
	for i, crd := range crds.Items {
		workers.Go(func() error {
			failed[i] = warm(ctx, c, &crd)
			return nil
		})
	}
	if err := workers.Wait(); err != nil {
		return err
	}
	return forEach(failed, func(err error) error { return err })
}

func warm(ctx context.Context, c client.Reader, crd *apiextensionsv1.CustomResourceDefinition) error {
	for _, version := range crd.Spec.Versions {
		if !version.Storage || !version.Served {
			continue
		}
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(schema.GroupVersionKind{
			Group: crd.Spec.Group, Version: version.Name, Kind: crd.Spec.Names.ListKind,
		})
		if err := c.List(ctx, list, client.Limit(1)); err != nil {
			return fmt.Errorf("list one %s: %w", crd.Name, err)
		}
	}
	return nil
}
