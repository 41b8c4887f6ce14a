// Package node is the node of an embedded cluster. It registers Nodes, binds
// pending pods to them, and runs a pod by its images: an image in the catalog
// as the program that stands for it, any other as running without doing
// anything, which the pod says of itself in an annotation and an event.
//
// Cluster addresses exist only here. The API server reaches them through the
// node's egress proxy, which maps a Service or pod address to the program's
// listener, a unix socket in the data directory.
//
// What it does not do: exec probes and commands of programs that answer none,
// lifecycle hooks, hostPath volumes, resource limits, preferred and pod
// affinities, topology spread, priorities and preemption.
package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/record"
	ctrl "sigs.k8s.io/controller-runtime"

	"k8s.io/klog/v2"

	corev1 "k8s.io/api/core/v1"

	"github.com/krops-go/krops/internal/cluster"
	"github.com/krops-go/krops/internal/program"
)

const registerEvery = 100 * time.Millisecond

// Run runs the node of the data directory, which must be the working
// directory, until ctx ends.
func Run(ctx context.Context, dir string, catalog program.Catalog) error {
	ctrl.SetLogger(klog.Background())
	spec, err := cluster.ReadSpec(dir)
	if err != nil {
		return err
	}
	config, err := clientcmd.BuildConfigFromFlags("", cluster.Layout(dir).Kubeconfig())
	if err != nil {
		return fmt.Errorf("reading the cluster's kubeconfig: %w", err)
	}
	config.QPS, config.Burst = 200, 400
	config.UserAgent = "krops-node"
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	if err := register(ctx, client, spec.Nodes); err != nil {
		return err
	}
	broadcaster := record.NewBroadcaster(record.WithContext(ctx))
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: client.CoreV1().Events("")})
	factory := informers.NewSharedInformerFactory(client, 0)
	n := &node{
		dir: dir, catalog: catalog, client: client, config: rest.AnonymousClientConfig(config),
		events:    broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "krops-node"}),
		addresses: newAddresses(spec, factory),
		nodes:     factory.Core().V1().Nodes().Lister(),
	}
	agent := newAgent(n, factory)
	parts := []func(context.Context) error{
		agent.run, newScheduler(n, factory).run, newNodeAddresses(n, factory).run, newProvisioner(n, factory).run,
		func(ctx context.Context) error { return serveEgress(ctx, n.addresses) },
		func(ctx context.Context) error { return serveKubelet(ctx, agent) },
	}
	factory.Start(ctx.Done())
	for kind, synced := range factory.WaitForCacheSync(ctx.Done()) {
		if !synced {
			return errors.Join(fmt.Errorf("watching %v: not synced", kind), context.Cause(ctx))
		}
	}
	pods, err := agent.pods.List(labels.Everything())
	if err != nil {
		return err
	}
	n.addresses.avoid(pods)
	if err := agent.watchObjects(ctx, config); err != nil {
		return err
	}
	failed := make(chan error, len(parts))
	for _, part := range parts {
		go func() { failed <- part(ctx) }()
	}
	err = <-failed
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// node is what the parts of the node share.
type node struct {
	dir       string
	catalog   program.Catalog
	client    kubernetes.Interface
	config    *rest.Config // without credentials
	events    record.EventRecorder
	addresses *addresses
	nodes     corelisters.NodeLister
}

// register registers the nodes and the storage class as soon as the API server lets it.
func register(ctx context.Context, client kubernetes.Interface, nodes []cluster.Node) error {
	tick := time.NewTicker(registerEvery)
	defer tick.Stop()
	for {
		err := installStorageClass(ctx, client)
		for i := 0; err == nil && i < len(nodes); i++ {
			err = cluster.Register(ctx, client, nodes[i])
		}
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(err, context.Cause(ctx))
		case <-tick.C:
		}
	}
}
