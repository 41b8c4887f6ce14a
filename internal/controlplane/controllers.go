package controlplane

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/kubernetes/cmd/kube-controller-manager/app"

	"github.com/krops-go/krops/internal/cluster"
)

// controllers are those of the controller manager that an embedded cluster
// runs. Left out is what acts on machines and cloud load balancers that it does
// not have, and on metrics that nobody gathers.
var controllers = []string{
	"clusterrole-aggregation-controller",
	"cronjob-controller",
	"daemonset-controller",
	"deployment-controller",
	"disruption-controller",
	"endpoints-controller", // the API server's proxy to Services asks for them
	"endpointslice-controller",
	"ephemeral-volume-controller",
	"garbage-collector-controller",
	"job-controller",
	"namespace-controller",
	"persistentvolume-binder-controller",
	"persistentvolume-protection-controller",
	"persistentvolumeclaim-protection-controller",
	"replicaset-controller",
	"resourcequota-controller",
	"root-ca-certificate-publisher-controller",
	"serviceaccount-controller",
	"serviceaccount-token-controller",
	"statefulset-controller",
	"taint-eviction-controller",
	"ttl-after-finished-controller",
	"validatingadmissionpolicy-status-controller",
}

func runControllers(ctx context.Context) error {
	l := cluster.Layout(".")
	command := app.NewControllerManagerCommand()
	command.SetArgs([]string{
		"--kubeconfig=" + l.Kubeconfig(),
		"--leader-elect=false",
		"--secure-port=0",
		"--use-service-account-credentials=false",
		"--service-account-private-key-file=" + l.PKI(cluster.AccountKey),
		"--root-ca-file=" + l.PKI(cluster.CACert),
		"--controllers=" + strings.Join(controllers, ","),
		"--kube-api-qps=200",
		"--kube-api-burst=400",
		"--profiling=false",
	})
	command.SilenceErrors = true
	err := command.ExecuteContext(ctx)
	if err == nil {
		err = context.Cause(ctx)
	}
	return fmt.Errorf("the controller manager ended: %w", err)
}
