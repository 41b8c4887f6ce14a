package node

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
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

// Exit codes.
const (
	exitError = 1
	exitPanic = 2
)

// container runs one container of the pod, again and again as its restart
// policy says, until the pod ends.
func (r *run) container(i int, mounts []map[string]string) {
	c := r.pod.Spec.Containers[i]
	prog, known := r.catalog.Lookup(c.Image)
	if !known {
		r.set(i, func(s *corev1.ContainerStatus) { running(s, r.pod, true) })
		<-r.ctx.Done()
		return
	}
	backoff := firstBackoff
	for {
		began := metav1.Now()
		err := r.once(i, c, prog, mounts[i])
		if r.ctx.Err() != nil {
			return
		}
		code, message := outcome(err)
		ended := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: code, Message: message, StartedAt: began, FinishedAt: metav1.Now(), Reason: reason(code), ContainerID: containerID(r.pod, c.Name),
		}}
		if !restarts(r.pod.Spec.RestartPolicy, code) {
			r.set(i, func(s *corev1.ContainerStatus) { s.State, s.Ready = ended, false })
			return
		}
		if time.Since(began.Time) > forgiveAfter {
			backoff = firstBackoff
		}
		klog.InfoS("A container ended and will be restarted", "pod", klog.KObj(r.pod), "container", c.Name, "exitCode", code, "message", message, "in", backoff)
		r.events.Eventf(r.pod, corev1.EventTypeWarning, "BackOff", "Back-off restarting failed container %s: %s", c.Name, message)
		r.set(i, func(s *corev1.ContainerStatus) {
			s.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: message}}
			s.LastTerminationState, s.Ready = ended, false
			s.RestartCount++
		})
		select {
		case <-r.ctx.Done():
			return
		case <-time.After(backoff):
		}
		backoff = min(2*backoff, lastBackoff)
	}
}

// once runs the container's program a single time, with its readiness probe
// beside it.
func (r *run) once(i int, c corev1.Container, prog program.Program, mounts map[string]string) error {
	pod, err := r.programPod(c, mounts)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(r.ctx)
	defer cancel()
	r.set(i, func(s *corev1.ContainerStatus) { running(s, r.pod, c.ReadinessProbe == nil) })
	probed := make(chan struct{})
	go func() {
		defer close(probed)
		r.probe(ctx, c, func(ready bool) { r.set(i, func(s *corev1.ContainerStatus) { s.Ready = ready }) })
	}()
	err = guarded(ctx, prog, pod)
	cancel()
	<-probed
	return err
}

// panicError is a program's panic.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v\n%s", e.value, e.stack) }

// guarded turns a panic of the program itself into an error. One in a goroutine
// of the program ends the node process, which the control plane then restarts.
func guarded(ctx context.Context, prog program.Program, pod *program.Pod) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &panicError{v, debug.Stack()}
		}
	}()
	return prog(ctx, pod)
}

func outcome(err error) (int32, string) {
	var p *panicError
	switch {
	case err == nil:
		return 0, ""
	case errors.As(err, &p):
		return exitPanic, err.Error()
	default:
		return exitError, err.Error()
	}
}

func reason(code int32) string {
	if code == 0 {
		return "Completed"
	}
	return "Error"
}

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

func running(s *corev1.ContainerStatus, pod *corev1.Pod, ready bool) {
	started := true
	s.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}}
	s.ContainerID, s.Ready, s.Started = containerID(pod, s.Name), ready, &started
}
