// Package program is the seam between a node and what it runs: a program is a
// Go function that stands for the container image of the same name, and a Pod
// is what the node gives it in place of a container.
//
// Programs of one node share its process, and with it the process's
// environment variables and memory limits. A program that needs an environment
// variable of the process (an SDK that reads nothing else) says so.
package program

import (
	"context"
	"net"
	"path"
	"path/filepath"
	"strings"

	"k8s.io/client-go/rest"
)

// Program runs until ctx ends or it fails. A nil error is exit code 0, any
// other is exit code 1; a panic is exit code 2.
type Program func(ctx context.Context, pod *Pod) error

// Catalog maps an image's repository (the name without tag and digest) to the
// program that stands for it.
type Catalog map[string]Program

// Lookup returns the program of an image.
func (c Catalog) Lookup(image string) (Program, bool) {
	p, ok := c[Repository(image)]
	return p, ok
}

// Repository is an image's name without tag and digest.
func Repository(image string) string {
	image, _, _ = strings.Cut(image, "@")
	if i := strings.LastIndexByte(image, ':'); i > strings.LastIndexByte(image, '/') {
		image = image[:i]
	}
	return image
}

// Pod is a running container as its program sees it.
type Pod struct {
	Namespace, Name, Container string
	// Args are the container's arguments; the command is the program itself.
	Args []string
	// Env are the container's environment variables.
	Env map[string]string
	// Config reaches the cluster as the pod's service account. Programs copy
	// it before they change it.
	Config *rest.Config
	// Mounts maps the paths of the container's volume mounts to folders of
	// this machine.
	Mounts map[string]string
	// Listener opens a port of the pod. Nothing outside the cluster reaches it.
	Listener func(port int) (net.Listener, error)
}

// Path returns where the file or folder at an absolute path of the container
// lies on this machine. A path outside all mounts is in the pod's scratch
// folder, which is Mounts["/"].
func (p *Pod) Path(inside string) string {
	inside = path.Clean(inside)
	best := "/"
	for mount := range p.Mounts {
		if (inside == mount || strings.HasPrefix(inside, mount+"/")) && len(mount) > len(best) {
			best = mount
		}
	}
	return filepath.Join(p.Mounts[best], strings.TrimPrefix(inside, best))
}
