package node

import (
	"crypto/tls"
	"net"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/labels"
	corelisters "k8s.io/client-go/listers/core/v1"

	"github.com/krops-go/krops/internal/cluster"
)

// nodeCertificates is the kubelet's serving certificate. It is valid for all
// nodes that are registered and made anew when these change.
type nodeCertificates struct {
	authority *cluster.Authority
	nodes     corelisters.NodeLister

	mu      sync.Mutex
	names   []string
	current *tls.Certificate
}

func (c *nodeCertificates) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	nodes, err := c.nodes.List(labels.Everything())
	if err != nil {
		return nil, err
	}
	var names []string
	var addresses []net.IP
	for _, n := range nodes {
		names = append(names, n.Name)
		if ip := net.ParseIP(internalIP(n)); ip != nil {
			names, addresses = append(names, ip.String()), append(addresses, ip)
		}
	}
	slices.Sort(names)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current != nil && slices.Equal(names, c.names) {
		return c.current, nil
	}
	made, err := c.authority.Serving("kubelet", names, addresses)
	if err != nil {
		return nil, err
	}
	c.names, c.current = names, made
	return made, nil
}
