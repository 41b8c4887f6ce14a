package node

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"github.com/krops-go/krops/internal/program"
)

// The back-off between restarts. A kubelet begins with 10 s; here the usual
// reason is a cluster that is still coming up.
const (
	firstBackoff = 500 * time.Millisecond
	lastBackoff  = 5 * time.Minute
	// A container that ran this long starts over with firstBackoff.
	forgiveAfter = 10 * time.Minute
)

// container is one container of a pod that runs.
type container struct {
	*run
	spec        corev1.Container
	policy      corev1.RestartPolicy
	program     program.Program // nil when none stands for the image
	startedOnce chan struct{}   // closed at the first start

	mu     sync.Mutex // guards what is below
	status corev1.ContainerStatus
	exec   program.ExecHandler
	once   sync.Once // closes startedOnce
}

// newContainer takes up what the container was in a former life of this node
// process, as old says.
func newContainer(r *run, spec corev1.Container, policy corev1.RestartPolicy, old []corev1.ContainerStatus) *container {
	c := &container{run: r, spec: spec, policy: policy, startedOnce: make(chan struct{})}
	c.program, _ = r.catalog.Lookup(spec.Image)
	c.status = corev1.ContainerStatus{Name: spec.Name, Image: spec.Image, ImageID: spec.Image}
	c.status.State.Waiting = &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}
	for _, s := range old {
		if s.Name != spec.Name || s.ContainerID == "" {
			continue
		}
		c.status.RestartCount, c.status.LastTerminationState = s.RestartCount, s.LastTerminationState
		switch t := s.State.Terminated; {
		case t != nil && !restarts(policy, t.ExitCode):
			c.status = s
		case s.State.Running != nil && c.program != nil:
			lost := terminated(r.pod, spec.Name, s.State.Running.StartedAt, exitKilled, "the node's process ended")
			lost.Terminated.Reason = "ContainerStatusUnknown"
			if restarts(policy, exitKilled) {
				c.status.RestartCount, c.status.LastTerminationState = s.RestartCount+1, lost
			} else {
				c.status.State, c.status.ContainerID = lost, s.ContainerID
			}
		}
	}
	return c
}

// loop runs the container, again and again as its restart policy says, and
// returns the exit code of the last time. When ctx ends, the code means nothing.
func (c *container) loop(ctx context.Context) int32 {
	if t := c.snapshot().State.Terminated; t != nil {
		return t.ExitCode // in a former life
	}
	if c.program == nil {
		return c.simulate(ctx)
	}
	backoff := firstBackoff
	for {
		began := metav1.Now()
		code, message := c.instance(ctx)
		if ctx.Err() != nil {
			return code
		}
		ended := terminated(c.pod, c.spec.Name, began, code, message)
		if !restarts(c.policy, code) {
			c.set(func(s *corev1.ContainerStatus) { s.State, s.Ready = ended, code == 0 && c.isInit() })
			return code
		}
		if time.Since(began.Time) > forgiveAfter {
			backoff = firstBackoff
		}
		klog.InfoS("A container ended and will be restarted", "pod", klog.KObj(c.pod), "container", c.spec.Name, "exitCode", code, "message", message, "in", backoff)
		c.events.Eventf(c.pod, corev1.EventTypeWarning, "BackOff", "Back-off restarting failed container %s: %s", c.spec.Name, message)
		c.set(func(s *corev1.ContainerStatus) {
			s.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: message}}
			s.LastTerminationState, s.Ready, s.Started = ended, false, new(bool)
			s.RestartCount++
		})
		timer := time.NewTimer(backoff)
		select {
		case <-ctx.Done():
			timer.Stop()
			return code
		case <-timer.C:
		}
		backoff = min(2*backoff, lastBackoff)
	}
}

// simulate is the life of a container that no program stands for.
func (c *container) simulate(ctx context.Context) int32 {
	if !c.endless() {
		c.set(func(s *corev1.ContainerStatus) {
			s.ContainerID = containerID(c.pod, c.spec.Name)
			s.State = terminated(c.pod, c.spec.Name, metav1.Now(), 0, c.simulation())
			s.Ready = c.isInit()
		})
		return 0
	}
	c.set(func(s *corev1.ContainerStatus) { c.run.running(s); s.Ready, s.Started = true, yes() })
	c.hasStarted()
	<-ctx.Done()
	return exitKilled
}

// endless reports whether the container is meant to run until it is stopped.
func (c *container) endless() bool { return c.policy == corev1.RestartPolicyAlways }

// simulation says what is made of a container that no program stands for.
func (c *container) simulation() string {
	if c.endless() {
		return fmt.Sprintf("No program stands for image %q: container %s is said to run and does nothing", c.spec.Image, c.spec.Name)
	}
	return fmt.Sprintf("No program stands for image %q: container %s, which is meant to end, is said to have succeeded and did nothing", c.spec.Image, c.spec.Name)
}

func (c *container) isInit() bool {
	for _, i := range c.inits {
		if i == c {
			return true
		}
	}
	return false
}

// set changes the container's status and has the pod's reported.
func (c *container) set(change func(*corev1.ContainerStatus)) {
	c.mu.Lock()
	change(&c.status)
	c.mu.Unlock()
	c.changed()
}

// waiting says what a container that has not started waits for.
func (c *container) waiting(reason, message string) {
	c.set(func(s *corev1.ContainerStatus) {
		if s.State.Terminated == nil {
			s.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
		}
	})
}

func (c *container) snapshot() corev1.ContainerStatus {
	c.mu.Lock()
	defer c.mu.Unlock()
	return *c.status.DeepCopy()
}

func (c *container) hasStarted() { c.once.Do(func() { close(c.startedOnce) }) }

func restarts(policy corev1.RestartPolicy, code int32) bool {
	switch policy {
	case corev1.RestartPolicyNever:
		return false
	case corev1.RestartPolicyOnFailure:
		return code != 0
	default:
		return true
	}
}

func containerID(pod *corev1.Pod, name string) string {
	return fmt.Sprintf("krops://%s/%s", pod.UID, name)
}

func (r *run) running(s *corev1.ContainerStatus) {
	s.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}}
	s.ContainerID, s.Ready, s.Started = containerID(r.pod, s.Name), false, new(bool)
}

func yes() *bool {
	b := true
	return &b
}

func terminated(pod *corev1.Pod, name string, began metav1.Time, code int32, message string) corev1.ContainerState {
	reason := "Error"
	if code == 0 {
		reason = "Completed"
	}
	return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: code, Message: message, Reason: reason, StartedAt: began, FinishedAt: metav1.Now(), ContainerID: containerID(pod, name),
	}}
}
