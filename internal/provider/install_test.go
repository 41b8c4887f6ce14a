package provider

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/krops-go/krops/internal/environment"
	"github.com/krops-go/krops/internal/gitops"
)

const componentsYAML = `
apiVersion: v1
kind: Namespace
metadata: {name: team}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.test.io, annotations: {cert-manager.io/inject-ca-from: team/serving}}
spec:
  group: test.io
  names: {kind: Thing, listKind: ThingList, plural: things}
  scope: Cluster
  versions: [{name: v1, served: true, storage: true}]
  conversion: {strategy: Webhook, webhook: {clientConfig: {service: {name: hook, namespace: team}}}}
---
apiVersion: test.io/v1
kind: Thing
metadata: {name: first}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: controller, namespace: team}
spec: {replicas: 1, template: {spec: {containers: [{name: manager, image: "registry.test/manager:v1"}]}}}
`

// recorder plays the controllers that a fake API server lacks: definitions are established when they are written, and
// Deployments become available a minute after that. It notes each kind at its first real write.
type recorder struct {
	mu      sync.Mutex
	written []string
	image   string
}

func (r *recorder) patch(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
	var options client.PatchOptions
	options.ApplyOptions(opts)
	if err := c.Patch(ctx, o, p, opts...); err != nil || len(options.DryRun) > 0 {
		return err
	}
	kind := o.GetObjectKind().GroupVersionKind().Kind
	r.mu.Lock()
	if !slices.Contains(r.written, kind) {
		r.written = append(r.written, kind)
	}
	r.mu.Unlock()
	switch kind {
	case "CustomResourceDefinition":
		return establish(ctx, c, o.GetName())
	case "Deployment":
		time.AfterFunc(time.Minute, func() { r.makeAvailable(context.WithoutCancel(ctx), c, client.ObjectKeyFromObject(o)) })
	}
	return nil
}

func establish(ctx context.Context, c client.Client, name string) error {
	var crd apiextensionsv1.CustomResourceDefinition
	if err := c.Get(ctx, client.ObjectKey{Name: name}, &crd); err != nil {
		return err
	}
	crd.Status.Conditions = []apiextensionsv1.CustomResourceDefinitionCondition{
		{Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue},
	}
	return c.Status().Update(ctx, &crd)
}

func (r *recorder) makeAvailable(ctx context.Context, c client.Client, key client.ObjectKey) {
	var d appsv1.Deployment
	if err := c.Get(ctx, key, &d); err != nil {
		panic(fmt.Sprintf("the Deployment vanished: %v", err))
	}
	d.Status = appsv1.DeploymentStatus{ObservedGeneration: d.Generation, Replicas: 1, UpdatedReplicas: 1, AvailableReplicas: 1}
	if err := c.Status().Update(ctx, &d); err != nil {
		panic(fmt.Sprintf("the Deployment cannot be updated: %v", err))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.image = d.Spec.Template.Spec.Containers[0].Image
	r.written = append(r.written, "(Deployment available)")
}

func TestInstall(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{"components.yaml": componentsYAML, "certificate.yaml": issuerYAML + "---" + certificateYAML} {
		path := filepath.Join(root, "p", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	spec := environment.Provider{Name: "test", Path: "p", Namespace: "team", Deployments: []string{"controller"}}
	credentials := "apiVersion: v1\nkind: Secret\nmetadata: {name: credentials, namespace: team}\n"
	components, err := Render(t.Context(), root, []environment.Provider{spec}, map[string][]gitops.Patch{"test": {{
		Target: &gitops.Selector{Kind: "Deployment", Name: "controller"},
		Patch:  `[{"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "registry.test/manager:v2"}]`,
	}}})
	if err != nil {
		t.Fatal(err)
	}
	opts := Options{Objects: decode(t, credentials)}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}

	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		var play recorder
		c := fake.NewClientBuilder().WithScheme(scheme).WithInterceptorFuncs(interceptor.Funcs{Patch: play.patch}).Build()
		var heard []string
		var mu sync.Mutex
		opts.Progress = func(reason string) {
			mu.Lock()
			defer mu.Unlock()
			heard = append(heard, reason)
		}
		outcomes, err := components.Install(ctx, c, opts)
		if err != nil {
			t.Fatal(err)
		}
		if len(outcomes) != 6 {
			t.Errorf("outcomes %v", outcomes)
		}
		// The custom object comes after the webhooks that judge it, which come with the Deployment.
		want := []string{"CustomResourceDefinition", "Namespace", "Secret", "Deployment", "(Deployment available)", "Thing"}
		if got := slices.Clone(play.written); !equalAfterSorting(got, want, 2) {
			t.Errorf("wrote %q, want %q", got, want)
		}
		if play.image != "registry.test/manager:v2" {
			t.Errorf("the Deployment runs %s", play.image)
		}
		if !slices.Contains(heard, "Deployment team/controller: 0 of 1 replicas run the current template") {
			t.Errorf("progress %q does not explain the wait", heard)
		}
	})
}

// equalAfterSorting compares two lists whose first n entries may come in any order.
func equalAfterSorting(got, want []string, n int) bool {
	if len(got) != len(want) {
		return false
	}
	slices.Sort(got[:n])
	return slices.Equal(got, want)
}
