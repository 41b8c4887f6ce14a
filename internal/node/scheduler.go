package node

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"
)

// scheduler binds pending pods: to the node with the fewest pods among those
// whose taints, selectors and resources allow it.
type scheduler struct {
	*node
	pods   corelisters.PodLister
	claims corelisters.PersistentVolumeClaimLister
	queue  workqueue.TypedRateLimitingInterface[string]
}

func newScheduler(n *node, factory informers.SharedInformerFactory) *scheduler {
	s := &scheduler{
		node:   n,
		pods:   factory.Core().V1().Pods().Lister(),
		claims: factory.Core().V1().PersistentVolumeClaims().Lister(),
		queue:  workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]()),
	}
	add := func(obj any) {
		if key, err := cache.MetaNamespaceKeyFunc(obj); err == nil {
			s.queue.Add(key)
		}
	}
	// Room may have come up for the pods that found none.
	retry := func() {
		pods, err := s.pods.List(labels.Everything())
		if err != nil {
			return
		}
		for _, p := range pods {
			if p.Spec.NodeName == "" {
				add(p)
			}
		}
	}
	// Adding handlers fails only on a stopped informer.
	_, _ = factory.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    add,
		UpdateFunc: func(_, obj any) { add(obj) },
		DeleteFunc: func(any) { retry() },
	})
	_, _ = factory.Core().V1().Nodes().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { retry() },
		UpdateFunc: func(any, any) { retry() },
	})
	_, _ = factory.Core().V1().PersistentVolumeClaims().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { retry() },
		UpdateFunc: func(any, any) { retry() },
	})
	return s
}

func (s *scheduler) run(ctx context.Context) error {
	stop := context.AfterFunc(ctx, s.queue.ShutDown)
	defer stop()
	for {
		key, down := s.queue.Get()
		if down {
			return context.Cause(ctx)
		}
		if err := s.schedule(ctx, key); err != nil {
			klog.InfoS("Binding a pod failed, trying again", "pod", key, "err", err)
			s.queue.AddRateLimited(key)
		} else {
			s.queue.Forget(key)
		}
		s.queue.Done(key)
	}
}

func (s *scheduler) schedule(ctx context.Context, key string) error {
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return nil
	}
	pod, err := s.pods.Pods(namespace).Get(name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	ours := pod.Spec.SchedulerName == corev1.DefaultSchedulerName && len(pod.Spec.SchedulingGates) == 0
	if pod.Spec.NodeName != "" || pod.DeletionTimestamp != nil || !ours {
		return nil
	}
	var target string
	why, err := s.unbound(pod)
	if err == nil && why == "" {
		target, why, err = s.choose(pod)
	}
	if err != nil {
		return err
	}
	if target == "" {
		return s.unschedulable(ctx, pod, why)
	}
	err = s.client.CoreV1().Pods(namespace).Bind(ctx, &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: pod.UID},
		Target:     corev1.ObjectReference{Kind: "Node", Name: target},
	}, metav1.CreateOptions{})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil // deleted, or bound by an earlier pass that this cache has not seen
	}
	return err
}

// unbound is what the pod's claims still lack, or "".
func (s *scheduler) unbound(pod *corev1.Pod) (string, error) {
	for _, v := range pod.Spec.Volumes {
		var name string
		switch {
		case v.PersistentVolumeClaim != nil:
			name = v.PersistentVolumeClaim.ClaimName
		case v.Ephemeral != nil:
			name = pod.Name + "-" + v.Name
		default:
			continue
		}
		claim, err := s.claims.PersistentVolumeClaims(pod.Namespace).Get(name)
		switch {
		case apierrors.IsNotFound(err):
			return fmt.Sprintf("persistentvolumeclaim %q not found", name), nil
		case err != nil:
			return "", err
		case claim.Status.Phase != corev1.ClaimBound:
			return fmt.Sprintf("pod has unbound persistentvolumeclaim %q", name), nil
		}
	}
	return "", nil
}

// choose returns the node for pod, or why there is none.
func (s *scheduler) choose(pod *corev1.Pod) (target, why string, err error) {
	nodes, err := s.nodes.List(labels.Everything())
	if err != nil {
		return "", "", err
	}
	pods, err := s.pods.List(labels.Everything())
	if err != nil {
		return "", "", err
	}
	sort.Slice(nodes, func(i, j int) bool { return nodes[i].Name < nodes[j].Name })
	reasons := map[string]int{}
	fewest := -1
	for _, n := range nodes {
		var there []*corev1.Pod
		for _, p := range pods {
			if p.Spec.NodeName == n.Name && p.Status.Phase != corev1.PodSucceeded && p.Status.Phase != corev1.PodFailed {
				there = append(there, p)
			}
		}
		reason, err := obstacle(pod, n, there)
		if err != nil {
			return "", "", err
		}
		if reason != "" {
			reasons[reason]++
			continue
		}
		if fewest < 0 || len(there) < fewest {
			target, fewest = n.Name, len(there)
		}
	}
	if target != "" {
		return target, "", nil
	}
	var parts []string
	for reason, count := range reasons {
		parts = append(parts, fmt.Sprintf("%d %s", count, reason))
	}
	slices.Sort(parts)
	return "", fmt.Sprintf("0/%d nodes are available: %s.", len(nodes), strings.Join(parts, ", ")), nil
}

// obstacle is what keeps pod from a node on which the pods there run, or "".
func obstacle(pod *corev1.Pod, n *corev1.Node, there []*corev1.Pod) (string, error) {
	if n.DeletionTimestamp != nil {
		return "node(s) were being deleted", nil
	}
	if n.Spec.Unschedulable && !corev1helpers.TolerationsTolerateTaint(klog.Background(), pod.Spec.Tolerations, &corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}, false) {
		return "node(s) were unschedulable", nil
	}
	taint, untolerated := corev1helpers.FindMatchingUntoleratedTaint(klog.Background(), n.Spec.Taints, pod.Spec.Tolerations, func(t *corev1.Taint) bool {
		return t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute
	}, false)
	if untolerated {
		return fmt.Sprintf("node(s) had untolerated taint {%s: %s}", taint.Key, taint.Value), nil
	}
	fits, err := nodeaffinity.GetRequiredNodeAffinity(pod).Match(n)
	if err != nil {
		return "", fmt.Errorf("node affinity of pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	if !fits {
		return "node(s) didn't match Pod's node affinity/selector", nil
	}
	if max, ok := n.Status.Allocatable[corev1.ResourcePods]; ok && int64(len(there)) >= max.Value() {
		return "Too many pods", nil
	}
	used := requests(there...)
	for name, want := range requests(pod) {
		free := n.Status.Allocatable[name].DeepCopy()
		free.Sub(used[name])
		if want.Cmp(free) > 0 {
			return fmt.Sprintf("Insufficient %s", name), nil
		}
	}
	return "", nil
}

func requests(pods ...*corev1.Pod) corev1.ResourceList {
	sum := corev1.ResourceList{}
	for _, p := range pods {
		for _, c := range p.Spec.Containers {
			for name, q := range c.Resources.Requests {
				total := sum[name]
				total.Add(q)
				sum[name] = total
			}
		}
	}
	return sum
}

func (s *scheduler) unschedulable(ctx context.Context, pod *corev1.Pod, why string) error {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Message == why {
			return nil
		}
	}
	s.events.Event(pod, corev1.EventTypeWarning, "FailedScheduling", why)
	err := patchStatus(ctx, s.client, pod, corev1.PodStatus{Conditions: []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: why,
		LastTransitionTime: metav1.Now(),
	}}})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return errors.Join(err)
}
