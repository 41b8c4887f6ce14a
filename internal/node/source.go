package node

import (
	"fmt"
	"os"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// A kubelet's default is 0644, and modes may open files to groups and others.
// Here programs run as the user of the node, on a machine that may have other
// users, so files are for their owner only.
const (
	defaultMode = 0o600
	ownerOnly   = 0o700
)

// collect reads what a volume is made of. The payload is nil for volumes that
// are not made of objects.
func (r *run) collect(v *volume) (p payload, next time.Time, err error) {
	c := collector{run: r, volume: v, payload: payload{}}
	switch s := v.spec; {
	case s.ConfigMap != nil:
		err = c.configMap(s.ConfigMap.Name, s.ConfigMap.Items, s.ConfigMap.Optional, s.ConfigMap.DefaultMode)
	case s.Secret != nil:
		err = c.secret(s.Secret.SecretName, s.Secret.Items, s.Secret.Optional, s.Secret.DefaultMode)
	case s.DownwardAPI != nil:
		err = c.fields(s.DownwardAPI.Items, s.DownwardAPI.DefaultMode)
	case s.Projected != nil:
		for _, source := range s.Projected.Sources {
			if err = c.projection(source, s.Projected.DefaultMode); err != nil {
				break
			}
		}
	default:
		return nil, time.Time{}, nil
	}
	return c.payload, c.next, err
}

// collector gathers the payload of one volume.
type collector struct {
	run     *run
	volume  *volume
	payload payload
	next    time.Time // when a token must be renewed
}

func (c *collector) projection(s corev1.VolumeProjection, mode *int32) error {
	switch {
	case s.ServiceAccountToken != nil:
		return c.token(s.ServiceAccountToken, mode)
	case s.ConfigMap != nil:
		return c.configMap(s.ConfigMap.Name, s.ConfigMap.Items, s.ConfigMap.Optional, mode)
	case s.Secret != nil:
		return c.secret(s.Secret.Name, s.Secret.Items, s.Secret.Optional, mode)
	case s.DownwardAPI != nil:
		return c.fields(s.DownwardAPI.Items, mode)
	default:
		return fmt.Errorf("a node of an embedded cluster has no projections of this kind")
	}
}

func (c *collector) configMap(name string, items []corev1.KeyToPath, optional *bool, mode *int32) error {
	data, err := c.run.configMap(name, optional)
	if err != nil {
		return err
	}
	return c.items("ConfigMap "+name, data, items, ptr.Deref(optional, false), mode)
}

func (c *collector) secret(name string, items []corev1.KeyToPath, optional *bool, mode *int32) error {
	data, err := c.run.secret(name, optional)
	if err != nil {
		return err
	}
	return c.items("Secret "+name, data, items, ptr.Deref(optional, false), mode)
}

// items adds the chosen keys of data, or all when none are chosen.
func (c *collector) items(source string, data map[string][]byte, items []corev1.KeyToPath, optional bool, mode *int32) error {
	if len(items) == 0 {
		for k := range data {
			items = append(items, corev1.KeyToPath{Key: k, Path: k})
		}
	}
	for _, item := range items {
		content, ok := data[item.Key]
		switch {
		case ok:
			c.add(item.Path, content, item.Mode, mode)
		case !optional:
			return fmt.Errorf("%s has no key %q", source, item.Key)
		}
	}
	return nil
}

func (c *collector) fields(items []corev1.DownwardAPIVolumeFile, mode *int32) error {
	for _, item := range items {
		var value string
		var err error
		switch {
		case item.FieldRef != nil:
			value, err = c.run.field(item.FieldRef.FieldPath)
		case item.ResourceFieldRef != nil:
			value, err = c.run.resourceField(item.ResourceFieldRef, "")
		}
		if err != nil {
			return fmt.Errorf("file %s: %w", item.Path, err)
		}
		c.add(item.Path, []byte(value), item.Mode, mode)
	}
	return nil
}

// add adds a file with the first mode that is set.
func (c *collector) add(path string, content []byte, modes ...*int32) {
	mode := os.FileMode(defaultMode)
	for _, m := range modes {
		if m != nil {
			mode = os.FileMode(*m)
			break
		}
	}
	c.payload[path] = payloadFile{content, mode & ownerOnly}
}

// accountToken is a service account's token in a volume.
type accountToken struct {
	value string
	renew time.Time
}

// token adds a service account's token, the same until it is due for renewal.
func (c *collector) token(p *corev1.ServiceAccountTokenProjection, mode *int32) error {
	token := c.volume.tokens[p.Path]
	if now := time.Now(); now.After(token.renew) {
		r := c.run
		request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
			ExpirationSeconds: p.ExpirationSeconds,
			BoundObjectRef:    &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: r.pod.Name, UID: r.pod.UID},
		}}
		if p.Audience != "" {
			request.Spec.Audiences = []string{p.Audience}
		}
		answer, err := r.client.CoreV1().ServiceAccounts(r.pod.Namespace).CreateToken(r.ctx, r.pod.Spec.ServiceAccountName, request, metav1.CreateOptions{})
		if err != nil {
			return fmt.Errorf("token of service account %s: %w", r.pod.Spec.ServiceAccountName, err)
		}
		// A kubelet renews at four fifths of the life, too.
		life := answer.Status.ExpirationTimestamp.Sub(now)
		token = accountToken{value: answer.Status.Token, renew: now.Add(life * 4 / 5)}
		c.volume.tokens[p.Path] = token
	}
	if c.next.IsZero() || token.renew.Before(c.next) {
		c.next = token.renew
	}
	c.add(p.Path, []byte(token.value), mode)
	return nil
}
