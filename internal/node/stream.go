package node

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	remotecommandconsts "k8s.io/apimachinery/pkg/util/remotecommand"
	clientremotecommand "k8s.io/client-go/tools/remotecommand"
	"k8s.io/kubelet/pkg/cri/streaming/portforward"
	"k8s.io/kubelet/pkg/cri/streaming/remotecommand"
	utilexec "k8s.io/utils/exec"

	"github.com/krops-go/krops/internal/program"
)

const (
	streamIdle   = 4 * time.Hour
	streamCreate = 30 * time.Second
	// exitNoCommand is the shell's code for a command that cannot be run.
	exitNoCommand = 126
)

// exec runs a command in the container, if its program answers commands.
func (k *kubelet) exec(w http.ResponseWriter, req *http.Request, c *container) {
	options, err := remotecommand.NewOptions(req)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	remotecommand.ServeExec(w, req, executor{c}, c.pod.Name, c.pod.UID, c.spec.Name, req.URL.Query()["command"],
		options, streamIdle, streamCreate, remotecommandconsts.SupportedStreamingProtocols)
}

type executor struct{ *container }

func (e executor) ExecInContainer(ctx context.Context, _ string, _ types.UID, _ string, command []string, in io.Reader, out, errOut io.WriteCloser, _ bool, _ <-chan clientremotecommand.TerminalSize, _ time.Duration) error {
	if errOut == nil { // with a terminal there is one stream only
		errOut = out
	}
	handler := e.execHandler()
	if handler == nil {
		why := "it runs a program of krops and has no shell and no files to run"
		if e.program == nil {
			why = "no program stands for its image, and it only seems to run"
		}
		fmt.Fprintf(errOut, "No command can be run in container %s of pod %s: %s. kubectl logs and kubectl port-forward work.\n", e.spec.Name, e.pod.Name, why)
		return utilexec.CodeExitError{Err: fmt.Errorf("exit code %d", exitNoCommand), Code: exitNoCommand}
	}
	if err := handler(ctx, program.Exec{Command: command, Stdin: in, Stdout: orDiscard(out), Stderr: orDiscard(errOut)}); err != nil {
		fmt.Fprintln(orDiscard(errOut), err)
		return utilexec.CodeExitError{Err: err, Code: exitError}
	}
	return nil
}

func orDiscard(w io.Writer) io.Writer {
	if w == nil {
		return io.Discard
	}
	return w
}

// attach shows what the container writes from now on.
func (k *kubelet) attach(w http.ResponseWriter, req *http.Request, c *container) {
	http.Error(w, fmt.Sprintf("container %s cannot be attached to: it is no process of its own; kubectl logs -f shows what it writes", c.spec.Name), http.StatusBadRequest)
}

func (k *kubelet) portForward(w http.ResponseWriter, req *http.Request) {
	r := k.find(req)
	if r == nil {
		http.Error(w, fmt.Sprintf("pod %q does not run here", req.PathValue("pod")), http.StatusNotFound)
		return
	}
	options, err := portforward.NewV4Options(req)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	portforward.ServePortForward(w, req, forwarder{r}, r.pod.Name, r.pod.UID, options, streamIdle, streamCreate, portforward.SupportedProtocols)
}

type forwarder struct{ *run }

func (f forwarder) PortForward(ctx context.Context, _ string, _ types.UID, port int32, stream io.ReadWriteCloser) error {
	defer stream.Close()
	backend, err := f.addresses.dial(ctx, net.JoinHostPort(f.ip, strconv.Itoa(int(port))))
	if err != nil {
		return err
	}
	defer backend.Close()
	var both sync.WaitGroup
	both.Go(func() {
		_, _ = io.Copy(backend, stream)
		closeWrite(backend)
	})
	_, err = io.Copy(stream, backend)
	// The other direction ends when the client hears of it.
	_ = stream.Close()
	_ = backend.Close()
	both.Wait()
	return err
}
