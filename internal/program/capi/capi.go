// Package capi is Cluster API's core manager as a program of a node: the real
// reconcilers, webhooks and conversions of the linked release, wired as that
// release's manager wires them.
//
// What it leaves out: ClusterClass, runtime extensions, migration of stored
// versions, metrics, and leader election (a node runs a pod once). The
// per-object rate limit is off and the retry of connections to new workload
// clusters is short, so that a rehearsal waits for work, not for timers.
package capi

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"k8s.io/utils/ptr"
	"sigs.k8s.io/cluster-api/api/core/v1beta2/index"
	"sigs.k8s.io/cluster-api/controllers/remote"
	"sigs.k8s.io/cluster-api/feature"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/krops-go/krops/internal/program"
	"github.com/krops-go/krops/internal/program/webhookserver"
)

const controllerName = "cluster-api-controller-manager"

// Run is the program.
func Run(ctx context.Context, pod *program.Pod) error {
	o, err := parse(pod.Args)
	if err != nil {
		return fmt.Errorf("arguments of %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	if err := feature.MutableGates.Set("ReconcilerRateLimiting=false"); err != nil {
		return err
	}
	scheme, err := newScheme()
	if err != nil {
		return err
	}
	restConfig := *pod.Config
	restConfig.QPS, restConfig.Burst = o.qps, o.burst
	restConfig.UserAgent = remote.DefaultClusterAPIUserAgent(controllerName)
	logger := pod.Logger()
	ctx = ctrl.LoggerInto(ctx, logger)
	webhooks := webhookserver.New(pod, o.webhookPort, o.webhookCertDir)
	mgr, err := ctrl.NewManager(&restConfig, ctrl.Options{
		Scheme: scheme,
		Logger: logger,
		Controller: config.Controller{
			UsePriorityQueue: ptr.To(feature.Gates.Enabled(feature.PriorityQueue)),
			// The names are unique within a process, and a restarted pod's
			// controllers meet those of its former life.
			SkipNameValidation: ptr.To(true),
			RecoverPanic:       ptr.To(true),
		},
		Metrics:                 server.Options{BindAddress: "0"},
		HealthProbeBindAddress:  "0",
		Cache:                   managerCache(o.namespace, o.syncPeriod),
		Client:                  managerClient(),
		WebhookServer:           webhooks,
		GracefulShutdownTimeout: ptr.To(time.Second),
	})
	if err != nil {
		return fmt.Errorf("creating the manager: %w", err)
	}
	if err := index.AddDefaultIndexes(ctx, mgr); err != nil {
		return fmt.Errorf("creating the indexes: %w", err)
	}
	clusters, err := addReconcilers(ctx, mgr, o)
	if err != nil {
		return err
	}
	if err := addWebhooks(ctx, mgr, clusters); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 2)
	pod.Go(func() {
		ended <- program.ServeHealth(ctx, pod, o.healthAddr, func(r *http.Request) error { return webhooks.StartedChecker()(r) })
	})
	pod.Go(func() { ended <- mgr.Start(ctx) })
	return <-ended
}
