package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	storagelisters "k8s.io/client-go/listers/storage/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	storagehelpers "k8s.io/component-helpers/storage/volume"
	"k8s.io/klog/v2"

	"github.com/krops-go/krops/internal/cluster"
)

// installStorageClass makes the default class of claims.
func installStorageClass(ctx context.Context, client kubernetes.Interface) error {
	binding, reclaim := storagev1.VolumeBindingImmediate, corev1.PersistentVolumeReclaimDelete
	_, err := client.StorageV1().StorageClasses().Create(ctx, &storagev1.StorageClass{
		ObjectMeta:        metav1.ObjectMeta{Name: cluster.StorageClass, Annotations: map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}},
		Provisioner:       cluster.StorageDriver,
		VolumeBindingMode: &binding, ReclaimPolicy: &reclaim,
	}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("making storage class %s: %w", cluster.StorageClass, err)
	}
	return nil
}

// provisioner makes volumes for claims, which the controller manager then
// binds, and removes those that were released. A volume is a folder.
type provisioner struct {
	*node
	claims  corelisters.PersistentVolumeClaimLister
	volumes corelisters.PersistentVolumeLister
	classes storagelisters.StorageClassLister
	queue   workqueue.TypedRateLimitingInterface[cache.ObjectName] // volumes have no namespace
}

func newProvisioner(n *node, factory informers.SharedInformerFactory) *provisioner {
	p := &provisioner{
		node:    n,
		claims:  factory.Core().V1().PersistentVolumeClaims().Lister(),
		volumes: factory.Core().V1().PersistentVolumes().Lister(),
		classes: factory.Storage().V1().StorageClasses().Lister(),
		queue:   workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[cache.ObjectName]()),
	}
	add := func(obj any) {
		if key, err := cache.ObjectToName(obj); err == nil {
			p.queue.Add(key)
		}
	}
	handler := cache.ResourceEventHandlerFuncs{AddFunc: add, UpdateFunc: func(_, obj any) { add(obj) }}
	// Adding handlers fails only on a stopped informer.
	_, _ = factory.Core().V1().PersistentVolumeClaims().Informer().AddEventHandler(handler)
	_, _ = factory.Core().V1().PersistentVolumes().Informer().AddEventHandler(handler)
	return p
}

func (p *provisioner) run(ctx context.Context) error {
	stop := context.AfterFunc(ctx, p.queue.ShutDown)
	defer stop()
	for {
		key, down := p.queue.Get()
		if down {
			return context.Cause(ctx)
		}
		if err := p.reconcile(ctx, key); err != nil {
			klog.InfoS("Providing a volume failed, trying again", "object", key, "err", err)
			p.queue.AddRateLimited(key)
		} else {
			p.queue.Forget(key)
		}
		p.queue.Done(key)
	}
}

func (p *provisioner) reconcile(ctx context.Context, key cache.ObjectName) error {
	if key.Namespace == "" {
		pv, err := p.volumes.Get(key.Name)
		if err != nil {
			return ignoreNotFound(err)
		}
		return p.reclaim(ctx, pv)
	}
	claim, err := p.claims.PersistentVolumeClaims(key.Namespace).Get(key.Name)
	if err != nil {
		return ignoreNotFound(err)
	}
	return p.provide(ctx, claim)
}

func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// provide makes the volume of a claim that the controller manager has left to
// this provisioner.
func (p *provisioner) provide(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
	if claim.Spec.VolumeName != "" || claim.DeletionTimestamp != nil || claim.Annotations[storagehelpers.AnnStorageProvisioner] != cluster.StorageDriver {
		return nil
	}
	class, err := p.classes.Get(*claim.Spec.StorageClassName)
	if err != nil {
		return err
	}
	name := "pvc-" + string(claim.UID)
	if _, err := p.volumes.Get(name); err == nil {
		return nil // about to be bound
	}
	if err := os.MkdirAll(cluster.Layout(".").Volume(name), 0o700); err != nil {
		return err
	}
	mode := corev1.PersistentVolumeFilesystem
	if claim.Spec.VolumeMode != nil && *claim.Spec.VolumeMode != mode {
		p.events.Eventf(claim, corev1.EventTypeWarning, "ProvisioningFailed", "Class %s has volumes of mode %s only", class.Name, mode)
		return nil
	}
	_, err = p.client.CoreV1().PersistentVolumes().Create(ctx, &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{storagehelpers.AnnDynamicallyProvisioned: cluster.StorageDriver}},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:                      corev1.ResourceList{corev1.ResourceStorage: claim.Spec.Resources.Requests[corev1.ResourceStorage]},
			AccessModes:                   claim.Spec.AccessModes,
			PersistentVolumeReclaimPolicy: *class.ReclaimPolicy,
			StorageClassName:              class.Name,
			VolumeMode:                    &mode,
			ClaimRef: &corev1.ObjectReference{
				APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID, ResourceVersion: claim.ResourceVersion,
			},
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: cluster.StorageDriver, VolumeHandle: name}},
		},
	}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	p.events.Eventf(claim, corev1.EventTypeNormal, "ProvisioningSucceeded", "Made volume %s", name)
	return nil
}

// reclaim removes a volume of ours whose claim is gone, as its policy says.
func (p *provisioner) reclaim(ctx context.Context, pv *corev1.PersistentVolume) error {
	if pv.Spec.CSI == nil || pv.Spec.CSI.Driver != cluster.StorageDriver ||
		pv.Status.Phase != corev1.VolumeReleased || pv.Spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimDelete {
		return nil
	}
	handle := pv.Spec.CSI.VolumeHandle
	if !filepath.IsLocal(handle) {
		return nil // nothing that this provisioner made
	}
	return errors.Join(
		os.RemoveAll(cluster.Layout(".").Volume(handle)),
		ignoreNotFound(p.client.CoreV1().PersistentVolumes().Delete(ctx, pv.Name, metav1.DeleteOptions{})),
	)
}
