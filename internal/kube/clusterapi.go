package kube

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The version of Cluster API's own kinds that krops reads. Its server converts from whatever is stored.
var clusterAPI = schema.GroupVersion{Group: "cluster.x-k8s.io", Version: "v1beta2"}

// ClusterAvailable holds when Cluster API says that the cluster is available and that its API server answers. Both
// conditions must belong to the Cluster's current generation. An object that was just moved has no status at all.
func ClusterAvailable(c client.Reader, key client.ObjectKey) Condition {
	return Condition{
		Description: "Cluster " + key.String() + " to be available",
		Check: func(ctx context.Context) error {
			cluster := newClusterAPIObject("Cluster")
			if err := c.Get(ctx, key, cluster); err != nil {
				return notYet("Cluster", key, err)
			}
			return clusterAvailable(cluster)
		},
	}
}

func clusterAvailable(cluster *unstructured.Unstructured) error {
	name := "Cluster " + client.ObjectKeyFromObject(cluster).String()
	if cluster.GetDeletionTimestamp() != nil {
		return fmt.Errorf("%s is being deleted", name)
	}
	if paused, _, _ := unstructured.NestedBool(cluster.Object, "spec", "paused"); paused {
		return fmt.Errorf("%s is paused, so nothing reconciles it: an interrupted move leaves it like this", name)
	}
	return forEach([]string{"RemoteConnectionProbe", "Available"}, func(kind string) error {
		if err := conditionTrue(cluster, kind); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	})
}

// MachinePoolsRunning holds when the cluster has at least one MachinePool and each is running with a node for every
// replica. Pools carry no useful conditions in v1beta2, so phase and node references are read instead.
func MachinePoolsRunning(c client.Reader, cluster client.ObjectKey) Condition {
	return Condition{
		Description: "machine pools of Cluster " + cluster.String() + " to run",
		Check: func(ctx context.Context) error {
			pools := &unstructured.UnstructuredList{}
			pools.SetGroupVersionKind(clusterAPI.WithKind("MachinePoolList"))
			if err := c.List(ctx, pools, client.InNamespace(cluster.Namespace)); err != nil {
				return fmt.Errorf("list machine pools in namespace %s: %w", cluster.Namespace, err)
			}
			var own []unstructured.Unstructured
			for _, pool := range pools.Items {
				if owner, _, _ := unstructured.NestedString(pool.Object, "spec", "clusterName"); owner == cluster.Name {
					own = append(own, pool)
				}
			}
			if len(own) == 0 {
				return fmt.Errorf("Cluster %s has no machine pool yet", cluster)
			}
			return forEach(own, func(pool unstructured.Unstructured) error { return machinePoolRunning(&pool) })
		},
	}
}

func machinePoolRunning(pool *unstructured.Unstructured) error {
	name := "MachinePool " + client.ObjectKeyFromObject(pool).String()
	if pool.GetDeletionTimestamp() != nil {
		return fmt.Errorf("%s is being deleted", name)
	}
	wanted, found, err := unstructured.NestedInt64(pool.Object, "spec", "replicas")
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if !found {
		wanted = 1 // Cluster API's default
	}
	nodes, _, err := unstructured.NestedSlice(pool.Object, "status", "nodeRefs")
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	phase, _, err := unstructured.NestedString(pool.Object, "status", "phase")
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	switch {
	case phase == "":
		return fmt.Errorf("%s has not reported a phase yet", name)
	case phase != "Running":
		return fmt.Errorf("%s is %s with %d of %d nodes", name, phase, len(nodes), wanted)
	case int64(len(nodes)) < wanted:
		return fmt.Errorf("%s: %d of %d nodes have joined", name, len(nodes), wanted)
	}
	return nil
}

// conditionTrue looks at one of an object's Kubernetes-style conditions.
func conditionTrue(object *unstructured.Unstructured, kind string) error {
	conditions, _, err := unstructured.NestedSlice(object.Object, "status", "conditions")
	if err != nil {
		return fmt.Errorf("conditions: %w", err)
	}
	for _, entry := range conditions {
		condition, ok := entry.(map[string]any)
		if !ok || condition["type"] != kind {
			continue
		}
		if observed, _, _ := unstructured.NestedInt64(condition, "observedGeneration"); observed < object.GetGeneration() {
			return fmt.Errorf("condition %s is older than the last change", kind)
		}
		if condition["status"] == "True" {
			return nil
		}
		reason, _ := condition["reason"].(string)
		message, _ := condition["message"].(string)
		message = strings.Join(strings.Fields(message), " ") // Cluster API writes lists over several lines
		if message == "" {
			return fmt.Errorf("%s is %v (%s)", kind, condition["status"], reason)
		}
		return fmt.Errorf("%s is %v (%s): %s", kind, condition["status"], reason, message)
	}
	return fmt.Errorf("condition %s has not been reported yet", kind)
}

func newClusterAPIObject(kind string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(clusterAPI.WithKind(kind))
	return object
}
