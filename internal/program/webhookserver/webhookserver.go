// Package webhookserver serves controller-runtime webhooks on a pod's port.
// controller-runtime's own server opens a port of the machine instead.
package webhookserver

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"sync/atomic"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/certwatcher"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/krops-go/krops/internal/program"
)

const closeWithin = time.Second

// Server is a webhook.Server.
type Server struct {
	pod     *program.Pod
	port    int
	certDir string // on this machine
	mux     *http.ServeMux
	serving atomic.Bool
}

var _ webhook.Server = (*Server)(nil)

// New returns a server for a port of the pod with tls.crt and tls.key from
// certDir, a path inside the container. The files are read again when they
// change.
func New(pod *program.Pod, port int, certDir string) *Server {
	return &Server{pod: pod, port: port, certDir: pod.Path(certDir), mux: http.NewServeMux()}
}

// NeedLeaderElection reports that webhooks are served by every replica.
func (s *Server) NeedLeaderElection() bool { return false }

// Register adds a handler. It panics when the path is taken, as
// webhook.Server demands.
func (s *Server) Register(path string, hook http.Handler) { s.mux.Handle(path, hook) }

// WebhookMux is where the handlers are registered.
func (s *Server) WebhookMux() *http.ServeMux { return s.mux }

// StartedChecker fails until the server serves.
func (s *Server) StartedChecker() healthz.Checker {
	return func(*http.Request) error {
		if !s.serving.Load() {
			return errors.New("the webhook server has not started")
		}
		return nil
	}
}

// Start serves until ctx ends.
func (s *Server) Start(ctx context.Context) error {
	watcher, err := certwatcher.New(filepath.Join(s.certDir, "tls.crt"), filepath.Join(s.certDir, "tls.key"))
	if err != nil {
		return fmt.Errorf("webhook server: loading its certificate: %w", err)
	}
	listener, err := s.pod.Listener(s.port)
	if err != nil {
		return fmt.Errorf("webhook server: %w", err)
	}
	server := &http.Server{
		Handler:           s.mux,
		ReadHeaderTimeout: 30 * time.Second,
		TLSConfig:         &tls.Config{GetCertificate: watcher.GetCertificate, MinVersion: tls.VersionTLS12},
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
	ended := make(chan error, 2)
	go func() { ended <- watcher.Start(ctx) }()
	go func() { ended <- server.ServeTLS(listener, "", "") }()
	s.serving.Store(true)
	defer s.serving.Store(false)
	select {
	case <-ctx.Done():
	case err := <-ended:
		if ctx.Err() == nil {
			return errors.Join(fmt.Errorf("webhook server: %w", err), server.Close())
		}
	}
	shutdown, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeWithin)
	defer cancel()
	if err := server.Shutdown(shutdown); err != nil {
		return server.Close()
	}
	return nil
}
