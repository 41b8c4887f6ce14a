package node

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// field returns a field of the pod as the downward API spells it.
func (r *run) field(path string) (string, error) {
	pod := r.latest()
	if name, key, ok := cutSubscript(path); ok {
		switch name {
		case "metadata.labels":
			return pod.Labels[key], nil
		case "metadata.annotations":
			return pod.Annotations[key], nil
		}
		return "", fmt.Errorf("field %s is not known", path)
	}
	switch path {
	case "metadata.name":
		return pod.Name, nil
	case "metadata.namespace":
		return pod.Namespace, nil
	case "metadata.uid":
		return string(pod.UID), nil
	case "metadata.labels":
		return formatMap(pod.Labels), nil
	case "metadata.annotations":
		return formatMap(pod.Annotations), nil
	case "spec.nodeName":
		return pod.Spec.NodeName, nil
	case "spec.serviceAccountName":
		return pod.Spec.ServiceAccountName, nil
	case "status.podIP", "status.podIPs":
		return r.ip, nil
	case "status.hostIP", "status.hostIPs":
		return r.hostIP(), nil
	default:
		return "", fmt.Errorf("field %s is not known", path)
	}
}

// cutSubscript splits metadata.labels['key'].
func cutSubscript(path string) (name, key string, ok bool) {
	name, rest, ok := strings.Cut(path, "['")
	if !ok {
		return "", "", false
	}
	key, ok = strings.CutSuffix(rest, "']")
	return name, key, ok
}

// formatMap writes labels or annotations as files of the downward API hold
// them.
func formatMap(m map[string]string) string {
	var lines []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		lines = append(lines, k+"="+strconv.Quote(m[k]))
	}
	return strings.Join(lines, "\n")
}

// resourceField returns a request or limit of a container of the pod, in units
// of the selector's divisor. A limit that is not set is what the node has.
func (r *run) resourceField(selector *corev1.ResourceFieldSelector, container string) (string, error) {
	if selector.ContainerName != "" {
		container = selector.ContainerName
	}
	group, name, ok := strings.Cut(selector.Resource, ".")
	if !ok {
		return "", fmt.Errorf("resource %s is not known", selector.Resource)
	}
	var spec *corev1.Container
	for _, c := range append(slices.Clone(r.pod.Spec.InitContainers), r.pod.Spec.Containers...) {
		if c.Name == container {
			spec = &c
		}
	}
	if spec == nil {
		return "", fmt.Errorf("resource %s: the pod has no container %q", selector.Resource, container)
	}
	var quantity resource.Quantity
	switch group {
	case "requests":
		quantity = spec.Resources.Requests[corev1.ResourceName(name)]
	case "limits":
		var limited bool
		if quantity, limited = spec.Resources.Limits[corev1.ResourceName(name)]; !limited {
			node, err := r.nodes.Get(r.pod.Spec.NodeName)
			if err != nil {
				return "", err
			}
			quantity = node.Status.Allocatable[corev1.ResourceName(name)]
		}
	default:
		return "", fmt.Errorf("resource %s is not known", selector.Resource)
	}
	divisor := selector.Divisor
	if divisor.IsZero() {
		divisor = resource.MustParse("1")
	}
	// Both in thousandths, for parts of a CPU; rounded up.
	value, unit := quantity.MilliValue(), divisor.MilliValue()
	return strconv.FormatInt((value+unit-1)/unit, 10), nil
}
