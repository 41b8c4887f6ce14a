package embedded

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/storage/driver"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"
)

// release is a Helm release of the demo chart under test.
type release struct {
	*namespace
	config *action.Configuration
	chart  *chart.Chart
}

const releaseName = "greeter"

func newRelease(t *testing.T) *release {
	t.Helper()
	n := newNamespace(t)
	flags := genericclioptions.NewConfigFlags(true)
	kubeconfig := n.kubeconfig()
	flags.KubeConfig, flags.Namespace = &kubeconfig, &n.name
	r := &release{namespace: n, config: new(action.Configuration)}
	if err := r.config.Init(flags, n.name, "secret", t.Logf); err != nil {
		t.Fatal(err)
	}
	var err error
	if r.chart, err = loader.Load(filepath.Join("..", "..", "charts", "demo")); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *release) install(values map[string]any) error {
	install := action.NewInstall(r.config)
	install.ReleaseName, install.Namespace, install.Wait, install.Timeout = releaseName, r.name, true, settleWithin
	_, err := install.RunWithContext(r.t.Context(), r.chart, values)
	return err
}

func (r *release) upgrade(values map[string]any) error {
	upgrade := action.NewUpgrade(r.config)
	upgrade.Namespace, upgrade.Wait, upgrade.Timeout = r.name, true, settleWithin
	_, err := upgrade.RunWithContext(r.t.Context(), releaseName, r.chart, values)
	return err
}

func TestHelm(t *testing.T) {
	t.Parallel()
	r := newRelease(t)
	if err := r.install(map[string]any{"greeting": "Good day"}); err != nil {
		t.Fatalf("installing: %v", err)
	}
	r.saysThroughService("Good day")
	r.webhookRejects()
	r.apiServes("Good day")

	if err := r.upgrade(map[string]any{"greeting": strings.Repeat("Halloo! ", 9)}); err == nil || !strings.Contains(err.Error(), "nobody listens for more than 40") {
		t.Errorf("upgrading to a greeting that the webhook rejects: got %v, want its message", err)
	}
	if err := r.upgrade(map[string]any{"greeting": "Good night", "replicas": 2}); err != nil {
		t.Fatalf("upgrading: %v", err)
	}
	r.saysThroughService("Good night")
	deployment, err := r.client.AppsV1().Deployments(r.name).Get(t.Context(), releaseName, metav1.GetOptions{})
	if err != nil || deployment.Status.AvailableReplicas != 2 {
		t.Errorf("after the upgrade: %d replicas, %v, want 2", deploymentReplicas(deployment), err)
	}

	uninstall := action.NewUninstall(r.config)
	uninstall.Wait, uninstall.Timeout = true, settleWithin
	if _, err := uninstall.Run(releaseName); err != nil {
		t.Fatalf("uninstalling: %v", err)
	}
	if _, err := action.NewStatus(r.config).Run(releaseName); !errors.Is(err, driver.ErrReleaseNotFound) {
		t.Errorf("after the uninstallation: got %v, want that the release is not found", err)
	}
	if _, err := r.client.AppsV1().Deployments(r.name).Get(t.Context(), releaseName, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the Deployment after the uninstallation: got %v, want that it is gone", err)
	}
}

func deploymentReplicas(d *appsv1.Deployment) int32 {
	if d == nil {
		return 0
	}
	return d.Status.AvailableReplicas
}

// saysThroughService waits until the released server greets so.
func (r *release) saysThroughService(greeting string) {
	r.t.Helper()
	eventually(r.t, func(ctx context.Context) error {
		text, err := r.client.CoreV1().Services(r.name).ProxyGet("http", releaseName, "http", "/", nil).DoRaw(ctx)
		if err == nil && !strings.HasPrefix(string(text), greeting+" from ") {
			err = fmt.Errorf("it says %q", text)
		}
		return err
	})
}

func (r *release) webhookRejects() {
	r.t.Helper()
	patch := func(greeting string) error {
		text, err := json.Marshal(map[string]any{"data": map[string]string{"greeting": greeting}})
		if err != nil {
			return err
		}
		_, err = r.try("patch", "configmap", releaseName+"-greeting", "--type=merge", "-p", string(text))
		return err
	}
	if err := patch(""); err == nil || !strings.Contains(err.Error(), "data.greeting is empty: say something") {
		r.t.Errorf("an empty greeting: got %v, want the webhook's refusal", err)
	}
	if err := patch("Good day"); err != nil {
		r.t.Errorf("a good greeting: %v", err)
	}
}

// apiServes fails unless the API that the program serves is one of the
// cluster's, and knows who asks.
func (r *release) apiServes(greeting string) {
	r.t.Helper()
	r.kubectl(r.t, "wait", "--for=condition=Available", "apiservice/v1alpha1.demo.krops.dev", "--timeout=40s")
	var list struct{ Items []struct{ Text, For string } }
	if err := json.Unmarshal([]byte(r.kubectl(r.t, "get", "greetings.demo.krops.dev", "-o", "json")), &list); err != nil {
		r.t.Fatal(err)
	}
	if len(list.Items) != 1 || list.Items[0].Text != greeting || list.Items[0].For != "krops-admin" {
		r.t.Errorf("the aggregated API has %+v, want %q for krops-admin", list.Items, greeting)
	}
}
