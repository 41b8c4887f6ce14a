// Package capa is Cluster API Provider AWS as a program of a node: the real
// reconcilers, webhooks and conversions of the linked release, wired as that
// release's manager wires them.
//
// What it leaves out: ROSA, Fargate, EventBridge, metrics, and leader election
// (a node runs a pod once).
//
// The AWS SDK inside reads its settings from the process's environment, so the
// pod's AWS_ variables are set there; a node therefore runs at most one such
// pod with settings of its own.
package capa

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	cgrecord "k8s.io/client-go/tools/record"
	"k8s.io/utils/ptr"
	infrav1beta1 "sigs.k8s.io/cluster-api-provider-aws/v2/api/v1beta1"
	infrav1 "sigs.k8s.io/cluster-api-provider-aws/v2/api/v1beta2"
	eksbootstrapv1beta1 "sigs.k8s.io/cluster-api-provider-aws/v2/bootstrap/eks/api/v1beta1"
	eksbootstrapv1 "sigs.k8s.io/cluster-api-provider-aws/v2/bootstrap/eks/api/v1beta2"
	ekscontrolplanev1beta1 "sigs.k8s.io/cluster-api-provider-aws/v2/controlplane/eks/api/v1beta1"
	ekscontrolplanev1 "sigs.k8s.io/cluster-api-provider-aws/v2/controlplane/eks/api/v1beta2"
	expinfrav1beta1 "sigs.k8s.io/cluster-api-provider-aws/v2/exp/api/v1beta1"
	expinfrav1 "sigs.k8s.io/cluster-api-provider-aws/v2/exp/api/v1beta2"
	"sigs.k8s.io/cluster-api-provider-aws/v2/pkg/record"
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/krops-go/krops/internal/program"
	"github.com/krops-go/krops/internal/program/webhookserver"
)

// Run is the program.
func Run(ctx context.Context, pod *program.Pod) error {
	o, err := parse(pod.Args)
	if err != nil {
		return fmt.Errorf("arguments of %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	if err := exportEnvironment(pod); err != nil {
		return err
	}
	scheme, err := newScheme()
	if err != nil {
		return err
	}
	restConfig := *pod.Config
	restConfig.QPS, restConfig.Burst = 200, 400
	restConfig.UserAgent = "cluster-api-provider-aws-controller"
	logger := pod.Logger()
	ctx = ctrl.LoggerInto(ctx, logger)
	webhooks := webhookserver.New(pod, o.webhookPort, o.webhookCertDir)
	options := ctrl.Options{
		Scheme: scheme,
		Logger: logger,
		Controller: config.Controller{
			// A restarted pod's controllers meet the names of its former life.
			SkipNameValidation: ptr.To(true),
			RecoverPanic:       ptr.To(true),
		},
		Cache:                  cache.Options{SyncPeriod: &o.syncPeriod},
		Metrics:                server.Options{BindAddress: "0"},
		HealthProbeBindAddress: "0",
		WebhookServer:          webhooks,
		// A cluster's creation makes more events than the default lets pass.
		//lint:ignore SA1019 There is no other way to raise the limit of the old event recorders.
		EventBroadcaster:        cgrecord.NewBroadcasterWithCorrelatorOptions(cgrecord.CorrelatorOptions{BurstSize: 100}),
		GracefulShutdownTimeout: ptr.To(time.Second),
	}
	if o.namespace != "" {
		options.Cache.DefaultNamespaces = map[string]cache.Config{o.namespace: {}}
	}
	mgr, err := ctrl.NewManager(&restConfig, options)
	if err != nil {
		return fmt.Errorf("creating the manager: %w", err)
	}
	record.InitFromRecorder(recorder(mgr, "aws-controller"))
	if err := addReconcilers(ctx, mgr, o); err != nil {
		return err
	}
	if err := addWebhooks(mgr); err != nil {
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

// exportEnvironment sets the pod's AWS_ variables in the process. Those that
// name a file name it by its path inside the container.
func exportEnvironment(pod *program.Pod) error {
	for name, value := range pod.Env {
		if !strings.HasPrefix(name, "AWS_") {
			continue
		}
		if strings.HasSuffix(name, "_FILE") {
			value = pod.Path(value)
		}
		if err := os.Setenv(name, value); err != nil {
			return fmt.Errorf("environment variable %s: %w", name, err)
		}
	}
	return nil
}

func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	builder := runtime.SchemeBuilder{
		clientgoscheme.AddToScheme, clusterv1.AddToScheme, controlplanev1.AddToScheme,
		infrav1.AddToScheme, infrav1beta1.AddToScheme,
		expinfrav1.AddToScheme, expinfrav1beta1.AddToScheme,
		ekscontrolplanev1.AddToScheme, ekscontrolplanev1beta1.AddToScheme,
		eksbootstrapv1.AddToScheme, eksbootstrapv1beta1.AddToScheme,
	}
	return scheme, builder.AddToScheme(scheme)
}
