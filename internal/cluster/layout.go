// Package cluster runs embedded Kubernetes clusters: each one process for the
// control plane with one for its node beside it, everything under one data
// directory. It starts the krops-cluster program and never links Kubernetes.
package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/krops-go/krops/internal/wholefile"
)

// Spec is what a cluster is asked to be. It is kept as cluster.json in the
// data directory.
type Spec struct {
	// Name is for people and for the kubeconfig's entries.
	Name string `json:"name"`
	// Port is the API server's port on 127.0.0.1. Zero picks a free one at the
	// first start; it stays the same from then on.
	Port int `json:"port"`
	// Issuer is the service account issuer. Empty means the API server's own URL.
	Issuer string `json:"issuer,omitempty"`
	// AccountKeyFile is a PEM file with the private key that signs service
	// account tokens, for an issuer that publishes the public key elsewhere.
	// Empty means a key of the cluster's own.
	AccountKeyFile string `json:"accountKeyFile,omitempty"`
	// Audit has each request to the API server noted in Layout.Audit.
	Audit bool `json:"audit,omitempty"`
	// TokenWebhook is the URL of a TokenReview endpoint that authenticates
	// bearer tokens which are not service accounts'. Empty means none.
	TokenWebhook string `json:"tokenWebhook,omitempty"`
	// Nodes are registered when the cluster starts.
	Nodes []Node `json:"nodes,omitempty"`
	// Durable flushes every write to the disk, so that the state also survives
	// a power cut. Without it the state survives the end of any process.
	Durable bool `json:"durable,omitempty"`
}

// Layout names the files of a data directory. The processes of a cluster run
// with the directory as their working directory, since the paths of unix
// sockets must be short.
type Layout string

func (l Layout) path(elem ...string) string {
	return filepath.Join(append([]string{string(l)}, elem...)...)
}

func (l Layout) Spec() string       { return l.path("cluster.json") }
func (l Layout) Kubeconfig() string { return l.path("kubeconfig") } // the administrator's, mode 0600
func (l Layout) Etcd() string       { return l.path("etcd") }
func (l Layout) PKI(name string) string {
	return l.path("pki", name)
}

func (l Layout) Log(process string) string { return l.path("log", process+".log") }

// Pods holds a folder for each running pod, named by its UID. The node process
// holds it.
func (l Layout) Pods() string { return l.path("pods") }

// Volume holds the content of a persistent volume.
func (l Layout) Volume(name string) string { return l.path("volumes", name) }

// Audit is the audit log, one JSON object a line.
func (l Layout) Audit() string { return l.path("log", "audit.log") }

// StorageClass is the default class of every embedded cluster. StorageDriver
// provides its volumes: folders below the data directory.
const (
	StorageClass  = "krops-local"
	StorageDriver = "local.krops.dev"
)

// Sockets, relative to the data directory. etcd demands a port even of a
// socket's name.
const (
	EtcdSocket   = "etcd.sock:0"
	PeerSocket   = "peer.sock:0"
	EgressSocket = "egress.sock"
	// KubeletSocket is the kubelet of all nodes.
	KubeletSocket = "kubelet.sock"
)

// ReadSpec returns the Spec of a data directory. The error wraps
// os.ErrNotExist when there is none.
func ReadSpec(dir string) (Spec, error) {
	var spec Spec
	text, err := os.ReadFile(Layout(dir).Spec())
	if err != nil {
		return spec, fmt.Errorf("reading the cluster's settings: %w", err)
	}
	if err := json.Unmarshal(text, &spec); err != nil {
		return spec, fmt.Errorf("%s is damaged (%w); remove the folder %s to start the cluster afresh", Layout(dir).Spec(), err, dir)
	}
	return spec, nil
}

// settle merges what is asked for with what the directory already decided, and
// stores the result.
func settle(dir string, spec Spec) (Spec, error) {
	old, err := ReadSpec(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return spec, err
	case spec.Port == 0:
		spec.Port = old.Port
	}
	if spec.Port == 0 {
		if spec.Port, err = freePort(); err != nil {
			return spec, err
		}
	}
	if spec.Issuer == "" {
		spec.Issuer = spec.Endpoint()
	}
	text, err := json.MarshalIndent(spec, "", "  ")
	if err != nil {
		return spec, err
	}
	return spec, wholefile.Write(Layout(dir).Spec(), text)
}

// Endpoint is the API server's URL.
func (s Spec) Endpoint() string { return fmt.Sprintf("https://127.0.0.1:%d", s.Port) }
