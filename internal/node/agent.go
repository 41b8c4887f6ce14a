package node

import (
	"context"
	"sync"

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
)

// agent keeps what runs in step with the pods that are bound to nodes.
type agent struct {
	*node
	pods  corelisters.PodLister
	nodes corelisters.NodeLister
	queue workqueue.TypedRateLimitingInterface[string]

	mu      sync.Mutex
	running map[types.NamespacedName]*run
}

func newAgent(n *node, factory informers.SharedInformerFactory) *agent {
	a := &agent{
		node:    n,
		pods:    factory.Core().V1().Pods().Lister(),
		nodes:   factory.Core().V1().Nodes().Lister(),
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
	a.mu.Lock()
	current := a.running[id]
	a.mu.Unlock()
	if current != nil && (pod == nil || pod.UID != current.pod.UID) {
		a.end(id, current)
		current = nil
	}
	switch {
	case pod == nil || pod.Spec.NodeName == "":
		return nil
	case pod.DeletionTimestamp != nil:
		return a.finish(ctx, id, current, pod)
	case a.nodeGone(pod.Spec.NodeName):
		// The instance is gone, and its containers with it.
		return a.finish(ctx, id, current, pod)
	case current != nil || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed:
		return nil
	}
	r := newRun(ctx, a.node, pod)
	a.mu.Lock()
	a.running[id] = r
	a.mu.Unlock()
	go r.run()
	return nil
}

func (a *agent) nodeGone(name string) bool {
	_, err := a.nodes.Get(name)
	return apierrors.IsNotFound(err)
}

func (a *agent) end(id types.NamespacedName, r *run) {
	r.stop()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.running[id] == r {
		delete(a.running, id)
	}
}

// finish ends the pod's programs and then its object, as a kubelet does once
// the containers are gone.
func (a *agent) finish(ctx context.Context, id types.NamespacedName, current *run, pod *corev1.Pod) error {
	if current != nil {
		a.end(id, current)
	}
	err := a.client.CoreV1().Pods(id.Namespace).Delete(ctx, id.Name, metav1.DeleteOptions{
		GracePeriodSeconds: ptr.To[int64](0),
		Preconditions:      metav1.NewUIDPreconditions(string(pod.UID)),
	})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}
