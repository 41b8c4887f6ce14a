package world

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/krops-go/krops/internal/cluster"
	"github.com/krops-go/krops/internal/rehearsal/awssim/ekssim"
)

// clusters runs an embedded cluster for each EKS control plane. All run the
// linked Kubernetes release, whatever minor EKS was asked for.
type clusters struct {
	binary   string // krops-cluster
	dir      string
	endpoint string // of AWS

	mu      sync.Mutex
	clients map[ekssim.ClusterID]kubernetes.Interface
}

var _ ekssim.Clusters = (*clusters)(nil)

func (c *clusters) folder(id ekssim.ClusterID) string {
	return filepath.Join(c.dir, id.Region, url.PathEscape(id.Name))
}

// tokenReviewPath is where the API server of a cluster asks who holds a token.
func tokenReviewPath(id ekssim.ClusterID) string {
	return tokenReviewPrefix + id.Region + "/" + url.PathEscape(id.Name)
}

func (c *clusters) Start(ctx context.Context, spec ekssim.ClusterSpec) (ekssim.ControlPlane, error) {
	up, err := cluster.Up(ctx, c.binary, c.folder(spec.ID), cluster.Spec{
		Name:         spec.ID.Name,
		TokenWebhook: c.endpoint + tokenReviewPath(spec.ID),
	})
	if err != nil {
		return ekssim.ControlPlane{}, err
	}
	client, err := c.client(spec.ID)
	if err != nil {
		return ekssim.ControlPlane{}, err
	}
	if err := installDefaults(ctx, client, spec); err != nil {
		return ekssim.ControlPlane{}, err
	}
	ca, err := up.CA()
	if err != nil {
		return ekssim.ControlPlane{}, err
	}
	return ekssim.ControlPlane{Endpoint: up.Spec.Endpoint(), CA: ca, Issuer: up.Spec.Issuer}, nil
}

func (c *clusters) Delete(ctx context.Context, id ekssim.ClusterID) error {
	c.mu.Lock()
	delete(c.clients, id)
	c.mu.Unlock()
	return cluster.Delete(ctx, c.folder(id))
}

// client reaches the cluster as its administrator, which EKS itself is.
func (c *clusters) client(id ekssim.ClusterID) (kubernetes.Interface, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if client, ok := c.clients[id]; ok {
		return client, nil
	}
	config, err := clientcmd.BuildConfigFromFlags("", cluster.Layout(c.folder(id)).Kubeconfig())
	if err != nil {
		return nil, fmt.Errorf("kubeconfig of %s: %w", id.Name, err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	c.clients[id] = client
	return client, nil
}

func (c *clusters) AddNode(ctx context.Context, id ekssim.ClusterID, n ekssim.Node) error {
	client, err := c.client(id)
	if err != nil {
		return err
	}
	var taints []corev1.Taint
	for _, t := range n.Taints {
		taints = append(taints, corev1.Taint{Key: t.Key, Value: t.Value, Effect: corev1.TaintEffect(t.Effect)})
	}
	return cluster.Register(ctx, client, cluster.Node{
		Name: n.Name, ProviderID: n.ProviderID, Labels: n.Labels, Taints: taints,
		Architecture: n.Architecture, CPUs: n.VCPUs, MemoryMiB: n.MemoryMiB,
	})
}

func (c *clusters) RemoveNode(ctx context.Context, id ekssim.ClusterID, name string) error {
	client, err := c.client(id)
	if err != nil {
		return err
	}
	return cluster.Unregister(ctx, client, name)
}
