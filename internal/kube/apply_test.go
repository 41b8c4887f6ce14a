package kube

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/yaml"
)

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	var content map[string]any
	if err := yaml.Unmarshal([]byte(text), &content); err != nil {
		t.Fatal(err)
	}
	return &unstructured.Unstructured{Object: content}
}

const (
	namespaceYAML = "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n"
	configYAML    = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: a}\ndata: {k: %q}\n"
	serviceYAML   = "apiVersion: v1\nkind: Service\nmetadata: {name: s, namespace: a}\nspec: {ports: [{port: 443}]}\n"
	hookYAML      = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {name: w}\n"
	crdYAML       = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: things.test}\n" +
		"spec: {group: test, scope: Namespaced, names: {kind: Thing, plural: things}, versions: []}\n"
)

func summary(outcomes []Outcome) []string {
	var lines []string
	for _, outcome := range outcomes {
		lines = append(lines, fmt.Sprintf("%s %s", outcome.Subject, outcome.Action))
	}
	return lines
}

// writes records the names of the kinds that are really written, in order.
type writes struct {
	mu    sync.Mutex
	kinds []string
}

func (w *writes) record(object client.Object, opts []client.PatchOption) {
	var options client.PatchOptions
	options.ApplyOptions(opts)
	if len(options.DryRun) > 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.kinds = append(w.kinds, object.GetObjectKind().GroupVersionKind().Kind)
}

func TestApply(t *testing.T) {
	objects := func(value string) []*unstructured.Unstructured {
		return []*unstructured.Unstructured{
			object(t, hookYAML), object(t, serviceYAML), object(t, fmt.Sprintf(configYAML, value)), object(t, namespaceYAML),
		}
	}
	var written writes
	c := fake.NewClientBuilder().WithScheme(newScheme()).WithInterceptorFuncs(interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			written.record(o, opts)
			return c.Patch(ctx, o, p, opts...)
		},
	}).Build()

	t.Run("creates objects, namespaces first and webhooks last", func(t *testing.T) {
		outcomes, err := Apply(t.Context(), c, objects("one"), ApplyOptions{})
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"Namespace/a created", "ConfigMap/a/c created", "Service/a/s created", "ValidatingWebhookConfiguration/w created"}
		if diff := cmp.Diff(want, summary(outcomes)); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{"Namespace", "ConfigMap", "Service", "ValidatingWebhookConfiguration"}, written.kinds); diff != "" {
			t.Error(diff)
		}
	})

	t.Run("leaves the handed-in objects as they are", func(t *testing.T) {
		handed := objects("three")
		before := []*unstructured.Unstructured{}
		for _, o := range handed {
			before = append(before, o.DeepCopy())
		}
		if _, err := Apply(t.Context(), c, handed, ApplyOptions{}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(before, handed); diff != "" {
			t.Error(diff)
		}
	})
}

// answering returns a client whose writes of the kind are answered by the function first, nil meaning "carry on".
func answering(kind string, answer func(call int) error) client.Client {
	var mu sync.Mutex
	calls := 0
	return fake.NewClientBuilder().WithScheme(newScheme()).WithInterceptorFuncs(interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			if o.GetObjectKind().GroupVersionKind().Kind == kind {
				mu.Lock()
				calls++
				call := calls
				mu.Unlock()
				if err := answer(call); err != nil {
					return err
				}
			}
			return c.Patch(ctx, o, p, opts...)
		},
	}).Build()
}

func TestApplyRetries(t *testing.T) {
	passing := map[string]error{
		"a webhook that does not answer yet": apierrors.NewInternalError(errors.New(`failed calling webhook "default.cluster.test"`)),
		"a kind that is not discovered yet":  &meta.NoKindMatchError{GroupKind: schema.GroupKind{Kind: "ConfigMap"}},
		"a kind that is not served yet":      apierrors.NewGenericServerResponse(404, "patch", schema.GroupResource{}, "c", "", 0, true),
		"a server that is busy":              apierrors.NewTooManyRequests("later", 1),
		"another writer in between":          apierrors.NewConflict(schema.GroupResource{}, "c", errors.New("modified")),
	}
	for name, failure := range passing {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				var heard []string
				c := answering("ConfigMap", func(call int) error {
					if call <= 2 {
						return failure
					}
					return nil
				})
				outcomes, err := Apply(ctx, c, []*unstructured.Unstructured{object(t, fmt.Sprintf(configYAML, "v"))},
					ApplyOptions{Progress: func(reason string) { heard = append(heard, reason) }})
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff([]string{"ConfigMap/a/c created"}, summary(outcomes)); diff != "" {
					t.Error(diff)
				}
				if len(heard) != 1 {
					t.Errorf("progress = %q, want one reason", heard)
				}
			})
		})
	}
}

func TestApplyFails(t *testing.T) {
	invalid := apierrors.NewInvalid(schema.GroupKind{Kind: "ConfigMap"}, "c", nil)

	t.Run("at once on an answer that stays the same, and says what was not tried", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			c := answering("ConfigMap", func(int) error { return invalid })
			outcomes, err := Apply(t.Context(), c, []*unstructured.Unstructured{
				object(t, namespaceYAML), object(t, fmt.Sprintf(configYAML, "v")), object(t, serviceYAML),
			}, ApplyOptions{})
			if !apierrors.IsInvalid(err) {
				t.Errorf("error %v is not the server's", err)
			}
			want := []string{"Namespace/a created", "ConfigMap/a/c failed", "Service/a/s not tried"}
			if diff := cmp.Diff(want, summary(outcomes)); diff != "" {
				t.Error(diff)
			}
			if time.Since(start) != 0 {
				t.Errorf("took %s", time.Since(start))
			}
		})
	})

	t.Run("with the last reason when the time is over", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			down := apierrors.NewInternalError(errors.New("failed calling webhook"))
			c := answering("ConfigMap", func(int) error { return down })
			outcomes, err := Apply(ctx, c, []*unstructured.Unstructured{object(t, fmt.Sprintf(configYAML, "v"))}, ApplyOptions{})
			var timeout *TimeoutError
			if !errors.As(err, &timeout) || !apierrors.IsInternalError(err) {
				t.Errorf("error %v does not carry timeout and reason", err)
			}
			if len(outcomes) != 1 || outcomes[0].Action != Failed || outcomes[0].Err == nil {
				t.Errorf("outcomes %v", outcomes)
			}
		})
	})

	t.Run("when a definition is never established, before anything that may need it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			c := answering("", nil)
			outcomes, err := Apply(ctx, c, []*unstructured.Unstructured{object(t, serviceYAML), object(t, crdYAML)}, ApplyOptions{})
			var timeout *TimeoutError
			if !errors.As(err, &timeout) || timeout.Last == nil || timeout.Last.Error() != "CustomResourceDefinition things.test is not established" {
				t.Errorf("error %v", err)
			}
			want := []string{"CustomResourceDefinition/things.test created", "Service/a/s not tried"}
			if diff := cmp.Diff(want, summary(outcomes)); diff != "" {
				t.Error(diff)
			}
		})
	})
}

func TestWarmKinds(t *testing.T) {
	crd := object(t, "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: things.test}\n"+
		"spec:\n  group: test\n  names: {kind: Thing, listKind: ThingList, plural: things}\n"+
		"  versions: [{name: v1beta1, served: true, storage: false}, {name: v1, served: true, storage: true}]\n")
	var asked []string
	c := fake.NewClientBuilder().WithScheme(newScheme()).WithObjects(crd).WithInterceptorFuncs(interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			kind := list.GetObjectKind().GroupVersionKind()
			if kind.Group != "test" {
				return c.List(ctx, list, opts...)
			}
			var options client.ListOptions
			options.ApplyOptions(opts)
			asked = append(asked, fmt.Sprintf("%s limit %d", kind, options.Limit))
			return errors.New("too early")
		},
	}).Build()
	err := WarmKinds(t.Context(), c)
	if want := "list one things.test: too early"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %q", err, want)
	}
	if want := []string{"test/v1, Kind=ThingList limit 1"}; !slices.Equal(asked, want) {
		t.Errorf("asked %q, want %q", asked, want)
	}
}
