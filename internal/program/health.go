package program

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"
)

// ServeHealth answers /healthz and /readyz on the pod's port of address, which
// is in the form of a manager's health flag (":9440"), until ctx ends. check
// decides; nil means healthy.
func ServeHealth(ctx context.Context, pod *Pod, address string, check func(*http.Request) error) error {
	_, digits, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("health address %q: %w", address, err)
	}
	port, err := strconv.Atoi(digits)
	if err != nil {
		return fmt.Errorf("health address %q: %w", address, err)
	}
	listener, err := pod.Listener(port)
	if err != nil {
		return fmt.Errorf("health endpoint: %w", err)
	}
	answer := func(w http.ResponseWriter, r *http.Request) {
		if err := check(r); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		fmt.Fprintln(w, "ok")
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/healthz", answer)
	mux.HandleFunc("/readyz", answer)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("health endpoint: %w", err)
	}
	return nil
}
