package node

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/krops-go/krops/internal/program"
)

// refusalError is why a probe cannot be asked at all. As with a kubelet, it
// neither passes nor fails then.
type refusalError string

func (e refusalError) Error() string { return string(e) }

func isRefusal(err error) bool {
	var refusal refusalError
	return errors.As(err, &refusal)
}

// ask asks the container's probe once.
func (c *container) ask(ctx context.Context, p *corev1.Probe) error {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(max(p.TimeoutSeconds, 1))*time.Second)
	defer cancel()
	switch {
	case p.HTTPGet != nil:
		return c.askHTTP(ctx, p.HTTPGet)
	case p.TCPSocket != nil:
		conn, err := c.dialProbe(ctx, p.TCPSocket.Host, p.TCPSocket.Port)
		if err != nil {
			return err
		}
		return conn.Close()
	case p.GRPC != nil:
		return c.askGRPC(ctx, p.GRPC)
	case p.Exec != nil:
		handler := c.execHandler()
		if handler == nil {
			return refusalError("exec probes are refused, since the container is a program without commands to run; give it an httpGet, tcpSocket or grpc probe")
		}
		return handler(ctx, program.Exec{Command: p.Exec.Command, Stdout: io.Discard, Stderr: io.Discard})
	default:
		return refusalError("the probe says nothing that could be asked")
	}
}

// dialProbe connects to a port of the pod, or of another host that the probe
// names.
func (c *container) dialProbe(ctx context.Context, host string, port intstr.IntOrString) (net.Conn, error) {
	number, err := c.port(port)
	if err != nil {
		return nil, err
	}
	if host == "" {
		host = c.ip
	}
	return c.addresses.dialFrom(ctx, c.pod.Namespace, "tcp", net.JoinHostPort(host, strconv.Itoa(number)))
}

// port resolves a port that may be given by its name.
func (c *container) port(port intstr.IntOrString) (int, error) {
	if port.Type == intstr.Int {
		return port.IntValue(), nil
	}
	for _, p := range c.spec.Ports {
		if p.Name == port.StrVal {
			return int(p.ContainerPort), nil
		}
	}
	return 0, refusalError(fmt.Sprintf("container %s has no port named %q", c.spec.Name, port.StrVal))
}

func (c *container) askHTTP(ctx context.Context, get *corev1.HTTPGetAction) error {
	number, err := c.port(get.Port)
	if err != nil {
		return err
	}
	host := get.Host
	if host == "" {
		host = c.ip
	}
	path, query, _ := strings.Cut(get.Path, "?")
	u := url.URL{Scheme: "http", Host: net.JoinHostPort(host, strconv.Itoa(number)), Path: path, RawQuery: query}
	if get.Scheme == corev1.URISchemeHTTPS {
		u.Scheme = "https"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return err
	}
	for _, h := range get.HTTPHeaders {
		if strings.EqualFold(h.Name, "Host") {
			req.Host = h.Value
		}
		req.Header.Add(h.Name, h.Value)
	}
	client := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		// A probe asks whether anything answers, not who.
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			return c.addresses.dialFrom(ctx, c.pod.Namespace, network, address)
		},
	}}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode >= 400 {
		return fmt.Errorf("it answers %s", resp.Status)
	}
	return nil
}

func (c *container) askGRPC(ctx context.Context, action *corev1.GRPCAction) error {
	conn, err := grpc.NewClient("passthrough:///"+c.ip,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			return c.dialProbe(ctx, "", intstr.FromInt32(action.Port))
		}))
	if err != nil {
		return err
	}
	defer conn.Close()
	var service string
	if action.Service != nil {
		service = *action.Service
	}
	answer, err := grpc_health_v1.NewHealthClient(conn).Check(ctx, &grpc_health_v1.HealthCheckRequest{Service: service})
	if err != nil {
		return err
	}
	if answer.Status != grpc_health_v1.HealthCheckResponse_SERVING {
		return fmt.Errorf("it answers %s", answer.Status)
	}
	return nil
}
