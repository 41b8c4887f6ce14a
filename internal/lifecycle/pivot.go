package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/krops-go/krops/internal/kube"
	"github.com/krops-go/krops/internal/presence"
)

// lookEvery is the pause between two looks at something that is waited for. A
// look is one request to an API server that serves nobody else yet.
const lookEvery = 200 * time.Millisecond

// move brings every Cluster of the management cluster's namespace from the
// bootstrap cluster into the management cluster. Nothing is taken from the
// source before it exists on the target, so that an interrupted move is taken
// up by moving again.
func (r *Run) move(ctx context.Context, waiting func(string)) error {
	source, err := r.upBootstrap(ctx)
	if err != nil {
		return err
	}
	target, err := r.management(ctx)
	if err != nil {
		return err
	}
	namespace := r.key().Namespace
	before, err := clusterNames(ctx, source, namespace)
	if err != nil {
		return fmt.Errorf("asking the bootstrap cluster: %w", err)
	}
	moved, err := clusterNames(ctx, target, namespace)
	if err != nil {
		return fmt.Errorf("asking the management cluster: %w", err)
	}
	expected := union(before, moved)
	if !slices.Contains(expected, r.key().Name) {
		return fmt.Errorf("neither the bootstrap cluster nor the management cluster has a Cluster %s; run the bootstrap again to build it", r.key())
	}
	if len(before) > 0 {
		if err := r.checkMove(ctx, source, target); err != nil {
			return fmt.Errorf("before the move, nothing was changed: %w", err)
		}
		// A move that was interrupted left its Clusters paused, and no move
		// starts with paused ones.
		for _, name := range before {
			if err := r.unpause(ctx, source, types.NamespacedName{Namespace: namespace, Name: name}); err != nil {
				return err
			}
		}
		waiting("moving " + fmt.Sprint(before))
		if err := clusterctlMove(ctx, r.bootstrap.Layout().Kubeconfig(), r.Kubeconfig, r.Environment.Kubeconfig.Context, namespace, waiting); err != nil {
			return fmt.Errorf("moving the inventory: %w; the bootstrap cluster is kept, and the same command takes the move up again", err)
		}
	}
	// The last act of a move is to unpause what it moved.
	for _, name := range expected {
		if err := r.unpause(ctx, target, types.NamespacedName{Namespace: namespace, Name: name}); err != nil {
			return err
		}
	}
	return compare(ctx, source, target, namespace, expected)
}

func (r *Run) unpause(ctx context.Context, c *kube.Cluster, key types.NamespacedName) error {
	object := newCluster()
	found, err := kube.Lookup(ctx, c, key, object)
	if err != nil || found == presence.Absent || !isPaused(object) {
		return err
	}
	return setPaused(ctx, c, key, false)
}

func clusterNames(ctx context.Context, c *kube.Cluster, namespace string) ([]string, error) {
	clusters, err := listClusters(ctx, c)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, object := range clusters {
		if object.GetNamespace() == namespace {
			names = append(names, object.GetName())
		}
	}
	slices.Sort(names)
	return names, nil
}

func union(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// compare checks that the move moved everything and left nothing.
func compare(ctx context.Context, source, target *kube.Cluster, namespace string, expected []string) error {
	left, err := clusterNames(ctx, source, namespace)
	if err != nil {
		return fmt.Errorf("asking the bootstrap cluster: %w", err)
	}
	there, err := clusterNames(ctx, target, namespace)
	if err != nil {
		return fmt.Errorf("asking the management cluster: %w", err)
	}
	var errs []error
	if len(left) > 0 {
		errs = append(errs, fmt.Errorf("the move left Clusters %v on the bootstrap cluster", left))
	}
	for _, name := range expected {
		if !slices.Contains(there, name) {
			errs = append(errs, fmt.Errorf("the move did not bring Cluster %s to the management cluster", name))
		}
	}
	return errors.Join(errs...)
}

// confirm proves that the management cluster reconciles what it owns: the
// status of a moved object is empty until its controllers there fill it.
func (r *Run) confirm(ctx context.Context, waiting func(string)) error {
	target, err := r.management(ctx)
	if err != nil {
		return err
	}
	if err := r.clusterReady(ctx, target, waiting); err != nil {
		return err
	}
	return wait(ctx, kube.NodesReady(target, 1), waiting)
}
