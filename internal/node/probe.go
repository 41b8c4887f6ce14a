package node

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// A container that has not passed its startup or readiness probe is asked more
// often than the probe says, and from the beginning, so that readiness is seen
// when it comes. Failures count once a period all the same.
const eagerPeriod = 50 * time.Millisecond

// probes asks the container's probes until ctx ends, and ends the container
// with kill when it is found dead.
func (c *container) probes(ctx context.Context, kill context.CancelCauseFunc) {
	dead := func(kind string, p *corev1.Probe) func(error) {
		return func(err error) {
			grace := c.grace()
			if p.TerminationGracePeriodSeconds != nil {
				grace = time.Duration(*p.TerminationGracePeriodSeconds) * time.Second
			}
			reason := fmt.Sprintf("Container %s failed its %s probe and is restarted: %v", c.spec.Name, kind, err)
			c.events.Event(c.pod, corev1.EventTypeNormal, "Killing", reason)
			kill(&killedError{reason: reason, grace: grace})
		}
	}
	if p := c.spec.StartupProbe; p != nil {
		passed := make(chan struct{})
		var once sync.Once
		starting, stop := context.WithCancel(ctx)
		w := &probeWorker{container: c, kind: "startup", probe: p, eager: true}
		w.passed = func() { once.Do(func() { close(passed); stop() }) }
		w.failed = dead("startup", p)
		w.run(starting)
		stop()
		select {
		case <-passed:
		default:
			return
		}
	}
	ready := c.spec.ReadinessProbe == nil
	c.set(func(s *corev1.ContainerStatus) { s.Started, s.Ready = yes(), ready })
	c.hasStarted()
	var all sync.WaitGroup
	defer all.Wait()
	if p := c.spec.ReadinessProbe; p != nil {
		w := &probeWorker{container: c, kind: "readiness", probe: p, eager: true}
		w.passed = func() { c.set(func(s *corev1.ContainerStatus) { s.Ready = s.State.Running != nil }) }
		w.failed = func(error) { c.set(func(s *corev1.ContainerStatus) { s.Ready = false }) }
		all.Go(func() { w.run(ctx) })
	}
	if p := c.spec.LivenessProbe; p != nil {
		w := &probeWorker{container: c, kind: "liveness", probe: p, delay: time.Duration(p.InitialDelaySeconds) * time.Second, healthy: true}
		w.passed = func() {}
		w.failed = dead("liveness", p)
		all.Go(func() { w.run(ctx) })
	}
}

// probeWorker asks one probe again and again.
type probeWorker struct {
	*container
	kind    string
	probe   *corev1.Probe
	delay   time.Duration
	eager   bool // ask often while not healthy
	healthy bool // as long as nothing else was found
	passed  func()
	failed  func(error)
}

func (w *probeWorker) run(ctx context.Context) {
	period := time.Duration(max(w.probe.PeriodSeconds, 1)) * time.Second
	var successes, failures int32
	count := time.Now() // when the next failure counts
	said := ""
	for wait := w.delay; ; {
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		wait = period
		err := w.ask(ctx, w.probe)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			failures, said = 0, ""
			if successes++; successes >= max(w.probe.SuccessThreshold, 1) && !w.healthy {
				w.healthy = true
				w.passed()
			}
			continue
		}
		successes = 0
		now := time.Now()
		if w.eager && !w.healthy {
			wait = eagerPeriod
		}
		if now.Before(count) {
			continue
		}
		count = now.Add(period)
		failures++
		// The first failures of a container that comes up are no news.
		if err.Error() != said && (w.healthy || failures > 1 || isRefusal(err)) {
			said = err.Error()
			w.events.Eventf(w.pod, corev1.EventTypeWarning, "Unhealthy", "The %s probe of container %s failed: %v", w.kind, w.spec.Name, err)
		}
		if failures >= max(w.probe.FailureThreshold, 1) && !isRefusal(err) && (w.healthy || w.kind == "startup") {
			w.healthy = false
			failures = 0
			w.failed(err)
		}
	}
}
