package node

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// environment resolves a container's environment variables.
func (r *run) environment(c corev1.Container) (map[string]string, error) {
	env := map[string]string{}
	for _, from := range c.EnvFrom {
		var data map[string]string
		var err error
		switch {
		case from.ConfigMapRef != nil:
			data, err = r.configMap(from.ConfigMapRef.Name, from.ConfigMapRef.Optional)
		case from.SecretRef != nil:
			data, err = r.secret(from.SecretRef.Name, from.SecretRef.Optional)
		}
		if err != nil {
			return nil, err
		}
		for k, v := range data {
			env[from.Prefix+k] = v
		}
	}
	for _, e := range c.Env {
		value, present, err := r.variable(e)
		if err != nil {
			return nil, fmt.Errorf("environment variable %s of container %s: %w", e.Name, c.Name, err)
		}
		if present {
			env[e.Name] = value
		}
	}
	return env, nil
}

func (r *run) variable(e corev1.EnvVar) (value string, present bool, err error) {
	if e.ValueFrom == nil {
		return e.Value, true, nil
	}
	pick := func(data map[string]string, err error, source, key string, optional *bool) (string, bool, error) {
		if err != nil {
			return "", false, err
		}
		value, ok := data[key]
		if !ok && !ptr.Deref(optional, false) {
			return "", false, fmt.Errorf("%s has no key %q", source, key)
		}
		return value, ok, nil
	}
	switch from := e.ValueFrom; {
	case from.FieldRef != nil:
		value, err := r.field(from.FieldRef.FieldPath)
		return value, err == nil, err
	case from.ConfigMapKeyRef != nil:
		ref := from.ConfigMapKeyRef
		data, err := r.configMap(ref.Name, ref.Optional)
		return pick(data, err, "ConfigMap "+ref.Name, ref.Key, ref.Optional)
	case from.SecretKeyRef != nil:
		ref := from.SecretKeyRef
		data, err := r.secret(ref.Name, ref.Optional)
		return pick(data, err, "Secret "+ref.Name, ref.Key, ref.Optional)
	default:
		return "", false, fmt.Errorf("a node of an embedded cluster knows no such source")
	}
}

func (r *run) configMap(name string, optional *bool) (map[string]string, error) {
	cm, err := r.client.CoreV1().ConfigMaps(r.pod.Namespace).Get(r.ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) && ptr.Deref(optional, false) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return cm.Data, nil
}

func (r *run) secret(name string, optional *bool) (map[string]string, error) {
	secret, err := r.client.CoreV1().Secrets(r.pod.Namespace).Get(r.ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) && ptr.Deref(optional, false) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	data := map[string]string{}
	for k, v := range secret.Data {
		data[k] = string(v)
	}
	return data, nil
}

// field returns a field of the pod as the downward API spells it.
func (r *run) field(path string) (string, error) {
	if key, ok := strings.CutPrefix(path, "metadata.labels['"); ok {
		return r.pod.Labels[strings.TrimSuffix(key, "']")], nil
	}
	if key, ok := strings.CutPrefix(path, "metadata.annotations['"); ok {
		return r.pod.Annotations[strings.TrimSuffix(key, "']")], nil
	}
	switch path {
	case "metadata.name":
		return r.pod.Name, nil
	case "metadata.namespace":
		return r.pod.Namespace, nil
	case "metadata.uid":
		return string(r.pod.UID), nil
	case "spec.nodeName":
		return r.pod.Spec.NodeName, nil
	case "spec.serviceAccountName":
		return r.pod.Spec.ServiceAccountName, nil
	case "status.podIP", "status.podIPs":
		return r.ip, nil
	default:
		return "", fmt.Errorf("field %s is not known", path)
	}
}
