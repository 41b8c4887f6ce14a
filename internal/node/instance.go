package node

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"

	"github.com/krops-go/krops/internal/program"
)

// Exit codes.
const (
	exitError  = 1
	exitPanic  = 2
	exitKilled = 137
)

// leastGrace is what a program has to end even when it is killed: it takes a
// moment to see that its context ended.
const leastGrace = time.Second

// killedError is why the node ended a program.
type killedError struct {
	reason string
	grace  time.Duration
}

func (e *killedError) Error() string { return e.reason }

// instance runs the container's program a single time, with its probes beside
// it, and returns how it ended.
func (c *container) instance(ctx context.Context) (code int32, message string) {
	ctx, kill := context.WithCancelCause(ctx)
	defer kill(nil)
	log, err := openLog(c.folder(), c.spec.Name)
	if err != nil {
		return exitError, err.Error()
	}
	defer log.Close()
	opened := &listeners{}
	defer opened.close()
	pod, ok := c.configure(ctx, log, opened)
	if !ok {
		return exitKilled, "ended before it started"
	}
	c.set(func(s *corev1.ContainerStatus) { c.run.running(s) })
	ended := make(chan error, 1)
	go func() { ended <- guarded(ctx, c.program, pod) }()
	probing, stop := context.WithCancel(ctx)
	var probes sync.WaitGroup
	probes.Go(func() { c.probes(probing, kill) })
	err = c.await(ctx, ended)
	stop()
	probes.Wait()
	c.setExec(nil)
	code, message = outcome(err)
	if message != "" {
		fmt.Fprintln(log, message)
	}
	return code, message
}

// await returns why the program ended. One that is told to end and does not
// within its grace period is left to itself.
func (c *container) await(ctx context.Context, ended <-chan error) error {
	select {
	case err := <-ended:
		if cause := killCause(ctx); cause != nil {
			return cause
		}
		return err
	case <-ctx.Done():
	}
	grace := c.grace()
	var killed *killedError
	if errors.As(context.Cause(ctx), &killed) {
		grace = killed.grace
	}
	timer := time.NewTimer(max(grace, leastGrace))
	defer timer.Stop()
	select {
	case err := <-ended:
		if own := killCause(ctx); own != nil {
			return own
		}
		return err
	case <-timer.C:
		c.events.Eventf(c.pod, corev1.EventTypeWarning, "ExceededGracePeriod", "Container %s did not end within its grace period of %s; its program is left to itself", c.spec.Name, grace)
		return fmt.Errorf("it did not end within its grace period of %s", grace)
	}
}

// killCause is why the node ended the program while its pod goes on, or nil.
func killCause(ctx context.Context) error {
	var killed *killedError
	if errors.As(context.Cause(ctx), &killed) {
		return killed
	}
	return nil
}

func outcome(err error) (int32, string) {
	var panicked *panicError
	var killed *killedError
	switch {
	case err == nil:
		return 0, ""
	case errors.As(err, &panicked):
		return exitPanic, err.Error()
	case errors.As(err, &killed):
		return exitKilled, err.Error()
	default:
		return exitError, err.Error()
	}
}

// configure makes what the program is given, as soon as what it refers to
// exists. The result is false when ctx ended before.
func (c *container) configure(ctx context.Context, log *containerLog, opened *listeners) (*program.Pod, bool) {
	said := ""
	var pod *program.Pod
	err := wait.ExponentialBackoffWithContext(ctx, retries(), func(context.Context) (bool, error) {
		var err error
		if pod, err = c.programPod(log, opened); err != nil && ctx.Err() == nil && err.Error() != said {
			said = err.Error()
			c.events.Event(c.pod, corev1.EventTypeWarning, "Failed", "Error: "+said)
			c.waiting("CreateContainerConfigError", said)
		}
		return err == nil, nil
	})
	return pod, err == nil
}

// programPod is what the container's program is given.
func (c *container) programPod(log *containerLog, opened *listeners) (*program.Pod, error) {
	env, err := c.environment(c.spec)
	if err != nil {
		return nil, err
	}
	mounts, err := c.mounts(c.spec, env)
	if err != nil {
		return nil, err
	}
	var args []string
	if len(c.spec.Command) > 1 {
		args = append(args, c.spec.Command[1:]...)
	}
	args = append(args, c.spec.Args...)
	for i := range args {
		args[i] = expand(args[i], env)
	}
	return &program.Pod{
		Namespace: c.pod.Namespace, Name: c.pod.Name, Container: c.spec.Name,
		Args: args, Env: env, Mounts: mounts, Config: c.podConfig(mounts), Log: log,
		Listener: func(port int) (net.Listener, error) {
			l, err := c.addresses.listen(c.ip, port, c.folder())
			if err == nil {
				opened.add(l)
			}
			return l, err
		},
		Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			return c.addresses.dialFrom(ctx, c.pod.Namespace, network, address)
		},
		OnExec: c.setExec,
	}, nil
}

func (c *container) setExec(h program.ExecHandler) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.exec = h
}

func (c *container) execHandler() program.ExecHandler {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.exec
}

// listeners are the open ports of an instance, which close with it.
type listeners struct {
	mu   sync.Mutex
	open []net.Listener
}

func (l *listeners) add(opened net.Listener) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open = append(l.open, opened)
}

func (l *listeners) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, opened := range l.open {
		_ = opened.Close() // most programs have closed theirs
	}
}

// podConfig reaches the API server as the pod's service account, or as nobody
// when no token is mounted.
func (r *run) podConfig(mounts map[string]string) *rest.Config {
	config := rest.CopyConfig(r.config)
	if folder, ok := mounts[accountMount]; ok {
		config.BearerTokenFile = filepath.Join(folder, "token")
	}
	return config
}
