package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/krops-go/krops/internal/cluster"
	"github.com/krops-go/krops/internal/gitops"
	"github.com/krops-go/krops/internal/kube"
	"github.com/krops-go/krops/internal/provider"
)

// Names of the steps.
const (
	StepManifests           = "manifests"
	StepBootstrapCluster    = "bootstrap-cluster"
	StepBootstrapProviders  = "bootstrap-providers"
	StepManagementCluster   = "management-cluster"
	StepManagementProviders = "management-providers"
	StepMove                = "move"
	StepConfirm             = "confirm"
	StepBootstrapDelete     = "bootstrap-delete"
)

// Bootstrap are the steps from nothing to a management cluster that manages
// itself, the pivot included. Where the pivot is over, all but its
// confirmation find nothing to do.
func (r *Run) Bootstrap() []Step {
	t := r.Environment.Timeouts
	name := r.Environment.ManagementCluster.Name
	return []Step{
		{
			Name: StepManifests, Title: "read the estate's manifests", Timeout: t.BootstrapCluster,
			Run: r.readManifests,
		},
		{
			Name: StepBootstrapCluster, Title: "start the bootstrap cluster", Timeout: t.BootstrapCluster,
			Needs: []string{StepManifests}, Done: r.pivotOver,
			Run: func(ctx context.Context, _ func(string)) error {
				_, err := r.upBootstrap(ctx)
				return err
			},
		},
		{
			Name: StepBootstrapProviders, Title: "install Cluster API and its provider on it", Timeout: t.Providers,
			Needs: []string{StepBootstrapCluster}, Done: r.pivotOver,
			Run: func(ctx context.Context, waiting func(string)) error {
				c, err := r.upBootstrap(ctx)
				if err != nil {
					return err
				}
				return r.installProviders(ctx, c, waiting)
			},
		},
		{
			Name: StepManagementCluster, Title: "build the management cluster " + name, Timeout: t.ManagementCluster,
			Needs: []string{StepBootstrapProviders}, Done: r.handedOver,
			Run: r.buildManagementCluster,
		},
		{
			Name: StepManagementProviders, Title: "install Cluster API and its provider on " + name, Timeout: t.Providers,
			Needs: []string{StepManagementCluster}, Done: r.pivotOver,
			Run: func(ctx context.Context, waiting func(string)) error {
				c, err := r.management(ctx)
				if err != nil {
					return err
				}
				return r.installProviders(ctx, c, waiting)
			},
		},
		{
			Name: StepMove, Title: "move the Cluster API inventory into " + name, Timeout: t.Pivot,
			Needs: []string{StepManagementProviders}, Done: r.pivotOver,
			Run: r.move,
		},
		{
			Name: StepConfirm, Title: "confirm that " + name + " manages itself", Timeout: t.Pivot,
			Needs: []string{StepMove},
			Run:   r.confirm,
		},
		{
			Name: StepBootstrapDelete, Title: "delete the bootstrap cluster", Timeout: t.BootstrapCluster,
			Needs: []string{StepConfirm},
			Done: func(context.Context) (bool, error) {
				exists, err := r.bootstrapExists()
				return !exists, err
			},
			Run: func(ctx context.Context, _ func(string)) error { return r.deleteBootstrap(ctx) },
		},
	}
}

// bootstrapExists reports whether a bootstrap cluster was made, running or not.
func (r *Run) bootstrapExists() (bool, error) {
	_, err := cluster.ReadSpec(r.bootstrapDir())
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// pivotOver reports whether the management cluster alone owns itself.
func (r *Run) pivotOver(ctx context.Context) (bool, error) {
	o, err := r.owner(ctx)
	return o.settled(), err
}

// handedOver reports whether the move has put the Cluster object into the
// management cluster: from then on it is no longer built from here.
func (r *Run) handedOver(ctx context.Context) (bool, error) {
	o, err := r.owner(ctx)
	return o.inManagement, err
}

// readManifests renders all that the run will apply and judges it by the
// schemas of the providers, so that what is wrong in the estate is found before
// anything is changed.
func (r *Run) readManifests(ctx context.Context, _ func(string)) error {
	components, err := r.components(ctx)
	if err != nil {
		return err
	}
	path := r.Environment.ManagementCluster.Path
	objects, err := gitops.Render(ctx, r.Environment.Root, path, gitops.Options{Origins: true})
	if err != nil {
		return err
	}
	return components.Check(path, objects)
}

// components returns the providers' manifests, rendered once.
func (r *Run) components(ctx context.Context) (*provider.Components, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var err error
	if r.rendered == nil {
		r.rendered, err = provider.Render(ctx, r.Environment.Root, r.Environment.Providers, r.Patches)
	}
	return r.rendered, err
}

// installProviders brings Cluster API and the infrastructure provider to what
// the estate declares, with the credentials they need.
func (r *Run) installProviders(ctx context.Context, c *kube.Cluster, waiting func(string)) error {
	secrets, err := r.Cloud.Secrets(ctx)
	if err != nil {
		return err
	}
	components, err := r.components(ctx)
	if err != nil {
		return err
	}
	_, err = components.Install(ctx, c, provider.Options{Objects: secrets, Progress: waiting})
	return err
}

// buildManagementCluster applies the cluster's manifests to the bootstrap
// cluster and waits until it is complete, nodes included.
func (r *Run) buildManagementCluster(ctx context.Context, waiting func(string)) error {
	c, err := r.upBootstrap(ctx)
	if err != nil {
		return err
	}
	objects, err := r.clusterObjects(ctx)
	if err != nil {
		return err
	}
	if _, err := kube.Apply(ctx, c, objects, kube.ApplyOptions{Progress: waiting}); err != nil {
		return err
	}
	// A move that was interrupted before it brought the Cluster over left it
	// paused.
	if err := r.unpause(ctx, c, r.key()); err != nil {
		return err
	}
	if err := r.clusterReady(ctx, c, waiting); err != nil {
		return err
	}
	target, err := r.management(ctx)
	if err != nil {
		return err
	}
	return wait(ctx, kube.NodesReady(target, 1), waiting)
}

func (r *Run) clusterObjects(ctx context.Context) ([]*unstructured.Unstructured, error) {
	return gitops.Render(ctx, r.Environment.Root, r.Environment.ManagementCluster.Path, gitops.Options{})
}

// clusterReady waits until Cluster API on c calls the management cluster
// available and its pools running.
func (r *Run) clusterReady(ctx context.Context, c *kube.Cluster, waiting func(string)) error {
	if err := wait(ctx, kube.ClusterAvailable(c, r.key()), waiting); err != nil {
		return err
	}
	return wait(ctx, kube.MachinePoolsRunning(c, r.key()), waiting)
}

// wait waits with the step's own budget.
func wait(ctx context.Context, condition kube.Condition, waiting func(string)) error {
	return kube.WaitFor(ctx, condition, kube.WaitOptions{
		Interval: lookEvery,
		Progress: func(reason string) { waiting(fmt.Sprintf("%s: %s", condition.Description, reason)) },
	})
}
