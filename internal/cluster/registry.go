package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/krops-go/krops/internal/daemon"
	"github.com/krops-go/krops/internal/dirlock"
)

// Registry is a folder with clusters, each in a folder of its name.
type Registry string

// DefaultRegistry is where a person's clusters are.
func DefaultRegistry() (Registry, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("finding the folder of the clusters: %w; name one with --dir", err)
	}
	return Registry(filepath.Join(home, ".krops", "clusters")), nil
}

// UnknownError says that there is no cluster of a name.
type UnknownError struct{ Name, Dir string }

func (e *UnknownError) Error() string {
	return fmt.Sprintf("there is no cluster %s (no %s); krops cluster list shows those that there are, krops cluster up %s makes it", e.Name, e.Dir, e.Name)
}

// Dir is the data directory of the cluster.
func (r Registry) Dir(name string) (string, error) {
	if faults := validation.IsDNS1123Label(name); len(faults) > 0 {
		return "", fmt.Errorf("cluster name %q: %s", name, strings.Join(faults, ", "))
	}
	dir, err := filepath.Abs(filepath.Join(string(r), name))
	if err != nil {
		return "", fmt.Errorf("cluster %s: %w", name, err)
	}
	return dir, nil
}

// Find returns the data directory of a cluster that exists. The error is an
// *UnknownError when it does not.
func (r Registry) Find(name string) (Layout, error) {
	dir, err := r.Dir(name)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(Layout(dir).Spec()); errors.Is(err, os.ErrNotExist) {
		return "", &UnknownError{name, dir}
	} else if err != nil {
		return "", err
	}
	return Layout(dir), nil
}

// Status is what is known of a cluster from the outside.
type Status struct {
	Name       string `json:"name"`
	Running    bool   `json:"running"`
	PID        int    `json:"pid,omitempty"` // of the control plane
	Endpoint   string `json:"endpoint"`
	Nodes      int    `json:"nodes"`
	Dir        string `json:"dir"`
	Kubeconfig string `json:"kubeconfig"`
	// Failure is why the cluster ended by itself.
	Failure string `json:"failure,omitempty"`
}

// List returns the clusters by their names. A folder that cannot be read is in
// the error; the others are returned all the same.
func (r Registry) List() ([]Status, error) {
	entries, err := os.ReadDir(string(r))
	if errors.Is(err, os.ErrNotExist) {
		return []Status{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("listing the clusters: %w", err)
	}
	list := []Status{}
	var errs []error
	for _, e := range entries {
		layout, err := r.Find(e.Name())
		if err != nil {
			continue // a folder of something else, or of a cluster on its way out
		}
		status, err := layout.status()
		if err != nil {
			errs = append(errs, fmt.Errorf("cluster %s: %w", e.Name(), err))
			continue
		}
		list = append(list, status)
	}
	return list, errors.Join(errs...)
}

func (l Layout) status() (Status, error) {
	spec, err := ReadSpec(string(l))
	if err != nil {
		return Status{}, err
	}
	holder, held, err := dirlock.Find(string(l))
	if err != nil {
		return Status{}, err
	}
	s := Status{
		Name: spec.Name, Running: held, Endpoint: spec.Endpoint(), Nodes: len(spec.Nodes),
		Dir: string(l), Kubeconfig: l.Kubeconfig(),
	}
	if held {
		s.PID = holder.PID
		return s, nil
	}
	s.Failure, err = daemon.LastFailure(string(l))
	return s, err
}

// Change brings up the cluster of a name, new or not, with the Spec it has
// after change. One that runs with another Spec is started again.
func (r Registry) Change(ctx context.Context, binary, name string, change func(*Spec)) (*Cluster, error) {
	dir, err := r.Dir(name)
	if err != nil {
		return nil, err
	}
	old, err := ReadSpec(dir)
	isNew := errors.Is(err, os.ErrNotExist)
	if err != nil && !isNew {
		return nil, err
	}
	spec := old
	spec.Name = name
	change(&spec)
	if !isNew && !reflect.DeepEqual(old, spec) {
		if old.Issuer == old.Endpoint() && spec.Issuer == old.Issuer {
			spec.Issuer = "" // it goes with the port
		}
		if err := Stop(ctx, dir); err != nil {
			return nil, fmt.Errorf("cluster %s: starting it again with other settings: %w", name, err)
		}
	}
	return Up(ctx, binary, dir, spec)
}
