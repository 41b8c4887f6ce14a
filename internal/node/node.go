// Package node is the node of an embedded cluster. It registers Nodes, binds
// pending pods to them, and runs a pod by its images: an image in the catalog
// as the program that stands for it, any other as running without doing
// anything, which the pod says of itself in an annotation and an event.
//
// Cluster addresses exist only here. The API server reaches them through the
// node's egress proxy, which maps a Service or pod address to the program's
// listener, a unix socket in the data directory.
//
// What it does not do: init containers, expansion of $(VAR) in arguments,
// volumes other than ConfigMaps, Secrets, projections, the downward API and
// empty directories (all filled once, at the pod's start), liveness and startup
// probes, readiness probes other than HTTP, logs, exec and port-forward.
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
	}
	agent, scheduler := newAgent(n, factory), newScheduler(n, factory)
	factory.Start(ctx.Done())
	for kind, synced := range factory.WaitForCacheSync(ctx.Done()) {
		if !synced {
			return errors.Join(fmt.Errorf("watching %v: not synced", kind), context.Cause(ctx))
		}
	}
	pods, err := factory.Core().V1().Pods().Lister().List(labels.Everything())
	if err != nil {
		return err
	}
	n.addresses.avoid(pods)
	failed := make(chan error, 3)
	go func() { failed <- serveEgress(ctx, n.addresses) }()
	go func() { failed <- scheduler.run(ctx) }()
	go func() { failed <- agent.run(ctx) }()
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
}

// register registers the nodes as soon as the API server lets it.
func register(ctx context.Context, client kubernetes.Interface, nodes []cluster.Node) error {
	tick := time.NewTicker(registerEvery)
	defer tick.Stop()
	for {
		_, err := client.Discovery().ServerVersion()
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
