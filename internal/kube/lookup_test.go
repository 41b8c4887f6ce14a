package kube

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/krops-go/krops/internal/presence"
)

func TestLookup(t *testing.T) {
	resource := schema.GroupResource{Resource: "secrets"}
	key := client.ObjectKey{Namespace: "a", Name: "b"}
	tests := []struct {
		name   string
		answer error
		want   presence.Presence
	}{
		{"the object is there", nil, presence.Present},
		{"the server says it is not", apierrors.NewNotFound(resource, "b"), presence.Absent},
		{"the server speaks of something else", apierrors.NewNotFound(resource, "c"), presence.Unknown},
		{"the server rejects the credential", apierrors.NewUnauthorized("token expired"), presence.Unknown},
		{"the server refuses", apierrors.NewForbidden(resource, "b", errors.New("no")), presence.Unknown},
		{"the server is busy", apierrors.NewTooManyRequests("later", 1), presence.Unknown},
		{"nobody answers", errors.New("connection refused"), presence.Unknown},
		{"time is over", context.DeadlineExceeded, presence.Unknown},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := fake.NewClientBuilder().WithScheme(newScheme()).WithInterceptorFuncs(interceptor.Funcs{
				Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
					return test.answer
				},
			}).Build()
			got, err := Lookup(t.Context(), c, key, &corev1.Secret{})
			if got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
			if (err != nil) != (test.want == presence.Unknown) {
				t.Errorf("outcome %s came with error %v", got, err)
			}
			if got == presence.Unknown && !errors.Is(err, test.answer) {
				t.Errorf("error %v lost its cause", err)
			}
		})
	}

	t.Run("a 404 that no Kubernetes API wrote", func(t *testing.T) {
		server := httptest.NewServer(http.NotFoundHandler())
		defer server.Close()
		mapper := meta.NewDefaultRESTMapper(nil)
		mapper.Add(corev1.SchemeGroupVersion.WithKind("Secret"), meta.RESTScopeNamespace)
		c, err := client.New(&rest.Config{Host: server.URL}, client.Options{Scheme: newScheme(), Mapper: mapper})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Lookup(t.Context(), c, key, &corev1.Secret{}); got != presence.Unknown {
			t.Errorf("got %s, %v; want unknown", got, err)
		}
	})

	t.Run("the zero value is no answer", func(t *testing.T) {
		var forgotten presence.Presence
		if forgotten != presence.Unknown {
			t.Errorf("zero value is %s", forgotten)
		}
	})
}
