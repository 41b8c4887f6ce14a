package node

import (
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/krops-go/krops/internal/cluster"
)

// environment resolves a container's environment variables. A value may refer
// to the variables before it.
func (r *run) environment(c corev1.Container) (map[string]string, error) {
	env := map[string]string{"KUBERNETES_SERVICE_HOST": cluster.ServiceIP, "KUBERNETES_SERVICE_PORT": "443"}
	for _, from := range c.EnvFrom {
		var data map[string]string
		var err error
		switch {
		case from.ConfigMapRef != nil:
			data, err = r.configMapText(from.ConfigMapRef.Name, from.ConfigMapRef.Optional)
		case from.SecretRef != nil:
			data, err = r.secretText(from.SecretRef.Name, from.SecretRef.Optional)
		}
		if err != nil {
			return nil, err
		}
		for k, v := range data {
			env[from.Prefix+k] = v
		}
	}
	for _, e := range c.Env {
		value, present, err := r.variable(e, c.Name, env)
		if err != nil {
			return nil, fmt.Errorf("environment variable %s of container %s: %w", e.Name, c.Name, err)
		}
		if present {
			env[e.Name] = value
		}
	}
	return env, nil
}

func (r *run) variable(e corev1.EnvVar, container string, env map[string]string) (value string, present bool, err error) {
	if e.ValueFrom == nil {
		return expand(e.Value, env), true, nil
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
	case from.ResourceFieldRef != nil:
		value, err := r.resourceField(from.ResourceFieldRef, container)
		return value, err == nil, err
	case from.ConfigMapKeyRef != nil:
		ref := from.ConfigMapKeyRef
		data, err := r.configMapText(ref.Name, ref.Optional)
		return pick(data, err, "ConfigMap "+ref.Name, ref.Key, ref.Optional)
	case from.SecretKeyRef != nil:
		ref := from.SecretKeyRef
		data, err := r.secretText(ref.Name, ref.Optional)
		return pick(data, err, "Secret "+ref.Name, ref.Key, ref.Optional)
	default:
		return "", false, fmt.Errorf("a node of an embedded cluster knows no such source")
	}
}

// configMapText and secretText return the text entries. An absent object that
// is optional has none.
func (r *run) configMapText(name string, optional *bool) (map[string]string, error) {
	data, err := r.configMap(name, optional)
	return text(data), err
}

func (r *run) secretText(name string, optional *bool) (map[string]string, error) {
	data, err := r.secret(name, optional)
	return text(data), err
}

func text(data map[string][]byte) map[string]string {
	out := make(map[string]string, len(data))
	for k, v := range data {
		out[k] = string(v)
	}
	return out
}

func (r *run) configMap(name string, optional *bool) (map[string][]byte, error) {
	cm, err := r.client.CoreV1().ConfigMaps(r.pod.Namespace).Get(r.ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) && ptr.Deref(optional, false) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	data := map[string][]byte{}
	for k, v := range cm.Data {
		data[k] = []byte(v)
	}
	maps.Copy(data, cm.BinaryData)
	return data, nil
}

func (r *run) secret(name string, optional *bool) (map[string][]byte, error) {
	secret, err := r.client.CoreV1().Secrets(r.pod.Namespace).Get(r.ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) && ptr.Deref(optional, false) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return secret.Data, nil
}
