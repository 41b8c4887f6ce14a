package kube

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/krops-go/krops/internal/presence"
)

// Lookup reads the object of that key into object. The error is set exactly when the outcome is Unknown.
//
// A kind that is not served, a missing permission and a rejected credential are Unknown: after a pivot to the wrong
// endpoint all three look like an empty cluster.
func Lookup(ctx context.Context, c client.Reader, key client.ObjectKey, object client.Object) (presence.Presence, error) {
	err := c.Get(ctx, key, object)
	if err == nil {
		return presence.Present, nil
	}
	if saysAbsent(err, key.Name) {
		return presence.Absent, nil
	}
	return presence.Unknown, fmt.Errorf("look up %s %s: %w", kindOf(object), key, err)
}

// saysAbsent tells the answer "no such object" from a 404 of something that is not the object's API, like a proxy or
// a server that does not serve the kind.
func saysAbsent(err error, name string) bool {
	if !apierrors.IsNotFound(err) {
		return false
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return false
	}
	details := status.Status().Details
	if details == nil || details.Name != name {
		return false
	}
	// client-go marks a body that is not an API status with this cause.
	for _, cause := range details.Causes {
		if cause.Type == metav1.CauseTypeUnexpectedServerResponse {
			return false
		}
	}
	return true
}

// kindOf names an object's kind also when it is a Go type that nobody has stamped with one.
func kindOf(object client.Object) string {
	if kind := object.GetObjectKind().GroupVersionKind().Kind; kind != "" {
		return kind
	}
	return reflect.Indirect(reflect.ValueOf(object)).Type().Name()
}
