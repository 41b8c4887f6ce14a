package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/krops-go/krops/internal/cluster"
)

// accountMount is where the service account admission plugin mounts the token.
const accountMount = "/var/run/secrets/kubernetes.io/serviceaccount"

// volume is one of a pod's volumes.
type volume struct {
	spec   corev1.Volume
	folder string // absolute
	// content is what the folder holds, for volumes made of objects.
	content    payload
	generation int
	tokens     map[string]accountToken // by path
}

// prepareVolumes makes a folder of each volume and fills it. It may be called
// again after an error.
func (r *run) prepareVolumes() error {
	if err := os.MkdirAll(r.absolute("scratch"), 0o700); err != nil {
		return err
	}
	for _, spec := range r.pod.Spec.Volumes {
		if r.volumes[spec.Name] == nil {
			folder, err := r.volumeFolder(spec)
			if err != nil {
				return fmt.Errorf("volume %q: %w", spec.Name, err)
			}
			r.volumes[spec.Name] = &volume{spec: spec, folder: folder, tokens: map[string]accountToken{}}
		}
		v := r.volumes[spec.Name]
		if err := os.MkdirAll(v.folder, 0o700); err != nil {
			return err
		}
		if _, err := r.sync(v); err != nil {
			return fmt.Errorf("volume %q: %w", spec.Name, err)
		}
	}
	return nil
}

// volumeFolder is where the volume lies.
func (r *run) volumeFolder(v corev1.Volume) (string, error) {
	switch {
	case v.EmptyDir != nil, v.ConfigMap != nil, v.Secret != nil, v.DownwardAPI != nil, v.Projected != nil:
		return r.absolute("volumes", v.Name), nil
	case v.PersistentVolumeClaim != nil:
		return r.claimFolder(v.PersistentVolumeClaim.ClaimName)
	case v.Ephemeral != nil:
		return r.claimFolder(r.pod.Name + "-" + v.Name)
	case v.HostPath != nil:
		return "", errors.New("hostPath volumes are refused: the programs of this node share its machine with its user; use an emptyDir or a PersistentVolumeClaim")
	default:
		return "", errors.New("a node of an embedded cluster has no volumes of this kind; it has ConfigMaps, Secrets, projections, the downward API, empty folders and claims of class " + cluster.StorageClass)
	}
}

// claimFolder is the folder of a claim's volume.
func (r *run) claimFolder(name string) (string, error) {
	claim, err := r.client.CoreV1().PersistentVolumeClaims(r.pod.Namespace).Get(r.ctx, name, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	if claim.Status.Phase != corev1.ClaimBound {
		return "", fmt.Errorf("claim %s is not bound", name)
	}
	bound, err := r.client.CoreV1().PersistentVolumes().Get(r.ctx, claim.Spec.VolumeName, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	if bound.Spec.CSI == nil || bound.Spec.CSI.Driver != cluster.StorageDriver {
		return "", fmt.Errorf("claim %s is bound to volume %s, which is not of class %s", name, bound.Name, cluster.StorageClass)
	}
	return filepath.Join(r.dir, cluster.Layout(".").Volume(bound.Spec.CSI.VolumeHandle)), nil
}

// mounts maps the paths of a container's volume mounts to folders.
func (r *run) mounts(c corev1.Container, env map[string]string) (map[string]string, error) {
	mounts := map[string]string{"/": r.absolute("scratch")}
	for _, m := range c.VolumeMounts {
		sub := m.SubPath
		if m.SubPathExpr != "" {
			sub = expand(m.SubPathExpr, env)
		}
		if sub != "" && !filepath.IsLocal(sub) {
			return nil, fmt.Errorf("mount of %s: path %q leaves the volume", m.Name, sub)
		}
		v, ok := r.volumes[m.Name]
		if !ok {
			return nil, fmt.Errorf("mount of %s: the pod has no such volume", m.Name)
		}
		target := filepath.Join(v.folder, sub)
		if _, err := os.Stat(target); errors.Is(err, os.ErrNotExist) && sub != "" {
			if err := os.MkdirAll(target, 0o700); err != nil {
				return nil, fmt.Errorf("mount of %s: %w", m.Name, err)
			}
		}
		mounts[path.Clean(m.MountPath)] = target
	}
	return mounts, nil
}

// sync brings the volume's folder to what the objects say now, and returns
// when it shall be brought again even if nothing happens; zero is never.
func (r *run) sync(v *volume) (time.Time, error) {
	content, next, err := r.collect(v)
	if err != nil || content == nil {
		return time.Time{}, err
	}
	if v.content != nil && v.content.equal(content) {
		return next, nil
	}
	if err := writePayload(v.folder, v.generation+1, content); err != nil {
		return time.Time{}, err
	}
	v.generation++
	v.content = content
	return next, nil
}

const (
	refreshAgain = 10 * time.Second // after a refresh that failed
	refreshNever = 24 * time.Hour
)

// refresh keeps the volumes in step with what they are made of until ctx ends.
// What cannot be read any more stays as it was.
func (r *run) refresh(ctx context.Context) {
	said := map[string]string{}
	for {
		wait := refreshNever
		for name, v := range r.volumes {
			next, err := r.sync(v)
			switch {
			case ctx.Err() != nil:
				return
			case err != nil:
				wait = min(wait, refreshAgain)
				if said[name] != err.Error() {
					r.events.Eventf(r.pod, corev1.EventTypeWarning, "FailedMount", "Refreshing volume %q: %v", name, err)
				}
				said[name] = err.Error()
			default:
				delete(said, name)
				if !next.IsZero() {
					wait = min(wait, time.Until(next))
				}
			}
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-r.poked:
		case <-timer.C:
		}
		timer.Stop()
	}
}
