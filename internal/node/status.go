package node

import (
	"context"
	"encoding/json"

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
func podStatus(policy corev1.RestartPolicy, previous []corev1.PodCondition, containers []corev1.ContainerStatus) corev1.PodStatus {
	ready := true
	for _, c := range containers {
		ready = ready && c.Ready
	}
	condition := func(kind corev1.PodConditionType, ok bool) corev1.PodCondition {
		c := corev1.PodCondition{Type: kind, Status: corev1.ConditionFalse, LastTransitionTime: metav1.Now()}
		if ok {
			c.Status = corev1.ConditionTrue
		}
		for _, old := range previous {
			if old.Type == kind && old.Status == c.Status {
				c.LastTransitionTime = old.LastTransitionTime
			}
		}
		return c
	}
	return corev1.PodStatus{
		Phase:             phaseOf(policy, containers),
		ContainerStatuses: containers,
		Conditions: []corev1.PodCondition{
			condition(corev1.PodInitialized, true),
			condition(corev1.ContainersReady, ready),
			condition(corev1.PodReady, ready),
		},
	}
}

func phaseOf(policy corev1.RestartPolicy, containers []corev1.ContainerStatus) corev1.PodPhase {
	ended, failed, begun := 0, 0, false
	for _, c := range containers {
		if c.State.Running != nil || c.State.Terminated != nil || c.LastTerminationState.Terminated != nil {
			begun = true
		}
		if c.State.Terminated != nil {
			ended++
			if c.State.Terminated.ExitCode != 0 {
				failed++
			}
		}
	}
	switch {
	case !begun:
		return corev1.PodPending
	case ended < len(containers) || policy == corev1.RestartPolicyAlways:
		return corev1.PodRunning
	case failed == 0:
		return corev1.PodSucceeded
	case policy == corev1.RestartPolicyNever:
		return corev1.PodFailed
	default:
		return corev1.PodRunning
	}
}
