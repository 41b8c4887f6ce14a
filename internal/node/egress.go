package node

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"

	"k8s.io/klog/v2"

	"github.com/krops-go/krops/internal/cluster"
)

// serveEgress answers the API server's CONNECT requests, each for one
// connection to an address of the cluster, until ctx ends.
func serveEgress(ctx context.Context, a *addresses) error {
	if err := os.Remove(cluster.EgressSocket); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	l, err := net.Listen("unix", cluster.EgressSocket)
	if err != nil {
		return fmt.Errorf("egress proxy: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	for {
		c, err := l.Accept()
		if err != nil {
			return fmt.Errorf("egress proxy: %w", err)
		}
		go func() {
			defer c.Close()
			if err := proxy(ctx, c, a); err != nil && ctx.Err() == nil {
				klog.V(2).InfoS("Egress connection failed", "err", err)
			}
		}()
	}
}

func proxy(ctx context.Context, c net.Conn, a *addresses) error {
	buffered := bufio.NewReader(c)
	req, err := http.ReadRequest(buffered)
	if err != nil {
		return err
	}
	answer := func(status int, text string) error {
		_, err := fmt.Fprintf(c, "HTTP/1.1 %d %s\r\nContent-Length: %d\r\n\r\n%s", status, http.StatusText(status), len(text), text)
		return err
	}
	if req.Method != http.MethodConnect {
		return answer(http.StatusMethodNotAllowed, "this proxy answers CONNECT only")
	}
	backend, err := a.dial(ctx, req.Host)
	if err != nil {
		return errors.Join(err, answer(http.StatusBadGateway, err.Error()))
	}
	defer backend.Close()
	if _, err := io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n"); err != nil {
		return err
	}
	var both sync.WaitGroup
	both.Go(func() {
		_, _ = io.Copy(backend, buffered)
		closeWrite(backend)
	})
	both.Go(func() {
		_, _ = io.Copy(c, backend)
		closeWrite(c)
	})
	both.Wait()
	return nil
}

// closeWrite passes an end of stream on.
func closeWrite(c net.Conn) {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
}
