package node

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
)

// accountMount is where the service account admission plugin mounts the token.
const accountMount = "/var/run/secrets/kubernetes.io/serviceaccount"

// fillVolumes makes a folder of each volume and returns, for each container,
// which folder each of its mount paths means.
func (r *run) fillVolumes() ([]map[string]string, error) {
	scratch, err := filepath.Abs(r.folder("scratch"))
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(scratch, 0o700); err != nil {
		return nil, err
	}
	folders := map[string]string{}
	for _, v := range r.pod.Spec.Volumes {
		folder := filepath.Join(filepath.Dir(scratch), "volumes", v.Name)
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return nil, err
		}
		if err := r.fill(folder, v); err != nil {
			return nil, fmt.Errorf("volume %q: %w", v.Name, err)
		}
		folders[v.Name] = folder
	}
	mounts := make([]map[string]string, len(r.pod.Spec.Containers))
	for i, c := range r.pod.Spec.Containers {
		mounts[i] = map[string]string{"/": scratch}
		for _, m := range c.VolumeMounts {
			mounts[i][path.Clean(m.MountPath)] = filepath.Join(folders[m.Name], m.SubPath)
		}
	}
	return mounts, nil
}

func (r *run) fill(folder string, v corev1.Volume) error {
	switch {
	case v.EmptyDir != nil:
		return nil
	case v.ConfigMap != nil:
		return r.fillConfigMap(folder, v.ConfigMap.Name, v.ConfigMap.Items, v.ConfigMap.Optional)
	case v.Secret != nil:
		return r.fillSecret(folder, v.Secret.SecretName, v.Secret.Items, v.Secret.Optional)
	case v.DownwardAPI != nil:
		return r.fillFields(folder, v.DownwardAPI.Items)
	case v.Projected != nil:
		for _, s := range v.Projected.Sources {
			if err := r.fillProjection(folder, s); err != nil {
				return err
			}
		}
		return nil
	default:
		return fmt.Errorf("a node of an embedded cluster has no volumes of this kind")
	}
}

func (r *run) fillProjection(folder string, s corev1.VolumeProjection) error {
	switch {
	case s.ServiceAccountToken != nil:
		return r.fillToken(folder, s.ServiceAccountToken)
	case s.ConfigMap != nil:
		return r.fillConfigMap(folder, s.ConfigMap.Name, s.ConfigMap.Items, s.ConfigMap.Optional)
	case s.Secret != nil:
		return r.fillSecret(folder, s.Secret.Name, s.Secret.Items, s.Secret.Optional)
	case s.DownwardAPI != nil:
		return r.fillFields(folder, s.DownwardAPI.Items)
	default:
		return fmt.Errorf("a node of an embedded cluster has no projections of this kind")
	}
}

func (r *run) fillConfigMap(folder, name string, items []corev1.KeyToPath, optional *bool) error {
	cm, err := r.client.CoreV1().ConfigMaps(r.pod.Namespace).Get(r.ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) && ptr.Deref(optional, false) {
		return nil
	}
	if err != nil {
		return err
	}
	data := map[string][]byte{}
	for k, v := range cm.Data {
		data[k] = []byte(v)
	}
	for k, v := range cm.BinaryData {
		data[k] = v
	}
	return writeItems(folder, "ConfigMap "+name, data, items)
}

func (r *run) fillSecret(folder, name string, items []corev1.KeyToPath, optional *bool) error {
	secret, err := r.client.CoreV1().Secrets(r.pod.Namespace).Get(r.ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) && ptr.Deref(optional, false) {
		return nil
	}
	if err != nil {
		return err
	}
	return writeItems(folder, "Secret "+name, secret.Data, items)
}

// writeItems writes the chosen keys of data, or all when none are chosen.
func writeItems(folder, source string, data map[string][]byte, items []corev1.KeyToPath) error {
	if len(items) == 0 {
		for k := range data {
			items = append(items, corev1.KeyToPath{Key: k, Path: k})
		}
	}
	for _, item := range items {
		content, ok := data[item.Key]
		if !ok {
			return fmt.Errorf("%s has no key %q", source, item.Key)
		}
		if err := writeFile(folder, item.Path, content); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) fillFields(folder string, items []corev1.DownwardAPIVolumeFile) error {
	for _, item := range items {
		if item.FieldRef == nil {
			return fmt.Errorf("file %s: only fieldRef is known", item.Path)
		}
		value, err := r.field(item.FieldRef.FieldPath)
		if err != nil {
			return fmt.Errorf("file %s: %w", item.Path, err)
		}
		if err := writeFile(folder, item.Path, []byte(value)); err != nil {
			return err
		}
	}
	return nil
}

// fillToken writes a service account token and keeps it fresh while the pod
// runs.
func (r *run) fillToken(folder string, p *corev1.ServiceAccountTokenProjection) error {
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		ExpirationSeconds: p.ExpirationSeconds,
		BoundObjectRef:    &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: r.pod.Name, UID: r.pod.UID},
	}}
	if p.Audience != "" {
		request.Spec.Audiences = []string{p.Audience}
	}
	issue := func() (time.Time, error) {
		answer, err := r.client.CoreV1().ServiceAccounts(r.pod.Namespace).CreateToken(r.ctx, r.pod.Spec.ServiceAccountName, request, metav1.CreateOptions{})
		if err != nil {
			return time.Time{}, fmt.Errorf("token of service account %s: %w", r.pod.Spec.ServiceAccountName, err)
		}
		return answer.Status.ExpirationTimestamp.Time, writeFile(folder, p.Path, []byte(answer.Status.Token))
	}
	expires, err := issue()
	if err != nil {
		return err
	}
	go func() {
		for {
			// A kubelet renews at four fifths of the life, too.
			wait := time.Until(expires) * 4 / 5
			if err != nil {
				wait = time.Minute
			}
			select {
			case <-r.ctx.Done():
				return
			case <-time.After(wait):
			}
			var next time.Time
			if next, err = issue(); err == nil {
				expires = next
			}
			r.complain("renewing a token", err)
		}
	}()
	return nil
}

func writeFile(folder, name string, content []byte) error {
	if !filepath.IsLocal(name) {
		return fmt.Errorf("path %q leaves the volume", name)
	}
	target := filepath.Join(folder, name)
	if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
		return err
	}
	return os.WriteFile(target, content, 0o600)
}

// podConfig reaches the API server as the pod's service account, or as nobody
// when no token is mounted.
func (r *run) podConfig(mounts map[string]string) *rest.Config {
	config := rest.CopyConfig(r.config)
	if folder, ok := mounts[accountMount]; ok {
		config.BearerTokenFile = filepath.Join(folder, "token")
	}
	return config
}
