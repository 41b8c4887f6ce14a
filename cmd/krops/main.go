// Command krops takes an account on a cloud to a running, GitOps-managed
// Kubernetes estate and back to nothing, and rehearses that life on one machine.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/krops-go/krops/internal/lifeline"
)

var errParent = errors.New("the process that started this one ended")

func main() {
	// The libraries' own logs; what matters of them is in events and errors.
	log.SetLogger(logr.Discard())
	// A second signal ends the program at once, since stop restores the default.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	ctx, cancel := context.WithCancelCause(ctx)
	err := lifeline.Watch(func() { cancel(errParent) })
	if err == nil {
		err = newRootCommand().ExecuteContext(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "krops:", err)
		os.Exit(1)
	}
}
