package node

import (
	"context"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
	internalapi "k8s.io/cri-api/pkg/apis"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/cri-client/pkg/logs"
	"k8s.io/klog/v2"
)

// readLog writes a container's log as the options want it. One that is followed
// ends with the container.
func readLog(ctx context.Context, path string, o *corev1.PodLogOptions, c *container, out io.Writer) error {
	logger := klog.FromContext(ctx)
	return logs.ReadLogs(ctx, &logger, path, "", logs.NewLogOptions(o, time.Now()), following{c: c}, out, out)
}

// following tells the reader of a log whether the container still runs, which
// is all it asks of a container runtime.
type following struct {
	internalapi.RuntimeService
	c *container
}

func (f following) ContainerStatus(context.Context, string, bool) (*runtimeapi.ContainerStatusResponse, error) {
	state := runtimeapi.ContainerState_CONTAINER_EXITED
	if f.c.snapshot().State.Running != nil {
		state = runtimeapi.ContainerState_CONTAINER_RUNNING
	}
	return &runtimeapi.ContainerStatusResponse{Status: &runtimeapi.ContainerStatus{State: state}}, nil
}
