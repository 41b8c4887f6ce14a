package lifecycle

import (
	"context"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/krops-go/krops/internal/kube"
	"github.com/krops-go/krops/internal/presence"
)

// Names of the steps.
const (
	StepClusters    = "clusters"
	StepControllers = "controllers"
	StepSweep       = "sweep"
	StepProof       = "proof"
	StepHost        = "host-delete"
)

// Teardown are the steps from whatever there is to nothing. What the provider
// can delete, it deletes; its host is removed only after that is confirmed, and
// after nothing is left that could create anything again.
func (r *Run) Teardown() []Step {
	t := r.Environment.Timeouts.Teardown
	return []Step{
		{Name: StepClusters, Title: "delete the clusters that Cluster API can delete", Timeout: t, Run: r.deleteClusters},
		{Name: StepControllers, Title: "stop the controllers", Timeout: t, Needs: []string{StepClusters}, Run: r.stopControllers},
		{Name: StepSweep, Title: "sweep the account", Timeout: t, Needs: []string{StepControllers}, Run: r.Cloud.Sweep},
		{Name: StepProof, Title: "list the account afresh", Timeout: t, Needs: []string{StepSweep}, Run: func(ctx context.Context, _ func(string)) error {
			return r.Cloud.Prove(ctx)
		}},
		{Name: StepHost, Title: "delete the bootstrap cluster if there is one left", Timeout: t, Needs: []string{StepProof},
			Done: func(context.Context) (bool, error) {
				exists, err := r.bootstrapExists()
				return !exists, err
			},
			Run: func(ctx context.Context, _ func(string)) error { return r.deleteBootstrap(ctx) },
		},
	}
}

// hosts returns the clusters that run controllers: the bootstrap cluster and
// the management cluster, as far as they exist. A management cluster that the
// cloud is deleting already was given up by an earlier teardown, after its
// controllers had been stopped.
func (r *Run) hosts(ctx context.Context) (bootstrap, management *kube.Cluster, err error) {
	exists, err := r.bootstrapExists()
	if err != nil {
		return nil, nil, err
	}
	if exists {
		if bootstrap, err = r.upBootstrap(ctx); err != nil {
			return nil, nil, err
		}
	}
	cp, found, err := r.Cloud.ManagementCluster(ctx)
	if err != nil {
		return nil, nil, err
	}
	if found == presence.Absent || cp.Deleting {
		return bootstrap, nil, nil
	}
	if !cp.Serving && bootstrap != nil {
		return bootstrap, nil, nil // still being built, from there
	}
	management, err = r.management(ctx)
	return bootstrap, management, err
}

// deleteClusters deletes every Cluster whose controllers do not run on that
// very cluster, and waits until the objects are gone.
func (r *Run) deleteClusters(ctx context.Context, waiting func(string)) error {
	bootstrap, management, err := r.hosts(ctx)
	if err != nil {
		return err
	}
	for _, host := range []struct {
		c   *kube.Cluster
		own bool // the host's own Cluster is among its objects
	}{{management, true}, {bootstrap, false}} {
		if host.c == nil {
			continue
		}
		clusters, err := listClusters(ctx, host.c)
		if err != nil {
			return err
		}
		var keys []types.NamespacedName
		for _, object := range clusters {
			key := client.ObjectKeyFromObject(&object)
			if host.own && key == r.key() {
				continue
			}
			if err := host.c.Delete(ctx, &object); err != nil && !apierrors.IsNotFound(err) {
				return fmt.Errorf("deleting Cluster %s: %w", key, err)
			}
			keys = append(keys, key)
		}
		for _, key := range keys {
			if err := wait(ctx, clusterGone(host.c, key), waiting); err != nil {
				return err
			}
		}
	}
	return nil
}

func clusterGone(c *kube.Cluster, key types.NamespacedName) kube.Condition {
	return kube.Condition{
		Description: fmt.Sprintf("Cluster %s to be deleted", key),
		Check: func(ctx context.Context) error {
			object := newCluster()
			found, err := kube.Lookup(ctx, c, key, object)
			if err != nil || found == presence.Absent {
				return err
			}
			return errors.New(stateOf(object))
		},
	}
}

// stateOf is what a Cluster says about itself: the message of the condition
// that explains a deletion, or the phase.
func stateOf(cluster *unstructured.Unstructured) string {
	conditions, _, _ := unstructured.NestedSlice(cluster.Object, "status", "conditions")
	for _, c := range conditions {
		condition, _ := c.(map[string]any)
		message, _ := condition["message"].(string)
		if condition["type"] == "Deleting" && message != "" {
			return message
		}
	}
	phase, _, _ := unstructured.NestedString(cluster.Object, "status", "phase")
	return "it is " + phase
}

// stopControllers scales the providers' Deployments to nothing wherever they
// run and waits until their pods are gone: from then on nothing is created
// again while the account is swept.
func (r *Run) stopControllers(ctx context.Context, waiting func(string)) error {
	bootstrap, management, err := r.hosts(ctx)
	if err != nil {
		return err
	}
	for _, host := range []*kube.Cluster{management, bootstrap} {
		if host == nil {
			continue
		}
		for _, p := range r.Environment.Providers {
			for _, name := range p.Deployments {
				if err := stop(ctx, host, types.NamespacedName{Namespace: p.Namespace, Name: name}, waiting); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func stop(ctx context.Context, host *kube.Cluster, key types.NamespacedName, waiting func(string)) error {
	var deployment appsv1.Deployment
	found, err := kube.Lookup(ctx, host, key, &deployment)
	if err != nil || found == presence.Absent {
		return err
	}
	patch := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"replicas":0}}`))
	if err := host.Patch(ctx, &deployment, patch); err != nil {
		return fmt.Errorf("stopping Deployment %s: %w", key, err)
	}
	selector, err := metav1.LabelSelectorAsSelector(deployment.Spec.Selector)
	if err != nil {
		return fmt.Errorf("selector of Deployment %s: %w", key, err)
	}
	return wait(ctx, kube.Condition{
		Description: fmt.Sprintf("the pods of Deployment %s to end", key),
		Check: func(ctx context.Context) error {
			var pods corev1.PodList
			if err := host.List(ctx, &pods, client.InNamespace(key.Namespace), client.MatchingLabelsSelector{Selector: selector}); err != nil {
				return err
			}
			if len(pods.Items) > 0 {
				return fmt.Errorf("%d still there", len(pods.Items))
			}
			return nil
		},
	}, waiting)
}
