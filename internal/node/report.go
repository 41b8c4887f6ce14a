package node

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
)

// changed has the pod's status reported.
func (r *run) changed() {
	select {
	case r.dirty <- struct{}{}:
	default:
	}
}

// report reports each change until ctx ends. Changes in quick succession are
// one report, of the last.
func (r *run) report(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.dirty:
			r.reportNow(r.ctx)
		}
	}
}

// reportLast reports the status with which the pod's life ends.
func (r *run) reportLast() { r.reportNow(r.ctx) }

// reportNow reports the status as it is now, again until it is taken, the pod
// is gone, or ctx ends.
func (r *run) reportNow(ctx context.Context) {
	err := wait.ExponentialBackoffWithContext(ctx, retries(), func(ctx context.Context) (bool, error) {
		status := podStatus(r.pod.Spec.RestartPolicy, r.reportConditions, statuses(r.inits), statuses(r.mains))
		status.PodIP, status.PodIPs, status.StartTime = r.ip, []corev1.PodIP{{IP: r.ip}}, &r.started
		if host := r.hostIP(); host != "" {
			status.HostIP, status.HostIPs = host, []corev1.HostIP{{IP: host}}
		}
		err := patchStatus(ctx, r.client, r.pod, status)
		if err == nil || apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
			r.reportConditions = status.Conditions
			return true, nil
		}
		r.complain("reporting a pod's status", err)
		return false, nil
	})
	r.complain("reporting a pod's status", err)
}

func statuses(containers []*container) []corev1.ContainerStatus {
	var list []corev1.ContainerStatus
	for _, c := range containers {
		list = append(list, c.snapshot())
	}
	return list
}

// hostIP is the address of the pod's node.
func (r *run) hostIP() string {
	node, err := r.nodes.Get(r.pod.Spec.NodeName)
	if err != nil {
		return ""
	}
	return internalIP(node)
}
