package capi

import (
	"io"
	"time"

	"github.com/spf13/pflag"
	"sigs.k8s.io/cluster-api/feature"
)

// options are those of the manager's flags that this program acts on.
type options struct {
	namespace, watchFilter          string
	healthAddr, webhookCertDir      string
	webhookPort                     int
	syncPeriod                      time.Duration
	remoteConnectionGracePeriod     time.Duration
	remoteConditionsGracePeriod     time.Duration
	qps                             float32
	burst                           int
	clusterCacheQPS                 float32
	clusterCacheBurst               int
	concurrency, clusterConcurrency int
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
	fs.DurationVar(&o.syncPeriod, "sync-period", 10*time.Minute, "")
	fs.DurationVar(&o.remoteConnectionGracePeriod, "remote-connection-grace-period", 50*time.Second, "")
	fs.DurationVar(&o.remoteConditionsGracePeriod, "remote-conditions-grace-period", 5*time.Minute, "")
	fs.Float32Var(&o.qps, "kube-api-qps", 200, "")
	fs.IntVar(&o.burst, "kube-api-burst", 400, "")
	fs.Float32Var(&o.clusterCacheQPS, "clustercache-client-qps", 100, "")
	fs.IntVar(&o.clusterCacheBurst, "clustercache-client-burst", 200, "")
	fs.IntVar(&o.concurrency, "machinepool-concurrency", 50, "")
	fs.IntVar(&o.clusterConcurrency, "cluster-concurrency", 50, "")
	feature.MutableGates.AddFlag(fs)
	return o, fs.Parse(args)
}
