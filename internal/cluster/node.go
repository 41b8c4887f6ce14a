package cluster

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// KubernetesVersion is what every embedded cluster runs.
const KubernetesVersion = "v1.35.4"

// Node is a node of an embedded cluster: capacity and identity only, since its
// pods are programs of the cluster's node process.
type Node struct {
	Name         string            `json:"name"`
	ProviderID   string            `json:"providerID,omitempty"`
	Labels       map[string]string `json:"labels,omitempty"`
	Taints       []corev1.Taint    `json:"taints,omitempty"`
	Architecture string            `json:"architecture"` // as Kubernetes spells it: amd64, arm64
	CPUs         int               `json:"cpus"`
	MemoryMiB    int               `json:"memoryMiB"`
	// InternalIP is the node's address within its network. Empty means one
	// that the cluster chooses.
	InternalIP string `json:"internalIP,omitempty"`
}

// KubeletPort is where the API server reaches a node's kubelet.
const KubeletPort = 10250

// podsPerNode is the kubelet's default.
const podsPerNode = "110"

// Register makes n a Ready node of the cluster. A node of that name that
// exists keeps its labels and gets its status anew.
func Register(ctx context.Context, client kubernetes.Interface, n Node) error {
	labels := map[string]string{
		corev1.LabelHostname:   n.Name,
		corev1.LabelOSStable:   "linux",
		corev1.LabelArchStable: n.Architecture,
	}
	for k, v := range n.Labels {
		labels[k] = v
	}
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: labels},
		Spec:       corev1.NodeSpec{ProviderID: n.ProviderID, Taints: n.Taints},
	}
	_, err := client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("registering node %s: %w", n.Name, err)
	}
	patch, err := json.Marshal(map[string]any{"status": n.status()})
	if err != nil {
		return err
	}
	if _, err := client.CoreV1().Nodes().Patch(ctx, n.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status"); err != nil {
		return fmt.Errorf("marking node %s ready: %w", n.Name, err)
	}
	return nil
}

func (n Node) status() corev1.NodeStatus {
	capacity := corev1.ResourceList{
		corev1.ResourceCPU:              *resource.NewQuantity(int64(n.CPUs), resource.DecimalSI),
		corev1.ResourceMemory:           *resource.NewQuantity(int64(n.MemoryMiB)<<20, resource.BinarySI),
		corev1.ResourceEphemeralStorage: resource.MustParse("20Gi"),
		corev1.ResourcePods:             resource.MustParse(podsPerNode),
	}
	now := metav1.Now()
	condition := func(kind corev1.NodeConditionType, status corev1.ConditionStatus, reason string) corev1.NodeCondition {
		return corev1.NodeCondition{Type: kind, Status: status, Reason: reason, LastHeartbeatTime: now, LastTransitionTime: now}
	}
	status := corev1.NodeStatus{
		DaemonEndpoints: corev1.NodeDaemonEndpoints{KubeletEndpoint: corev1.DaemonEndpoint{Port: KubeletPort}},
		Capacity:        capacity,
		Allocatable:     capacity,
		Conditions: []corev1.NodeCondition{
			condition(corev1.NodeMemoryPressure, corev1.ConditionFalse, "KubeletHasSufficientMemory"),
			condition(corev1.NodeDiskPressure, corev1.ConditionFalse, "KubeletHasNoDiskPressure"),
			condition(corev1.NodePIDPressure, corev1.ConditionFalse, "KubeletHasSufficientPID"),
			condition(corev1.NodeReady, corev1.ConditionTrue, "KubeletReady"),
		},
		NodeInfo: corev1.NodeSystemInfo{
			KubeletVersion:          KubernetesVersion,
			OperatingSystem:         "linux",
			Architecture:            n.Architecture,
			OSImage:                 "krops embedded node",
			ContainerRuntimeVersion: "krops://programs",
		},
	}
	if n.InternalIP != "" {
		status.Addresses = append(status.Addresses, corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: n.InternalIP})
	}
	status.Addresses = append(status.Addresses, corev1.NodeAddress{Type: corev1.NodeHostName, Address: n.Name})
	return status
}

// Unregister takes a node away; its pods end. An absent one is success.
func Unregister(ctx context.Context, client kubernetes.Interface, name string) error {
	err := client.CoreV1().Nodes().Delete(ctx, name, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("removing node %s: %w", name, err)
	}
	return nil
}
