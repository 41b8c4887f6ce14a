package controlplane

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/kubernetes/cmd/kube-controller-manager/app"

	"github.com/krops-go/krops/internal/cluster"
)

// controllers are those of the controller manager that an embedded cluster
// runs. Left out is what acts on machines, volumes and cloud load balancers
// that it does not have.
var controllers = []string{
	"clusterrole-aggregation-controller",
	"daemonset-controller",
	"deployment-controller",
	"endpointslice-controller",
	"garbage-collector-controller",
	"job-controller",
	"namespace-controller",
	"replicaset-controller",
	"resourcequota-controller",
	"root-ca-certificate-publisher-controller",
	"serviceaccount-controller",
	"serviceaccount-token-controller",
	"statefulset-controller",
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
