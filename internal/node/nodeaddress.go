package node

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
)

// nodeRange is where nodes that were registered without an address get one.
const nodeRange = "10.245.0.0/16"

func internalIP(n *corev1.Node) string {
	for _, a := range n.Status.Addresses {
		if a.Type == corev1.NodeInternalIP {
			return a.Address
		}
	}
	return ""
}

// nodeAddresses gives an address to each node that has none, by which the API
// server reaches its kubelet.
type nodeAddresses struct {
	*node
	queue workqueue.TypedRateLimitingInterface[string]
	given map[netip.Addr]string // to node names, by this process
}

func newNodeAddresses(n *node, factory informers.SharedInformerFactory) *nodeAddresses {
	a := &nodeAddresses{
		node:  n,
		queue: workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]()),
		given: map[netip.Addr]string{},
	}
	add := func(obj any) {
		if n, ok := obj.(*corev1.Node); ok && internalIP(n) == "" {
			a.queue.Add(n.Name)
		}
	}
	// Adding handlers fails only on a stopped informer.
	_, _ = factory.Core().V1().Nodes().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: add, UpdateFunc: func(_, obj any) { add(obj) },
	})
	return a
}

func (a *nodeAddresses) run(ctx context.Context) error {
	stop := context.AfterFunc(ctx, a.queue.ShutDown)
	defer stop()
	for {
		name, down := a.queue.Get()
		if down {
			return context.Cause(ctx)
		}
		if err := a.assign(ctx, name); err != nil {
			klog.InfoS("Giving a node its address failed, trying again", "node", name, "err", err)
			a.queue.AddRateLimited(name)
		} else {
			a.queue.Forget(name)
		}
		a.queue.Done(name)
	}
}

func (a *nodeAddresses) assign(ctx context.Context, name string) error {
	nodes, err := a.nodes.List(labels.Everything())
	if err != nil {
		return err
	}
	taken := map[string]bool{}
	for _, n := range nodes {
		taken[internalIP(n)] = true
	}
	prefix := netip.MustParsePrefix(nodeRange)
	// The first address of a range is the range's own.
	ip := prefix.Addr().Next()
	for ; prefix.Contains(ip); ip = ip.Next() {
		if owner := a.given[ip]; owner == name || owner == "" && !taken[ip.String()] {
			break
		}
	}
	if !prefix.Contains(ip) {
		return fmt.Errorf("all addresses of %s are taken", nodeRange)
	}
	a.given[ip] = name
	patch, err := json.Marshal(map[string]any{"status": map[string]any{
		"addresses": []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: ip.String()}},
	}})
	if err != nil {
		return err
	}
	_, err = a.client.CoreV1().Nodes().Patch(ctx, name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
