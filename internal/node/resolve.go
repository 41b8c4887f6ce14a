package node

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/krops-go/krops/internal/cluster"
)

const (
	clusterDomain = "cluster.local"
)

// socket is where a cluster address really is. The zero socket is nowhere: the
// address is none of the cluster's.
type socket struct{ network, address string }

// clusterNetworks hold the addresses that mean nothing outside the cluster.
var clusterNetworks = []netip.Prefix{
	netip.MustParsePrefix(cluster.ServiceRange),
	netip.MustParsePrefix("10.244.0.0/16"),
	netip.MustParsePrefix(nodeRange),
}

// resolve finds what listens on an address, "host:port". Names are looked up as
// in a pod of namespace.
func (a *addresses) resolve(namespace, address string) (socket, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return socket{}, err
	}
	if _, err := netip.ParseAddr(host); err != nil {
		return a.resolveName(namespace, host, port)
	}
	if host == cluster.ServiceIP {
		return socket{"tcp", a.apiServer}, nil
	}
	service, err := a.serviceOf(host)
	if err != nil {
		return socket{}, err
	}
	if service != nil {
		return a.resolveService(service, port, "")
	}
	return a.resolveAddress(host, port)
}

// resolveAddress finds the listener of a pod's or node's address.
func (a *addresses) resolveAddress(host, port string) (socket, error) {
	address := net.JoinHostPort(host, port)
	a.mu.Lock()
	path, open := a.open[address]
	a.mu.Unlock()
	if open {
		return socket{"unix", path}, nil
	}
	if port == strconv.Itoa(cluster.KubeletPort) {
		if isNode, err := a.isNode(host); err != nil {
			return socket{}, err
		} else if isNode {
			return socket{"unix", cluster.KubeletSocket}, nil
		}
	}
	number, err := netip.ParseAddr(host)
	if err != nil {
		return socket{}, err
	}
	for _, n := range clusterNetworks {
		if n.Contains(number) {
			return socket{}, fmt.Errorf("nothing listens on %s in the cluster", address)
		}
	}
	return socket{}, nil
}

func (a *addresses) isNode(host string) (bool, error) {
	nodes, err := a.nodes.List(labels.Everything())
	if err != nil {
		return false, err
	}
	for _, n := range nodes {
		if internalIP(n) == host {
			return true, nil
		}
	}
	return false, nil
}

// serviceOf returns the Service with a cluster address, or nil.
func (a *addresses) serviceOf(ip string) (*corev1.Service, error) {
	services, err := a.services.List(labels.Everything())
	if err != nil {
		return nil, err
	}
	for _, s := range services {
		if s.Spec.ClusterIP == ip {
			return s, nil
		}
	}
	return nil, nil
}

// serviceName is a Service, or a pod of a headless one, as DNS names it.
type serviceName struct{ pod, service, namespace string }

// readName returns what a host name may mean in a pod of namespace, most
// specific first: [pod.]service[.namespace[.svc[.cluster.local]]]. The result
// is sure when the name can be nothing but one of the cluster's.
func readName(host, namespace string) (names []serviceName, sure bool) {
	name := strings.TrimSuffix(strings.TrimSuffix(host, "."), "."+clusterDomain)
	name, sure = strings.CutSuffix(name, ".svc")
	parts := strings.Split(name, ".")
	switch {
	case len(parts) == 1 && !sure:
		return []serviceName{{service: parts[0], namespace: namespace}}, false
	case len(parts) == 2 && sure:
		return []serviceName{{service: parts[0], namespace: parts[1]}}, true
	case len(parts) == 2:
		return []serviceName{{service: parts[0], namespace: parts[1]}, {parts[0], parts[1], namespace}}, false
	case len(parts) == 3:
		return []serviceName{{parts[0], parts[1], parts[2]}}, sure
	default:
		return nil, false
	}
}

// resolveName finds what a name of the cluster's DNS means.
func (a *addresses) resolveName(namespace, host, port string) (socket, error) {
	names, sure := readName(host, namespace)
	for _, name := range names {
		if name.service == "kubernetes" && name.namespace == "default" {
			return socket{"tcp", a.apiServer}, nil
		}
		s, err := a.services.Services(name.namespace).Get(name.service)
		switch {
		case err == nil:
			return a.resolveService(s, port, name.pod)
		case sure:
			return socket{}, fmt.Errorf("looking up %s: %w", host, err)
		}
	}
	return socket{}, nil // a name such as example.org
}

// resolveService finds a ready pod of a Service: the one of a host name, or any.
func (a *addresses) resolveService(s *corev1.Service, port, pod string) (socket, error) {
	if s.Spec.Type == corev1.ServiceTypeExternalName {
		return socket{}, fmt.Errorf("service %s/%s stands for the name %s outside the cluster; dial that", s.Namespace, s.Name, s.Spec.ExternalName)
	}
	headless := s.Spec.ClusterIP == corev1.ClusterIPNone
	var wanted *corev1.ServicePort
	for i, p := range s.Spec.Ports {
		if strconv.Itoa(int(p.Port)) == port {
			wanted = &s.Spec.Ports[i]
		}
	}
	// The name of a headless Service is that of its pods, with all their ports.
	if wanted == nil && !headless {
		return socket{}, fmt.Errorf("service %s/%s has no port %s", s.Namespace, s.Name, port)
	}
	slices, err := a.slices.EndpointSlices(s.Namespace).List(labels.SelectorFromSet(labels.Set{discoveryv1.LabelServiceName: s.Name}))
	if err != nil {
		return socket{}, err
	}
	var ready []string
	for _, slice := range slices {
		target := port
		if !headless {
			if target = targetPort(slice, wanted.Name); target == "" {
				continue
			}
		}
		for _, e := range slice.Endpoints {
			usable := e.Conditions.Ready == nil || *e.Conditions.Ready || s.Spec.PublishNotReadyAddresses
			named := pod == "" || e.Hostname != nil && *e.Hostname == pod
			if len(e.Addresses) > 0 && usable && named {
				ready = append(ready, net.JoinHostPort(e.Addresses[0], target))
			}
		}
	}
	if len(ready) == 0 {
		return socket{}, fmt.Errorf("service %s/%s has no ready pod for port %s", s.Namespace, s.Name, port)
	}
	a.mu.Lock()
	a.turn++
	chosen := ready[a.turn%len(ready)]
	a.mu.Unlock()
	host, target, err := net.SplitHostPort(chosen)
	if err != nil {
		return socket{}, err
	}
	return a.resolveAddress(host, target)
}

// targetPort is the port of the pods of a slice that a Service's port means.
func targetPort(slice *discoveryv1.EndpointSlice, name string) string {
	for _, p := range slice.Ports {
		if p.Port != nil && p.Name != nil && *p.Name == name {
			return strconv.Itoa(int(*p.Port))
		}
	}
	return ""
}
