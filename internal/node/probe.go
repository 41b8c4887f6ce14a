package node

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// A container that is not ready is asked more often than its probe says, so
// that readiness is seen when it comes.
const eagerPeriod = 50 * time.Millisecond

// probe asks the container's readiness probe and reports each change until ctx
// ends. A probe that is not HTTP counts as passed.
func (r *run) probe(ctx context.Context, c corev1.Container, report func(ready bool)) {
	p := c.ReadinessProbe
	if p == nil {
		return
	}
	if p.HTTPGet == nil {
		report(true)
		return
	}
	client := &http.Client{
		Timeout: time.Duration(max(p.TimeoutSeconds, 1)) * time.Second,
		Transport: &http.Transport{DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
			return r.addresses.dial(ctx, address)
		}},
	}
	defer client.CloseIdleConnections()
	period := time.Duration(max(p.PeriodSeconds, 1)) * time.Second
	ready, failures := false, int32(0)
	for {
		wait := eagerPeriod
		if err := ask(ctx, client, r.ip, c, p.HTTPGet); err == nil {
			failures = 0
			if !ready {
				ready = true
				report(true)
			}
			wait = period
		} else if failures++; ready && failures >= max(p.FailureThreshold, 1) {
			ready = false
			report(false)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

func ask(ctx context.Context, client *http.Client, ip string, c corev1.Container, get *corev1.HTTPGetAction) error {
	port := get.Port.IntVal
	if get.Port.Type == intstr.String {
		for _, p := range c.Ports {
			if p.Name == get.Port.StrVal {
				port = p.ContainerPort
			}
		}
	}
	u := url.URL{Scheme: "http", Host: net.JoinHostPort(ip, strconv.Itoa(int(port))), Path: get.Path}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return err
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode >= 400 {
		return fmt.Errorf("probe says %s", resp.Status)
	}
	return nil
}
