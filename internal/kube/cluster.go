// Package kube is how the rest of krops talks to a Kubernetes cluster: a client from a kubeconfig, server-side apply
// that reports per object, waits that explain themselves, look-ups that tell absent from unknown, and kubeconfig files.
package kube

import (
	"fmt"
	"net/http"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// userAgent names krops in audit logs, fieldManager in managedFields.
const (
	userAgent    = "krops"
	fieldManager = "krops"
)

// Client limits: an estate is a few hundred objects, which client-go's default of 5 requests a second would spread
// over minutes. The API server's own priority and fairness is the limit that counts.
const (
	queriesPerSecond = 200
	burst            = 400
)

// Cluster is one Kubernetes cluster. Its client reads and writes the API server directly, without a cache; kinds that
// appear later are discovered when they are first used. Safe for concurrent use.
type Cluster struct {
	client.Client
	config *rest.Config
}

// Open connects to the cluster of a context in a kubeconfig file; an empty context means the current one. No request
// is sent yet.
func Open(path, context string) (*Cluster, error) {
	rules := &clientcmd.ClientConfigLoadingRules{ExplicitPath: path}
	overrides := &clientcmd.ConfigOverrides{CurrentContext: context}
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("kubeconfig %s, context %q: %w", path, context, err)
	}
	return New(config)
}

// OpenBytes connects to the cluster of the current context of a kubeconfig, for example one from a Secret.
func OpenBytes(kubeconfig []byte) (*Cluster, error) {
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		// The parser's message may quote the input, which holds credentials.
		return nil, fmt.Errorf("the kubeconfig cannot be used: it is not a kubeconfig with a current context")
	}
	return New(config)
}

// New connects to the cluster of a client configuration, which is not changed.
func New(config *rest.Config) (*Cluster, error) {
	config = rest.CopyConfig(config)
	config.QPS, config.Burst = queriesPerSecond, burst
	config.UserAgent = userAgent
	// Deprecation warnings of the API server are for those who write manifests, not for those who run krops.
	config.WarningHandler = rest.NoWarnings{}
	transport, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("cluster %s: %w", config.Host, err)
	}
	return newCluster(config, transport)
}

func newCluster(config *rest.Config, transport *http.Client) (*Cluster, error) {
	mapper, err := apiutil.NewDynamicRESTMapper(config, transport)
	if err != nil {
		return nil, fmt.Errorf("cluster %s: %w", config.Host, err)
	}
	c, err := client.New(config, client.Options{HTTPClient: transport, Scheme: newScheme(), Mapper: mapper})
	if err != nil {
		return nil, fmt.Errorf("cluster %s: %w", config.Host, err)
	}
	return &Cluster{Client: c, config: config}, nil
}

// Config returns a copy of the client configuration, for libraries that make clients of their own.
func (c *Cluster) Config() *rest.Config { return rest.CopyConfig(c.config) }

// newScheme knows Kubernetes' own kinds and CustomResourceDefinitions; all other kinds travel unstructured.
func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(apiextensionsv1.AddToScheme(scheme))
	return scheme
}
