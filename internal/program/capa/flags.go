package capa

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/pflag"
	"sigs.k8s.io/cluster-api-provider-aws/v2/feature"
)

// maxSyncPeriod keeps the tokens in the kubeconfigs of EKS clusters fresh:
// they last 15 minutes and are renewed by a resync only.
const maxSyncPeriod = 10 * time.Minute

// options are those of the manager's flags that this program acts on.
type options struct {
	namespace, watchFilter     string
	healthAddr, webhookCertDir string
	webhookPort                int
	syncPeriod                 time.Duration
	waitInfraPeriod            time.Duration
	maxWait                    time.Duration
	clusters, pools, machines  int
}

// parse reads the arguments of the release's Deployment. A flag that this
// program does not know, such as those for logs and metrics, is passed over.
func parse(args []string) (options, error) {
	var o options
	fs := pflag.NewFlagSet("manager", pflag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.ParseErrorsAllowlist.UnknownFlags = true
	fs.StringVar(&o.namespace, "namespace", "", "")
	fs.StringVar(&o.watchFilter, "watch-filter", "", "")
	fs.StringVar(&o.healthAddr, "health-addr", ":9440", "")
	fs.IntVar(&o.webhookPort, "webhook-port", 9443, "")
	fs.StringVar(&o.webhookCertDir, "webhook-cert-dir", "/tmp/k8s-webhook-server/serving-certs/", "")
	fs.DurationVar(&o.syncPeriod, "sync-period", maxSyncPeriod, "")
	fs.DurationVar(&o.waitInfraPeriod, "wait-infra-period", time.Minute, "")
	fs.DurationVar(&o.maxWait, "max-wait-managed-resources", 30*time.Minute, "")
	fs.IntVar(&o.clusters, "awscluster-concurrency", 5, "")
	fs.IntVar(&o.pools, "instance-state-concurrency", 5, "")
	fs.IntVar(&o.machines, "awsmachine-concurrency", 10, "")
	feature.MutableGates.AddFlag(fs)
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	if o.syncPeriod > maxSyncPeriod {
		return o, fmt.Errorf("--sync-period=%s is longer than %s, after which the tokens for EKS clusters would expire", o.syncPeriod, maxSyncPeriod)
	}
	if feature.Gates.Enabled(feature.EKSAllowAddRoles) && !feature.Gates.Enabled(feature.EKSEnableIAM) {
		return o, errors.New("feature gate EKSAllowAddRoles needs EKSEnableIAM")
	}
	return o, nil
}
