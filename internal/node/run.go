package node

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"

	"github.com/krops-go/krops/internal/cluster"
)

// SimulatedAnnotation marks a pod with containers that no program stands for:
// they are said to run and do nothing.
const SimulatedAnnotation = "krops.dev/simulated"

// How often is tried again what waits for objects that do not exist yet.
const (
	firstRetry = 200 * time.Millisecond
	lastRetry  = 2 * time.Second
)

func retries() wait.Backoff {
	return wait.Backoff{Duration: firstRetry, Factor: 1.5, Steps: 100, Cap: lastRetry}
}

// run is one pod that runs.
type run struct {
	*node
	pod     *corev1.Pod // as it was when the run began
	current atomic.Pointer[corev1.Pod]
	ip      string
	started metav1.Time
	ctx     context.Context // ends when the pod shall
	cancel  context.CancelFunc
	forced  atomic.Bool // its object is gone already
	ended   chan struct{}
	dirty   chan struct{} // holds one when there is a status to report
	poked   chan struct{} // holds one when volumes may have to be refreshed

	volumes          map[string]*volume // by name; the run's own goroutine makes, refresh then has them
	inits, mains     []*container
	reportConditions []corev1.PodCondition // as last reported
}

func newRun(ctx context.Context, n *node, pod *corev1.Pod) *run {
	r := &run{
		node: n, pod: pod, ip: n.addresses.newPodIP(), started: metav1.Now(), volumes: map[string]*volume{},
		ended: make(chan struct{}), dirty: make(chan struct{}, 1), poked: make(chan struct{}, 1),
	}
	r.current.Store(pod)
	r.ctx, r.cancel = context.WithCancel(ctx)
	r.reportConditions = pod.Status.Conditions
	if pod.Status.StartTime != nil {
		r.started = *pod.Status.StartTime
	}
	for _, spec := range pod.Spec.InitContainers {
		r.inits = append(r.inits, newContainer(r, spec, initPolicy(pod, spec), pod.Status.InitContainerStatuses))
	}
	for _, spec := range pod.Spec.Containers {
		r.mains = append(r.mains, newContainer(r, spec, pod.Spec.RestartPolicy, pod.Status.ContainerStatuses))
	}
	return r
}

// initPolicy is the restart policy of an init container. With Always it is a
// sidecar.
func initPolicy(pod *corev1.Pod, c corev1.Container) corev1.RestartPolicy {
	switch {
	case c.RestartPolicy != nil:
		return corev1.RestartPolicy(*c.RestartPolicy)
	case pod.Spec.RestartPolicy == corev1.RestartPolicyAlways:
		return corev1.RestartPolicyOnFailure
	default:
		return pod.Spec.RestartPolicy
	}
}

// latest is the pod as it was last seen.
func (r *run) latest() *corev1.Pod { return r.current.Load() }

// update tells the run how its pod is now.
func (r *run) update(pod *corev1.Pod) {
	old := r.current.Swap(pod)
	if old.ResourceVersion != pod.ResourceVersion {
		r.poke()
	}
}

// poke has the volumes refreshed.
func (r *run) poke() {
	select {
	case r.poked <- struct{}{}:
	default:
	}
}

// folder is where the pod keeps its volumes, logs and sockets, relative to the
// data directory.
func (r *run) folder() string { return podFolder(r.pod.UID) }

func podFolder(uid types.UID) string {
	return filepath.Join(cluster.Layout(".").Pods(), string(uid))
}

func (r *run) absolute(elem ...string) string {
	return filepath.Join(append([]string{r.dir, r.folder()}, elem...)...)
}

// life runs the pod until its containers have ended for good or ctx has.
func (r *run) life() {
	defer close(r.ended)
	defer r.cancel()
	var beside sync.WaitGroup
	besides, endBeside := context.WithCancel(r.ctx)
	defer beside.Wait()
	defer endBeside()
	beside.Go(func() { r.report(besides) })
	r.changed()
	if r.hasProgram() {
		if !r.prepare() {
			return // the pod was ended meanwhile
		}
		if len(r.volumes) > 0 {
			beside.Go(func() { r.refresh(besides) })
		}
	}
	r.announceSimulated()

	var sidecars, mains sync.WaitGroup
	sidecarCtx, endSidecars := context.WithCancel(r.ctx)
	if r.initialize(sidecarCtx, &sidecars) {
		for _, c := range r.mains {
			mains.Go(func() { c.loop(r.ctx) })
		}
		mains.Wait()
	}
	endSidecars()
	sidecars.Wait()
	endBeside()
	beside.Wait()
	if r.ctx.Err() == nil {
		r.reportLast()
	}
}

// initialize runs the init containers in order. The result says that the main
// containers may start.
func (r *run) initialize(ctx context.Context, sidecars *sync.WaitGroup) bool {
	for _, c := range r.inits {
		if c.policy == corev1.RestartPolicyAlways {
			sidecars.Go(func() { c.loop(ctx) })
			select {
			case <-c.startedOnce:
			case <-r.ctx.Done():
				return false
			}
			continue
		}
		if code := c.loop(r.ctx); r.ctx.Err() != nil || code != 0 {
			return false
		}
	}
	return true
}

// prepare fills the pod's volumes, as soon as what they are filled from exists.
// The result is false when the pod was ended before.
func (r *run) prepare() bool {
	said := ""
	err := wait.ExponentialBackoffWithContext(r.ctx, retries(), func(context.Context) (bool, error) {
		err := r.prepareVolumes()
		if err != nil && r.ctx.Err() == nil && err.Error() != said {
			said = err.Error()
			r.events.Event(r.pod, corev1.EventTypeWarning, "FailedMount", said)
			for _, c := range append(r.inits, r.mains...) {
				c.waiting("ContainerCreating", said)
			}
		}
		return err == nil, nil
	})
	return err == nil
}

func (r *run) hasProgram() bool {
	for _, c := range append(r.inits, r.mains...) {
		if c.program != nil {
			return true
		}
	}
	return false
}

// announceSimulated marks the pod when one of its images has no program.
func (r *run) announceSimulated() {
	if r.pod.Annotations[SimulatedAnnotation] != "" {
		return
	}
	simulated := false
	for _, c := range append(r.inits, r.mains...) {
		if c.program == nil {
			simulated = true
			r.events.Event(r.pod, corev1.EventTypeNormal, "Simulated", c.simulation())
		}
	}
	if !simulated {
		return
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": r.pod.UID, "annotations": map[string]string{SimulatedAnnotation: "true"},
	}})
	if err == nil {
		_, err = r.client.CoreV1().Pods(r.pod.Namespace).Patch(r.ctx, r.pod.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	}
	r.complain("marking a pod as simulated", err)
}

// grace is how long the pod's programs have to end.
func (r *run) grace() time.Duration {
	if r.forced.Load() {
		return 0
	}
	seconds := r.latest().DeletionGracePeriodSeconds
	if seconds == nil {
		seconds = r.pod.Spec.TerminationGracePeriodSeconds
	}
	if seconds == nil {
		return corev1.DefaultTerminationGracePeriodSeconds * time.Second
	}
	return time.Duration(*seconds) * time.Second
}

// removeFolder removes what a pod kept on the machine.
func removeFolder(uid types.UID) {
	if err := os.RemoveAll(podFolder(uid)); err != nil {
		klog.InfoS("Removing a pod's folder failed", "uid", uid, "err", err)
	}
}

// complain logs what the node can do no more about. A pod that is gone is no
// reason to.
func (r *run) complain(doing string, err error) {
	if err == nil || errors.Is(err, context.Canceled) || apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return
	}
	klog.InfoS("Failed", "doing", doing, "pod", klog.KObj(r.pod), "err", err)
}
