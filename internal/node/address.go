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
	nodes     corelisters.NodeLister

	mu   sync.Mutex
	last int               // pod addresses given out so far
	turn int               // counts connections, so that endpoints take turns
	open map[string]string // pod "ip:port" to the socket's path
}

func newAddresses(spec cluster.Spec, factory informers.SharedInformerFactory) *addresses {
	return &addresses{
		apiServer: net.JoinHostPort("127.0.0.1", strconv.Itoa(spec.Port)),
		services:  factory.Core().V1().Services().Lister(),
		slices:    factory.Discovery().V1().EndpointSlices().Lister(),
		nodes:     factory.Core().V1().Nodes().Lister(),
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
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("port %d: %w", port, err)
	}
	address := net.JoinHostPort(podIP, strconv.Itoa(port))
	path := filepath.Join(folder, strconv.Itoa(port)+".sock")
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, taken := a.open[address]; taken {
		return nil, fmt.Errorf("port %d: another container of the pod listens on it", port)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("port %d: %w", port, err)
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("port %d: %w", port, err)
	}
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
	err := l.Listener.Close()
	l.once.Do(l.closed)
	return err
}

// dial connects to an address of the cluster, given by number or by name.
func (a *addresses) dial(ctx context.Context, address string) (net.Conn, error) {
	conn, known, err := a.dialCluster(ctx, "default", address)
	if err == nil && !known {
		err = fmt.Errorf("%s is no address of the cluster", address)
	}
	return conn, err
}

// dialFrom connects as a process of a pod in namespace would: to addresses of
// the cluster, and by the machine to all others.
func (a *addresses) dialFrom(ctx context.Context, namespace, network, address string) (net.Conn, error) {
	conn, known, err := a.dialCluster(ctx, namespace, address)
	if known || err != nil {
		return conn, err
	}
	var d net.Dialer
	return d.DialContext(ctx, network, address)
}

// dialCluster connects to an address of the cluster. It is not known when it
// is none.
func (a *addresses) dialCluster(ctx context.Context, namespace, address string) (conn net.Conn, known bool, err error) {
	target, err := a.resolve(namespace, address)
	if err != nil || target == (socket{}) {
		return nil, err != nil, err
	}
	var d net.Dialer
	conn, err = d.DialContext(ctx, target.network, target.address)
	return conn, true, err
}
