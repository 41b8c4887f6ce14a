package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/krops-go/krops/internal/cluster"
	"github.com/krops-go/krops/internal/environment"
	"github.com/krops-go/krops/internal/gitops"
	"github.com/krops-go/krops/internal/kube"
	"github.com/krops-go/krops/internal/presence"
	"github.com/krops-go/krops/internal/provider"
)

// Cloud is the account that an environment lives in. Implementations belong to
// one environment and may be called from several goroutines.
type Cloud interface {
	// Secrets are the credentials that the controllers need, to be put into
	// the cluster that hosts them. Their namespaces may not exist yet.
	Secrets(ctx context.Context) ([]*unstructured.Unstructured, error)
	// ManagementCluster looks the management cluster's control plane up. The
	// error is non-nil exactly when the outcome is Unknown.
	ManagementCluster(ctx context.Context) (ControlPlane, presence.Presence, error)
	// Sweep deletes what the environment has in the account. It reports what
	// it does to waiting and returns an error unless all of it is deleted.
	Sweep(ctx context.Context, waiting func(reason string)) error
	// Prove lists the account afresh and returns an error unless nothing of
	// the environment is left. A listing that failed is such an error.
	Prove(ctx context.Context) error
}

// ControlPlane is a cluster's control plane as its cloud describes it.
type ControlPlane struct {
	// Serving is whether the API server can be expected to answer.
	Serving bool
	// Deleting is whether the cloud was asked to delete it.
	Deleting bool
	// State is the cloud's own word for it.
	State string
	// Access is how people and programs get in, with credentials that stay
	// fresh and no secret inside.
	Access kube.Context
}

// Run is the lifecycle of one environment.
type Run struct {
	Environment *environment.Environment
	Cloud       Cloud
	// StateDir is where the run keeps its own files.
	StateDir string
	// Kubeconfig is the file that gets the management cluster's context.
	Kubeconfig string
	// ClusterBinary is the krops-cluster program.
	ClusterBinary string
	// Patches are applied to the providers' manifests, by the provider's name,
	// for what differs where this run takes place.
	Patches map[string][]gitops.Patch

	mu        sync.Mutex
	bootstrap *cluster.Cluster
	rendered  *provider.Components
}

// bootstrapDir is the data directory of the bootstrap cluster.
func (r *Run) bootstrapDir() string { return filepath.Join(r.StateDir, "bootstrap-cluster") }

// key names the management cluster's Cluster object.
func (r *Run) key() types.NamespacedName {
	return types.NamespacedName{Namespace: r.Environment.ManagementCluster.Namespace, Name: r.Environment.ManagementCluster.Name}
}

// upBootstrap starts the bootstrap cluster, or joins it.
func (r *Run) upBootstrap(ctx context.Context) (*kube.Cluster, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.bootstrap == nil {
		up, err := cluster.Up(ctx, r.ClusterBinary, r.bootstrapDir(), cluster.Spec{
			Name:  "krops-bootstrap",
			Nodes: []cluster.Node{{Name: "krops-bootstrap", Architecture: "amd64", CPUs: 8, MemoryMiB: 16 << 10, InternalIP: "10.0.0.2"}},
		})
		if err != nil {
			return nil, err
		}
		r.bootstrap = up
	}
	return kube.Open(r.bootstrap.Layout().Kubeconfig(), "")
}

func (r *Run) deleteBootstrap(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.bootstrap = nil
	return cluster.Delete(ctx, r.bootstrapDir())
}

// Detach lets the bootstrap cluster, if it runs, outlive this process.
func (r *Run) Detach() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.bootstrap == nil {
		return nil
	}
	return r.bootstrap.Detach()
}

// Stop ends the bootstrap cluster's processes, if there are any, and keeps its
// state.
func (r *Run) Stop(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.bootstrap = nil
	return cluster.Stop(ctx, r.bootstrapDir())
}

// Why there is no way into the management cluster although the cloud answered.
var (
	errNoManagement = errors.New("the management cluster's control plane does not exist")
	errNotServing   = errors.New("the management cluster's control plane does not serve")
)

// management connects to the management cluster through the kubeconfig that
// people use, which it writes first.
func (r *Run) management(ctx context.Context) (*kube.Cluster, error) {
	cp, found, err := r.Cloud.ManagementCluster(ctx)
	switch {
	case err != nil:
		return nil, err
	case found == presence.Absent:
		return nil, errNoManagement
	case !cp.Serving:
		return nil, fmt.Errorf("%w: it is %s", errNotServing, cp.State)
	}
	access := cp.Access
	access.Name = r.Environment.Kubeconfig.Context
	if err := kube.WriteContext(r.Kubeconfig, access); err != nil {
		return nil, fmt.Errorf("writing the management cluster's kubeconfig: %w", err)
	}
	return kube.Open(r.Kubeconfig, access.Name)
}

// ownership is where the management cluster's Cluster object is.
type ownership struct {
	inBootstrap, inManagement bool
	// paused is whether the management cluster's copy waits for a move to end.
	paused bool
}

// settled reports that the pivot is over: the management cluster alone owns
// itself.
func (o ownership) settled() bool { return o.inManagement && !o.paused && !o.inBootstrap }

// owner asks both clusters, as far as they exist, where the Cluster object is.
// An error means that it is unknown.
func (r *Run) owner(ctx context.Context) (ownership, error) {
	var o ownership
	exists, err := r.bootstrapExists()
	if err != nil {
		return o, err
	}
	if exists {
		c, err := r.upBootstrap(ctx)
		if err != nil {
			return o, err
		}
		if o.inBootstrap, _, err = r.lookup(ctx, c); err != nil {
			return o, fmt.Errorf("asking the bootstrap cluster: %w", err)
		}
	}
	c, err := r.management(ctx)
	if errors.Is(err, errNoManagement) {
		return o, nil
	}
	if o.inBootstrap && errors.Is(err, errNotServing) {
		// Under construction by the bootstrap cluster, which owns it. Any other
		// error leaves unknown whether a move has brought a copy over.
		return o, nil
	}
	if err != nil {
		return o, err
	}
	if o.inManagement, o.paused, err = r.lookup(ctx, c); err != nil {
		return o, fmt.Errorf("asking the management cluster: %w", err)
	}
	return o, nil
}

// lookup asks one cluster for the management cluster's Cluster object. That the
// kind is not served there also means that there is none.
func (r *Run) lookup(ctx context.Context, c *kube.Cluster) (present, paused bool, err error) {
	served, err := servesClusters(ctx, c)
	if err != nil || !served {
		return false, false, err
	}
	object := newCluster()
	found, err := kube.Lookup(ctx, c, r.key(), object)
	if err != nil {
		return false, false, err
	}
	return found == presence.Present, isPaused(object), nil
}
