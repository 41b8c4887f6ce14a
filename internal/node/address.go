package node

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	corelisters "k8s.io/client-go/listers/core/v1"
	discoverylisters "k8s.io/client-go/listers/discovery/v1"

	"github.com/krops-go/krops/internal/cluster"
)

// podNetwork is where pod addresses come from: 10.244.0.2 and up.
const podNetwork = "10.244.%d.%d"

// addresses is the cluster's address map: which listener a cluster address
// means.
type addresses struct {
	apiServer string // host:port
	services  corelisters.ServiceLister
	slices    discoverylisters.EndpointSliceLister

	mu   sync.Mutex
	last int               // pod addresses given out so far
	open map[string]string // pod "ip:port" to the socket's path
}

func newAddresses(spec cluster.Spec, factory informers.SharedInformerFactory) *addresses {
	return &addresses{
		apiServer: net.JoinHostPort("127.0.0.1", strconv.Itoa(spec.Port)),
		services:  factory.Core().V1().Services().Lister(),
		slices:    factory.Discovery().V1().EndpointSlices().Lister(),
		last:      1,
		open:      map[string]string{},
	}
}

// avoid keeps the addresses of pods, which they got from a former life of this
// process, from being given to others: what still believes in them must find
// nobody there rather than somebody else.
func (a *addresses) avoid(pods []*corev1.Pod) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, p := range pods {
		var high, low int
		if _, err := fmt.Sscanf(p.Status.PodIP, podNetwork, &high, &low); err == nil {
			a.last = max(a.last, high<<8|low)
		}
	}
}

// newPodIP returns an address that no pod has or had in the life of this node
// process.
func (a *addresses) newPodIP() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.last++
	return fmt.Sprintf(podNetwork, a.last>>8&0xff, a.last&0xff)
}

// listen opens a port of a pod as a socket in folder.
func (a *addresses) listen(podIP string, port int, folder string) (net.Listener, error) {
	path := filepath.Join(folder, strconv.Itoa(port)+".sock")
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("port %d: %w", port, err)
	}
	address := net.JoinHostPort(podIP, strconv.Itoa(port))
	a.mu.Lock()
	defer a.mu.Unlock()
	a.open[address] = path
	return &podListener{Listener: l, closed: func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.open, address)
	}}, nil
}

type podListener struct {
	net.Listener
	closed func()
	once   sync.Once
}

func (l *podListener) Close() error {
	l.once.Do(l.closed)
	return l.Listener.Close()
}

// dial connects to an address of the cluster, "ip:port".
func (a *addresses) dial(ctx context.Context, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	var d net.Dialer
	if host == cluster.ServiceIP {
		return d.DialContext(ctx, "tcp", a.apiServer)
	}
	if backend, err := a.backend(host, port); err != nil {
		return nil, err
	} else if backend != "" {
		address = backend
	}
	a.mu.Lock()
	path, ok := a.open[address]
	a.mu.Unlock()
	if !ok {
		return nil, fmt.Errorf("nothing listens on %s in the cluster", address)
	}
	return d.DialContext(ctx, "unix", path)
}

// backend returns the pod address behind a Service's, or "" when ip is no
// Service's.
func (a *addresses) backend(ip, port string) (string, error) {
	services, err := a.services.List(labels.Everything())
	if err != nil {
		return "", err
	}
	for _, s := range services {
		if s.Spec.ClusterIP != ip {
			continue
		}
		for _, p := range s.Spec.Ports {
			if strconv.Itoa(int(p.Port)) == port {
				return a.readyEndpoint(s, p)
			}
		}
		return "", fmt.Errorf("service %s/%s has no port %s", s.Namespace, s.Name, port)
	}
	return "", nil
}

func (a *addresses) readyEndpoint(s *corev1.Service, port corev1.ServicePort) (string, error) {
	slices, err := a.slices.EndpointSlices(s.Namespace).List(labels.SelectorFromSet(labels.Set{discoveryv1.LabelServiceName: s.Name}))
	if err != nil {
		return "", err
	}
	for _, slice := range slices {
		for _, p := range slice.Ports {
			if p.Port == nil || p.Name == nil || *p.Name != port.Name {
				continue
			}
			for _, e := range slice.Endpoints {
				if len(e.Addresses) > 0 && (e.Conditions.Ready == nil || *e.Conditions.Ready) {
					return net.JoinHostPort(e.Addresses[0], strconv.Itoa(int(*p.Port))), nil
				}
			}
		}
	}
	return "", fmt.Errorf("service %s/%s has no ready pod", s.Namespace, s.Name)
}
