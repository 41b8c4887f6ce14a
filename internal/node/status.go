package node

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// patchStatus merges status into the pod's. It acts on this very pod, not on
// a later one of the same name.
func patchStatus(ctx context.Context, client kubernetes.Interface, pod *corev1.Pod, status corev1.PodStatus) error {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&status)
	if err != nil {
		return err
	}
	if ips, ok := fields["podIPs"].([]any); ok {
		// They would be merged with those of the pod's former life.
		fields["podIPs"] = append(ips, map[string]any{"$patch": "replace"})
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": pod.UID}, "status": fields})
	if err != nil {
		return err
	}
	_, err = client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	return err
}

// podStatus derives the phase and conditions of a pod from its containers'
// statuses. Conditions that did not change since previous keep their time.
func podStatus(policy corev1.RestartPolicy, previous []corev1.PodCondition, inits, mains []corev1.ContainerStatus) corev1.PodStatus {
	phase := phaseOf(policy, inits, mains)
	var unready, uninitialized []string
	for _, c := range mains {
		if !c.Ready {
			unready = append(unready, c.Name)
		}
	}
	for _, c := range inits {
		if !initialized(c) {
			uninitialized = append(uninitialized, c.Name)
		}
	}
	condition := func(kind corev1.PodConditionType, reason, message string) corev1.PodCondition {
		c := corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()}
		if reason != "" {
			c.Status, c.Reason, c.Message = corev1.ConditionFalse, reason, message
		}
		for _, old := range previous {
			if old.Type == kind && old.Status == c.Status {
				c.LastTransitionTime = old.LastTransitionTime
			}
		}
		return c
	}
	var reason, message string
	switch {
	case phase == corev1.PodSucceeded:
		reason = "PodCompleted"
	case phase == corev1.PodFailed:
		reason = "PodFailed"
	case len(unready) > 0:
		reason, message = "ContainersNotReady", fmt.Sprintf("containers with unready status: %v", unready)
	}
	conditions := []corev1.PodCondition{condition(corev1.PodInitialized, "", ""), condition(corev1.ContainersReady, reason, message), condition(corev1.PodReady, reason, message)}
	if len(uninitialized) > 0 {
		conditions[0] = condition(corev1.PodInitialized, "ContainersNotInitialized", fmt.Sprintf("containers with incomplete status: %v", uninitialized))
	}
	return corev1.PodStatus{Phase: phase, InitContainerStatuses: inits, ContainerStatuses: mains, Conditions: conditions}
}

// initialized reports whether an init container no longer holds up the main
// ones: it has succeeded, or it is a sidecar that has started.
func initialized(c corev1.ContainerStatus) bool {
	if t := c.State.Terminated; t != nil {
		return t.ExitCode == 0
	}
	return c.Started != nil && *c.Started && c.Ready
}

func phaseOf(policy corev1.RestartPolicy, inits, mains []corev1.ContainerStatus) corev1.PodPhase {
	ended, failed, begun := 0, 0, false
	for _, c := range mains {
		if c.State.Running != nil || c.State.Terminated != nil || c.LastTerminationState.Terminated != nil {
			begun = true
		}
		if t := c.State.Terminated; t != nil {
			ended++
			if t.ExitCode != 0 {
				failed++
			}
		}
	}
	if !begun {
		for _, c := range inits {
			// An init container stays terminated with an error only where it is
			// not restarted.
			if t := c.State.Terminated; t != nil && t.ExitCode != 0 {
				return corev1.PodFailed
			}
		}
	}
	switch {
	case !begun:
		return corev1.PodPending
	case ended < len(mains) || policy == corev1.RestartPolicyAlways:
		return corev1.PodRunning
	case failed == 0:
		return corev1.PodSucceeded
	case policy == corev1.RestartPolicyNever:
		return corev1.PodFailed
	default:
		return corev1.PodRunning
	}
}
