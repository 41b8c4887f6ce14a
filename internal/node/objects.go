package node

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// watchObjects has the volumes of pods refreshed when a ConfigMap or Secret
// that they may be made of changes. It watches metadata only: what the objects
// hold is read by the pods that use them.
func (a *agent) watchObjects(ctx context.Context, config *rest.Config) error {
	client, err := metadata.NewForConfig(config)
	if err != nil {
		return err
	}
	factory := metadatainformer.NewSharedInformerFactory(client, 0)
	for _, resource := range []string{"configmaps", "secrets"} {
		poke := func(obj any) {
			object, ok := obj.(*v1.PartialObjectMetadata)
			if !ok {
				return // deleted while nobody looked; the volumes stay as they are
			}
			for _, r := range a.runsIn(object.Namespace) {
				if r.refers(resource, object.Name) {
					r.poke()
				}
			}
		}
		informer := factory.ForResource(corev1.SchemeGroupVersion.WithResource(resource)).Informer()
		// Only what identifies an object and its state is of use here.
		err := informer.SetTransform(func(obj any) (any, error) {
			if object, ok := obj.(*v1.PartialObjectMetadata); ok {
				object.ManagedFields, object.Annotations, object.Labels = nil, nil, nil
			}
			return obj, nil
		})
		if err == nil {
			_, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: poke, UpdateFunc: func(_, obj any) { poke(obj) }, DeleteFunc: poke})
		}
		if err != nil {
			return fmt.Errorf("watching %s: %w", resource, err)
		}
	}
	factory.Start(ctx.Done())
	return nil
}

// refers reports whether a volume of the pod is made of the object.
func (r *run) refers(resource, name string) bool {
	for _, v := range r.pod.Spec.Volumes {
		if v.ConfigMap != nil && resource == "configmaps" && v.ConfigMap.Name == name {
			return true
		}
		if v.Secret != nil && resource == "secrets" && v.Secret.SecretName == name {
			return true
		}
		if v.Projected == nil {
			continue
		}
		for _, s := range v.Projected.Sources {
			if s.ConfigMap != nil && resource == "configmaps" && s.ConfigMap.Name == name {
				return true
			}
			if s.Secret != nil && resource == "secrets" && s.Secret.Name == name {
				return true
			}
		}
	}
	return false
}
