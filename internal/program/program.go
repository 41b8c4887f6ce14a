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
	"io"
	"net"
	"path"
	"path/filepath"
	"strings"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2/textlogger"
)

// Program runs until ctx ends or it fails. A nil error is exit code 0, any
// other is exit code 1; a panic is exit code 2, in a goroutine that Pod.Go
// started, too. One in a goroutine of the program's own making ends the whole
// node process.
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
	// It closes with the program.
	Listener func(port int) (net.Listener, error)
	// Dial connects as a process of a pod would: the names and addresses of
	// Services, pods and the API server mean those of the cluster, all others
	// what they mean on this machine.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Log is the container's output, which kubectl logs shows.
	Log io.Writer
	// Go runs f beside the program. The container ends when the program and
	// all that it started so have.
	Go func(f func())
	// OnExec sets what answers kubectl exec and exec probes. Without it they
	// are refused, since a program has no shell.
	OnExec func(ExecHandler)
}

// Exec is a command that somebody runs in a container.
type Exec struct {
	Command        []string
	Stdin          io.Reader // nil when there is none
	Stdout, Stderr io.Writer
}

// ExecHandler runs a command. A nil error is exit code 0, any other is exit
// code 1 with the error on Stderr.
type ExecHandler func(ctx context.Context, e Exec) error

// Logger writes to the container's output.
func (p *Pod) Logger() logr.Logger {
	out := p.Log
	if out == nil {
		out = io.Discard
	}
	return textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(out)))
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
