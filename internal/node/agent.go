package node

import (
	"context"
	"os"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"

	"github.com/krops-go/krops/internal/cluster"
)

// sameNamePause is how long the object of a StatefulSet's pod stays after its
// programs have ended. Its successor has the same name and comes at once, and
// kubectl, waiting for the deletion, would take it for the pod it waits for.
const sameNamePause = 500 * time.Millisecond

// agent keeps what runs in step with the pods that are bound to nodes.
type agent struct {
	*node
	pods  corelisters.PodLister
	queue workqueue.TypedRateLimitingInterface[string]

	mu      sync.Mutex
	running map[types.NamespacedName]*run
}

func newAgent(n *node, factory informers.SharedInformerFactory) *agent {
	a := &agent{
		node:    n,
		pods:    factory.Core().V1().Pods().Lister(),
		queue:   workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]()),
		running: map[types.NamespacedName]*run{},
	}
	add := func(obj any) {
		if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj); err == nil {
			a.queue.Add(key)
		}
	}
	// Adding handlers fails only on a stopped informer.
	_, _ = factory.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: add, UpdateFunc: func(_, obj any) { add(obj) }, DeleteFunc: add,
	})
	_, _ = factory.Core().V1().Nodes().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		DeleteFunc: func(any) {
			pods, err := a.pods.List(labels.Everything())
			if err != nil {
				return
			}
			for _, p := range pods {
				add(p)
			}
		},
	})
	return a
}

func (a *agent) run(ctx context.Context) error {
	if err := a.tidy(); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, a.queue.ShutDown)
	defer stop()
	for {
		key, down := a.queue.Get()
		if down {
			return context.Cause(ctx)
		}
		if err := a.reconcile(ctx, key); err != nil {
			klog.InfoS("Running a pod failed, trying again", "pod", key, "err", err)
			a.queue.AddRateLimited(key)
		} else {
			a.queue.Forget(key)
		}
		a.queue.Done(key)
	}
}

// tidy removes the folders of pods that went while no node process ran.
func (a *agent) tidy() error {
	pods, err := a.pods.List(labels.Everything())
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, p := range pods {
		known[string(p.UID)] = true
	}
	entries, err := os.ReadDir(cluster.Layout(".").Pods())
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsDir() && !known[e.Name()] {
			removeFolder(types.UID(e.Name()))
		}
	}
	return nil
}

func (a *agent) reconcile(ctx context.Context, key string) error {
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return nil
	}
	id := types.NamespacedName{Namespace: namespace, Name: name}
	pod, err := a.pods.Pods(namespace).Get(name)
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	current := a.find(id)
	if current != nil {
		stays := pod != nil && pod.UID == current.pod.UID
		if stays {
			current.update(pod)
		}
		if !stays || pod.DeletionTimestamp != nil || a.nodeGone(pod.Spec.NodeName) {
			current.forced.Store(!stays)
			current.cancel()
			select {
			case <-current.ended:
				a.forget(id, current)
			default:
				return nil // the key comes again when it has ended
			}
		}
	}
	switch {
	case pod == nil || pod.Spec.NodeName == "":
		return nil
	case pod.DeletionTimestamp != nil || a.nodeGone(pod.Spec.NodeName):
		return a.finish(ctx, id, pod)
	case a.find(id) != nil || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed:
		return nil
	}
	r := newRun(ctx, a.node, pod)
	a.mu.Lock()
	a.running[id] = r
	a.mu.Unlock()
	go func() {
		r.life()
		if owner := metav1.GetControllerOf(pod); owner != nil && owner.Kind == "StatefulSet" {
			a.queue.AddAfter(key, sameNamePause)
			return
		}
		a.queue.Add(key)
	}()
	return nil
}

func (a *agent) nodeGone(name string) bool {
	_, err := a.nodes.Get(name)
	return apierrors.IsNotFound(err)
}

// find returns the run of a pod, which may have ended.
func (a *agent) find(id types.NamespacedName) *run {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.running[id]
}

// runsIn returns the runs of a namespace.
func (a *agent) runsIn(namespace string) []*run {
	a.mu.Lock()
	defer a.mu.Unlock()
	var list []*run
	for id, r := range a.running {
		if id.Namespace == namespace {
			list = append(list, r)
		}
	}
	return list
}

func (a *agent) forget(id types.NamespacedName, r *run) {
	removeFolder(r.pod.UID)
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.running, id)
}

// finish ends the pod's object, as a kubelet does once the containers are gone.
func (a *agent) finish(ctx context.Context, id types.NamespacedName, pod *corev1.Pod) error {
	removeFolder(pod.UID)
	err := a.client.CoreV1().Pods(id.Namespace).Delete(ctx, id.Name, metav1.DeleteOptions{
		GracePeriodSeconds: ptr.To[int64](0),
		Preconditions:      metav1.NewUIDPreconditions(string(pod.UID)),
	})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}
