package node

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/krops-go/krops/internal/cluster"
)

// kubelet answers what the API server asks of a node: logs, exec, attach and
// port-forward. All nodes of the cluster are this one server.
type kubelet struct{ agent *agent }

// serveKubelet serves on a socket, to which the egress proxy brings the
// connections to the nodes' kubelet port, until ctx ends.
func serveKubelet(ctx context.Context, a *agent) error {
	authority, err := cluster.LoadAuthority(a.dir)
	if err != nil {
		return err
	}
	clients := x509.NewCertPool()
	clients.AddCert(authority.Certificate)
	certificates := &nodeCertificates{authority: authority, nodes: a.nodes}
	if err := os.Remove(cluster.KubeletSocket); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	l, err := net.Listen("unix", cluster.KubeletSocket)
	if err != nil {
		return fmt.Errorf("kubelet: %w", err)
	}
	server := &http.Server{
		Handler:           (&kubelet{a}).handler(),
		ReadHeaderTimeout: 30 * time.Second,
		TLSConfig: &tls.Config{
			MinVersion: tls.VersionTLS12, GetCertificate: certificates.get,
			ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: clients,
			// The streams of exec and port-forward are made for HTTP/1.1.
			NextProtos: []string{"http/1.1"},
		},
	}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	return fmt.Errorf("kubelet: %w", server.ServeTLS(l, "", ""))
}

func (k *kubelet) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", k.withContainer(k.logs))
	mux.HandleFunc("/exec/{namespace}/{pod}/{container}", k.withContainer(k.exec))
	mux.HandleFunc("/attach/{namespace}/{pod}/{container}", k.withContainer(k.attach))
	mux.HandleFunc("/portForward/{namespace}/{pod}", k.portForward)
	return allow(mux)
}

// allow lets the API server's kubelet client in, and nobody else whom the
// cluster's authority has given a certificate.
func allow(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if name := req.TLS.PeerCertificates[0].Subject.CommonName; name != cluster.KubeletClient {
			http.Error(w, fmt.Sprintf("%s may not use the kubelet", name), http.StatusForbidden)
			return
		}
		h.ServeHTTP(w, req)
	})
}

func (k *kubelet) withContainer(h func(http.ResponseWriter, *http.Request, *container)) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		r := k.find(req)
		if r == nil {
			http.Error(w, fmt.Sprintf("pod %q does not run here", req.PathValue("pod")), http.StatusNotFound)
			return
		}
		name := req.PathValue("container")
		for _, c := range append(r.inits, r.mains...) {
			if c.spec.Name == name {
				h(w, req, c)
				return
			}
		}
		http.Error(w, fmt.Sprintf("container %q not found in pod %q", name, r.pod.Name), http.StatusNotFound)
	}
}

func (k *kubelet) find(req *http.Request) *run {
	id := types.NamespacedName{Namespace: req.PathValue("namespace"), Name: req.PathValue("pod")}
	if r := k.agent.find(id); r != nil {
		return r
	}
	// A pod that had ended before this node process began.
	pod, err := k.agent.pods.Pods(id.Namespace).Get(id.Name)
	if err != nil || pod.Spec.NodeName == "" {
		return nil
	}
	return newRun(context.Background(), k.agent.node, pod)
}

func (k *kubelet) logs(w http.ResponseWriter, req *http.Request, c *container) {
	options, err := logOptions(req)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if c.program == nil {
		fmt.Fprintln(w, c.simulation())
		return
	}
	path, err := c.logPath(options.Previous)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	out := flushing{w, http.NewResponseController(w)}
	// The answer begins at once, even if the log is empty and followed.
	out.control.Flush()
	if err := readLog(req.Context(), path, options, c, out); err != nil && req.Context().Err() == nil {
		fmt.Fprintln(out, err)
	}
}

// logPath is where the log of the container's running instance lies, or of the
// one before.
func (c *container) logPath(previous bool) (string, error) {
	status := c.snapshot()
	switch {
	case previous && status.LastTerminationState.Terminated == nil:
		return "", fmt.Errorf("previous terminated container %q in pod %q not found", c.spec.Name, c.pod.Name)
	case status.State.Waiting != nil && status.LastTerminationState.Terminated == nil:
		return "", fmt.Errorf("container %q in pod %q is waiting to start: %s", c.spec.Name, c.pod.Name, status.State.Waiting.Reason)
	}
	path := logFile(c.folder(), c.spec.Name)
	if previous && status.State.Waiting == nil {
		path = previousLog(c.folder(), c.spec.Name)
	}
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("container %q in pod %q has no log: %w", c.spec.Name, c.pod.Name, err)
	}
	return path, nil
}

// flushing passes on each write at once.
type flushing struct {
	io.Writer
	control *http.ResponseController
}

func (f flushing) Write(p []byte) (int, error) {
	n, err := f.Writer.Write(p)
	return n, errors.Join(err, f.control.Flush())
}

// logOptions reads the query of a request for logs.
func logOptions(req *http.Request) (*corev1.PodLogOptions, error) {
	query := req.URL.Query()
	var errs []error
	number := func(name string) *int64 {
		if !query.Has(name) {
			return nil
		}
		n, err := strconv.ParseInt(query.Get(name), 10, 64)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
		}
		return &n
	}
	o := &corev1.PodLogOptions{
		Follow: query.Get("follow") == "true", Previous: query.Get("previous") == "true", Timestamps: query.Get("timestamps") == "true",
		TailLines: number("tailLines"), LimitBytes: number("limitBytes"), SinceSeconds: number("sinceSeconds"),
	}
	if query.Has("sinceTime") {
		at, err := time.Parse(time.RFC3339, query.Get("sinceTime"))
		if err != nil {
			errs = append(errs, fmt.Errorf("sinceTime: %w", err))
		}
		o.SinceTime = &metav1.Time{Time: at}
	}
	return o, errors.Join(errs...)
}
