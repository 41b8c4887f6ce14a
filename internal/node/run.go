package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/krops-go/krops/internal/cluster"
	"github.com/krops-go/krops/internal/program"
)

// SimulatedAnnotation marks a pod with containers that no program stands for:
// they are said to run and do nothing.
const SimulatedAnnotation = "krops.dev/simulated"

const prepareEvery = 200 * time.Millisecond

// run is one pod that runs.
type run struct {
	*node
	pod     *corev1.Pod
	ip      string
	started metav1.Time
	ctx     context.Context // ends when the pod shall
	cancel  context.CancelFunc
	ended   chan struct{}

	mu         sync.Mutex // guards what is below
	containers []corev1.ContainerStatus
	conditions []corev1.PodCondition // as last reported
}

func newRun(ctx context.Context, n *node, pod *corev1.Pod) *run {
	r := &run{node: n, pod: pod, ip: n.addresses.newPodIP(), started: metav1.Now(), ended: make(chan struct{})}
	r.ctx, r.cancel = context.WithCancel(ctx)
	r.conditions = pod.Status.Conditions
	if pod.Status.StartTime != nil {
		r.started = *pod.Status.StartTime
	}
	for _, c := range pod.Spec.Containers {
		status := corev1.ContainerStatus{Name: c.Name, Image: c.Image, ImageID: c.Image}
		status.State.Waiting = &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}
		for _, old := range pod.Status.ContainerStatuses {
			// The container ran in a former life of this node process.
			if old.Name == c.Name && old.ContainerID != "" {
				status.RestartCount = old.RestartCount + 1
			}
		}
		r.containers = append(r.containers, status)
	}
	return r
}

// folder is where the pod keeps its volumes and sockets, relative to the data
// directory.
func (r *run) folder(elem ...string) string {
	return filepath.Join(append([]string{cluster.Layout(".").Pods(), string(r.pod.UID)}, elem...)...)
}

// stop ends the pod's programs and returns when they have ended.
func (r *run) stop() {
	r.cancel()
	<-r.ended
}

func (r *run) run() {
	defer close(r.ended)
	defer func() {
		if err := os.RemoveAll(r.folder()); err != nil {
			klog.InfoS("Removing a pod's folder failed", "pod", klog.KObj(r.pod), "err", err)
		}
	}()
	mounts, err := r.prepare()
	if err != nil {
		return // the pod was ended meanwhile
	}
	r.announceSimulated()
	var all sync.WaitGroup
	for i := range r.pod.Spec.Containers {
		all.Go(func() { r.container(i, mounts) })
	}
	all.Wait()
}

// prepare fills the pod's volumes, as soon as what they are filled from exists.
// The error is the context's.
func (r *run) prepare() (mounts []map[string]string, err error) {
	if !r.hasProgram() {
		return make([]map[string]string, len(r.pod.Spec.Containers)), nil
	}
	tick := time.NewTicker(prepareEvery)
	defer tick.Stop()
	said := ""
	for {
		if mounts, err = r.fillVolumes(); err == nil {
			return mounts, nil
		}
		if r.ctx.Err() != nil {
			return nil, r.ctx.Err()
		}
		if err.Error() != said {
			said = err.Error()
			r.events.Event(r.pod, corev1.EventTypeWarning, "FailedMount", said)
			r.setAll(func(s *corev1.ContainerStatus) {
				s.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating", Message: said}}
			})
		}
		select {
		case <-r.ctx.Done():
			return nil, r.ctx.Err()
		case <-tick.C:
		}
	}
}

func (r *run) hasProgram() bool {
	for _, c := range r.pod.Spec.Containers {
		if _, ok := r.catalog.Lookup(c.Image); ok {
			return true
		}
	}
	return false
}

// announceSimulated marks the pod when one of its images has no program.
func (r *run) announceSimulated() {
	for _, c := range r.pod.Spec.Containers {
		if _, ok := r.catalog.Lookup(c.Image); ok {
			continue
		}
		if r.pod.Annotations[SimulatedAnnotation] == "" {
			r.events.Eventf(r.pod, corev1.EventTypeNormal, "Simulated", "No program stands for image %q: container %s is said to run and does nothing", c.Image, c.Name)
			patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
				"uid": r.pod.UID, "annotations": map[string]string{SimulatedAnnotation: "true"},
			}})
			if err == nil {
				_, err = r.client.CoreV1().Pods(r.pod.Namespace).Patch(r.ctx, r.pod.Name, types.MergePatchType, patch, metav1.PatchOptions{})
			}
			r.complain("marking a pod as simulated", err)
		}
		return
	}
}

// programPod is what a container's program is given.
func (r *run) programPod(c corev1.Container, mounts map[string]string) (*program.Pod, error) {
	env, err := r.environment(c)
	if err != nil {
		return nil, err
	}
	args := c.Args
	if len(c.Command) > 1 {
		args = append(append([]string(nil), c.Command[1:]...), c.Args...)
	}
	return &program.Pod{
		Namespace: r.pod.Namespace, Name: r.pod.Name, Container: c.Name,
		Args: args, Env: env, Mounts: mounts, Config: r.podConfig(mounts),
		Listener: func(port int) (net.Listener, error) { return r.addresses.listen(r.ip, port, r.folder()) },
	}, nil
}

// set changes a container's status and publishes the pod's.
func (r *run) set(i int, change func(*corev1.ContainerStatus)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.containers[i])
	r.publishLocked()
}

func (r *run) setAll(change func(*corev1.ContainerStatus)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.containers {
		change(&r.containers[i])
	}
	r.publishLocked()
}

func (r *run) publishLocked() {
	status := podStatus(r.pod.Spec.RestartPolicy, r.conditions, r.containers)
	status.PodIP, status.PodIPs, status.StartTime = r.ip, []corev1.PodIP{{IP: r.ip}}, &r.started
	r.complain("reporting a pod's status", patchStatus(r.ctx, r.client, r.pod, status))
	r.conditions = status.Conditions
}

// complain logs what the node can do no more about. A pod that is gone is no
// reason to.
func (r *run) complain(doing string, err error) {
	if err == nil || errors.Is(err, context.Canceled) || apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return
	}
	klog.InfoS("Failed", "doing", doing, "pod", fmt.Sprintf("%s/%s", r.pod.Namespace, r.pod.Name), "err", err)
}
