package kube

import (
	"errors"
	"io"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/discovery"
)

// retryable tells failures that pass by themselves (a webhook or a kind that is not served yet, a server that is busy
// or restarting) from answers that stay the same however often one asks.
func retryable(err error) bool {
	if meta.IsNoMatchError(err) || discovery.IsGroupDiscoveryFailedError(errors.Unwrap(err)) || discovery.IsGroupDiscoveryFailedError(err) {
		return true
	}
	if utilnet.IsConnectionRefused(err) || utilnet.IsConnectionReset(err) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return true
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return false
	}
	switch code := status.Status().Code; {
	case code >= http.StatusInternalServerError, code == http.StatusTooManyRequests:
		// 500 is what a webhook that does not answer looks like.
		return true
	case code == http.StatusConflict:
		// Ownership is forced, so this is another writer in between.
		return true
	case code == http.StatusNotFound:
		// The server's words for a path that no API serves, as against an object or namespace that is missing.
		return strings.Contains(status.Status().Message, "could not find the requested resource")
	}
	return false
}
