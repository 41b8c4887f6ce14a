package controlplane

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"

	"github.com/krops-go/krops/internal/cluster"
)

// Files in the working directory.
const (
	egressFile       = "egress.yaml"
	tokenWebhookFile = "token-webhook.kubeconfig"
	auditPolicyFile  = "audit-policy.yaml"
)

// egress sends every call that the API server makes into the cluster (to
// webhooks, aggregated APIs, kubelets) to the node process, which alone knows
// where a cluster address really is.
const egress = `apiVersion: apiserver.k8s.io/v1beta1
kind: EgressSelectorConfiguration
egressSelections:
- name: cluster
  connection:
    proxyProtocol: HTTPConnect
    transport:
      uds:
        udsName: ` + cluster.EgressSocket + "\n"

func writeEgress() error { return os.WriteFile(egressFile, []byte(egress), 0o600) }

// auditPolicy notes who did what and when, but not what was in it, since that
// may be secret. Reads of health and discovery, which are most requests, say
// nothing.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: None
  nonResourceURLs: ["/healthz*", "/livez*", "/readyz*", "/version", "/openapi*", "/api", "/api/*", "/apis", "/apis/*"]
- level: Metadata
`

func writeAuditPolicy() error { return os.WriteFile(auditPolicyFile, []byte(auditPolicy), 0o600) }

func writeTokenWebhook(url string) error {
	config := clientcmdapi.NewConfig()
	config.Clusters["authenticator"] = &clientcmdapi.Cluster{Server: url}
	config.Contexts["authenticator"] = &clientcmdapi.Context{Cluster: "authenticator"}
	config.CurrentContext = "authenticator"
	return clientcmd.WriteToFile(*config, tokenWebhookFile)
}

func runAPIServer(ctx context.Context, spec cluster.Spec) error {
	pki := func(name string) string { return cluster.Layout(".").PKI(name) }
	args := []string{
		"--etcd-servers=unix://" + cluster.EtcdSocket,
		"--bind-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", spec.Port),
		// Nothing dials the advertised address (no endpoints are published
		// for it), but a machine without a network could not choose one.
		"--advertise-address=192.0.2.1",
		"--endpoint-reconciler-type=none",
		"--tls-cert-file=" + pki(cluster.ServerCert),
		"--tls-private-key-file=" + pki(cluster.ServerKey),
		"--client-ca-file=" + pki(cluster.CACert),
		"--service-account-issuer=" + spec.Issuer,
		"--service-account-key-file=" + pki(cluster.AccountPub),
		"--service-account-signing-key-file=" + pki(cluster.AccountKey),
		"--service-cluster-ip-range=" + cluster.ServiceRange,
		"--authorization-mode=RBAC",
		"--kubelet-client-certificate=" + pki(cluster.KubeletClientCert),
		"--kubelet-client-key=" + pki(cluster.KubeletClientKey),
		"--kubelet-certificate-authority=" + pki(cluster.CACert),
		"--kubelet-preferred-address-types=InternalIP,Hostname",
		// Aggregated APIs are reached at their pods, and know by this who asks.
		"--enable-aggregator-routing=true",
		"--requestheader-client-ca-file=" + pki(cluster.ProxyCACert),
		"--requestheader-allowed-names=" + cluster.ProxyClient,
		"--requestheader-username-headers=X-Remote-User",
		"--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file=" + pki(cluster.ProxyClientCert),
		"--proxy-client-key-file=" + pki(cluster.ProxyClientKey),
		"--egress-selector-config-file=" + egressFile,
		// It taints new nodes as not ready, for the node lifecycle controller
		// to lift; here a node is ready as soon as it is registered.
		"--disable-admission-plugins=TaintNodesByCondition",
		"--profiling=false",
	}
	if spec.Audit {
		args = append(args, "--audit-policy-file="+auditPolicyFile, "--audit-log-path="+cluster.Layout(".").Audit(),
			"--audit-log-maxsize=100", "--audit-log-maxbackup=1")
	}
	if spec.TokenWebhook != "" {
		args = append(args, "--authentication-token-webhook-config-file="+tokenWebhookFile, "--authentication-token-webhook-version=v1")
	}
	command := app.NewAPIServerCommand()
	command.SetArgs(args)
	command.SilenceErrors = true
	err := command.ExecuteContext(ctx)
	if err == nil {
		err = context.Cause(ctx)
	}
	return fmt.Errorf("the API server ended: %w", err)
}

// awaitReady returns when the API server serves everything. The error is the
// context's.
func awaitReady(ctx context.Context, spec cluster.Spec) error {
	ca, err := os.ReadFile(cluster.Layout(".").PKI(cluster.CACert))
	if err != nil {
		return err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}}
	defer client.CloseIdleConnections()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, spec.Endpoint()+"/readyz", nil)
		if err != nil {
			return err
		}
		resp, err := client.Do(req)
		if err != nil {
			continue
		}
		resp.Body.Close()
		if resp.StatusCode == http.StatusOK {
			return nil
		}
	}
}
