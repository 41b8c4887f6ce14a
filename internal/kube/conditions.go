package kube

import (
	"context"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// DeploymentsAvailable holds when every named Deployment runs its current template with all replicas available.
func DeploymentsAvailable(c client.Reader, keys ...client.ObjectKey) Condition {
	return Condition{
		Description: "Deployments " + joinKeys(keys) + " to be available",
		Check: func(ctx context.Context) error {
			return forEach(keys, func(key client.ObjectKey) error {
				var deployment appsv1.Deployment
				if err := c.Get(ctx, key, &deployment); err != nil {
					return notYet("Deployment", key, err)
				}
				return deploymentAvailable(&deployment)
			})
		},
	}
}

func deploymentAvailable(d *appsv1.Deployment) error {
	name := "Deployment " + client.ObjectKeyFromObject(d).String()
	wanted := ptr.Deref(d.Spec.Replicas, 1)
	switch {
	case d.DeletionTimestamp != nil:
		return fmt.Errorf("%s is being deleted", name)
	case d.Status.ObservedGeneration < d.Generation:
		return fmt.Errorf("%s: its last change has not been seen by the deployment controller", name)
	case d.Status.UpdatedReplicas < wanted:
		return fmt.Errorf("%s: %d of %d replicas run the current template%s", name, d.Status.UpdatedReplicas, wanted, deploymentMessage(d))
	case d.Status.AvailableReplicas < wanted:
		return fmt.Errorf("%s: %d of %d replicas are available%s", name, d.Status.AvailableReplicas, wanted, deploymentMessage(d))
	case d.Status.Replicas > wanted:
		return fmt.Errorf("%s: %d old replicas have not ended", name, d.Status.Replicas-wanted)
	}
	return nil
}

// deploymentMessage is the most telling condition: a failure to make pods before a rollout that hangs before
// "minimum availability".
func deploymentMessage(d *appsv1.Deployment) string {
	for _, wanted := range []struct {
		kind   appsv1.DeploymentConditionType
		status corev1.ConditionStatus
	}{
		{appsv1.DeploymentReplicaFailure, corev1.ConditionTrue},
		{appsv1.DeploymentProgressing, corev1.ConditionFalse},
		{appsv1.DeploymentAvailable, corev1.ConditionFalse},
	} {
		for _, condition := range d.Status.Conditions {
			if condition.Type == wanted.kind && condition.Status == wanted.status && condition.Message != "" {
				return ": " + condition.Message
			}
		}
	}
	return ""
}

// CRDsEstablished holds when the API server serves every named CustomResourceDefinition.
func CRDsEstablished(c client.Reader, names ...string) Condition {
	return Condition{
		Description: fmt.Sprintf("%d CustomResourceDefinitions to be established", len(names)),
		Check: func(ctx context.Context) error {
			return forEach(names, func(name string) error {
				var crd apiextensionsv1.CustomResourceDefinition
				key := client.ObjectKey{Name: name}
				if err := c.Get(ctx, key, &crd); err != nil {
					return notYet("CustomResourceDefinition", key, err)
				}
				return crdEstablished(&crd)
			})
		},
	}
}

func crdEstablished(crd *apiextensionsv1.CustomResourceDefinition) error {
	if crd.DeletionTimestamp != nil {
		return fmt.Errorf("CustomResourceDefinition %s is being deleted", crd.Name)
	}
	for _, condition := range crd.Status.Conditions {
		if condition.Type == apiextensionsv1.NamesAccepted && condition.Status == apiextensionsv1.ConditionFalse {
			return fmt.Errorf("CustomResourceDefinition %s: its names are taken by another one: %s", crd.Name, condition.Message)
		}
	}
	for _, condition := range crd.Status.Conditions {
		if condition.Type == apiextensionsv1.Established && condition.Status == apiextensionsv1.ConditionTrue {
			return nil
		}
	}
	return fmt.Errorf("CustomResourceDefinition %s is not established", crd.Name)
}

// NodesReady holds when the cluster has at least the given number of nodes, and at least one, and all are ready.
// A cluster that shows no node is one whose nodes have not joined, never one that needs none.
func NodesReady(c client.Reader, atLeast int) Condition {
	atLeast = max(atLeast, 1)
	return Condition{
		Description: fmt.Sprintf("%d nodes to be ready", atLeast),
		Check: func(ctx context.Context) error {
			var nodes corev1.NodeList
			if err := c.List(ctx, &nodes); err != nil {
				return fmt.Errorf("list nodes: %w", err)
			}
			if len(nodes.Items) < atLeast {
				return fmt.Errorf("%d of %d nodes have joined", len(nodes.Items), atLeast)
			}
			return forEach(nodes.Items, func(node corev1.Node) error { return nodeReady(&node) })
		},
	}
}

func nodeReady(node *corev1.Node) error {
	for _, condition := range node.Status.Conditions {
		if condition.Type != corev1.NodeReady {
			continue
		}
		if condition.Status == corev1.ConditionTrue {
			return nil
		}
		return fmt.Errorf("node %s is not ready: %s", node.Name, condition.Message)
	}
	return fmt.Errorf("node %s has not reported its state", node.Name)
}

// reasonsShown is how many reasons people get to read at once; a fresh cluster has dozens.
const reasonsShown = 3

// forEach returns what is wrong with any of the items, in their order, in one line.
func forEach[T any](items []T, check func(T) error) error {
	var failed []error
	for _, item := range items {
		if err := check(item); err != nil {
			failed = append(failed, err)
		}
	}
	switch len(failed) {
	case 0:
		return nil
	case 1:
		return failed[0]
	default:
		return fmt.Errorf("%d of %d: %w", len(failed), len(items), joined(failed))
	}
}

// joined is errors.Join for a reason on one line, which shows the first few errors and unwraps to all.
type joined []error

func (j joined) Error() string {
	shown := j[:min(len(j), reasonsShown)]
	texts := make([]string, len(shown))
	for i, err := range shown {
		texts[i] = err.Error()
	}
	text := strings.Join(texts, "; ")
	if hidden := len(j) - len(shown); hidden > 0 {
		text += fmt.Sprintf("; and %d more", hidden)
	}
	return text
}

func (j joined) Unwrap() []error { return j }

// notYet explains a failed read of an object that is waited for.
func notYet(kind string, key client.ObjectKey, err error) error {
	name := strings.TrimPrefix(key.String(), "/")
	if apierrors.IsNotFound(err) {
		return fmt.Errorf("%s %s does not exist yet: %w", kind, name, err)
	}
	return fmt.Errorf("read %s %s: %w", kind, name, err)
}

func joinKeys(keys []client.ObjectKey) string {
	texts := make([]string, len(keys))
	for i, key := range keys {
		texts[i] = key.String()
	}
	return strings.Join(texts, ", ")
}
