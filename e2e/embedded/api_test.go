package embedded

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

func TestValidationByCEL(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	n.apply(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: fleets.e2e.krops.dev}
spec:
  group: e2e.krops.dev
  names: {kind: Fleet, plural: fleets, singular: fleet}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties: {min: {type: integer}, max: {type: integer}}
            x-kubernetes-validations: [{rule: "self.min <= self.max", message: "min is more than max"}]
`)
	n.do("wait", "--for=condition=Established", "crd/fleets.e2e.krops.dev", "--timeout=30s")
	fleet := func(low, high int) error {
		cmd := n.kubectlCommand("apply", "-n", n.name, "-f", "-")
		cmd.Stdin = strings.NewReader(fmt.Sprintf("apiVersion: e2e.krops.dev/v1\nkind: Fleet\nmetadata: {name: f}\nspec: {min: %d, max: %d}\n", low, high))
		_, err := output(cmd)
		return err
	}
	if err := fleet(2, 1); err == nil || !strings.Contains(err.Error(), "min is more than max") {
		t.Errorf("a fleet with min 2 and max 1: got %v, want the rule's message", err)
	}
	if err := fleet(1, 2); err != nil {
		t.Errorf("a fleet with min 1 and max 2: %v", err)
	}
}

func TestServerSideApply(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	set := func(manager, value string, force bool) error {
		patch := fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"owned"},"data":{"key":%q}}`, value)
		_, err := n.client.CoreV1().ConfigMaps(n.name).Patch(t.Context(), "owned", types.ApplyPatchType, []byte(patch), metav1.PatchOptions{FieldManager: manager, Force: &force})
		return err
	}
	if err := set("first", "a", false); err != nil {
		t.Fatal(err)
	}
	if err := set("second", "b", false); !apierrors.IsConflict(err) {
		t.Errorf("changing a field that another manager owns: got %v, want a conflict", err)
	}
	if err := set("second", "b", true); err != nil {
		t.Errorf("taking the field over by force: %v", err)
	}
	if err := set("first", "a", false); !apierrors.IsConflict(err) {
		t.Errorf("the first manager, which lost the field: got %v, want a conflict", err)
	}
}

func TestFinalizer(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	n.apply(`
apiVersion: v1
kind: ConfigMap
metadata: {name: kept, finalizers: [e2e.krops.dev/hold]}
`)
	n.do("delete", "configmap", "kept", "--wait=false")
	cm, err := n.client.CoreV1().ConfigMaps(n.name).Get(t.Context(), "kept", metav1.GetOptions{})
	if err != nil || cm.DeletionTimestamp == nil {
		t.Fatalf("with its finalizer: got deletion time %v, %v, want an object that is being deleted", cm.DeletionTimestamp, err)
	}
	n.do("patch", "configmap", "kept", "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
	if _, err := n.client.CoreV1().ConfigMaps(n.name).Get(t.Context(), "kept", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("without its finalizer: got %v, want that it is gone", err)
	}
}

func TestGarbageCollection(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	maps := n.client.CoreV1().ConfigMaps(n.name)
	owner, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owner"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owned", OwnerReferences: []metav1.OwnerReference{
		{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID},
	}}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	n.do("delete", "configmap", "owner")
	eventually(t, func(ctx context.Context) error {
		if _, err := maps.Get(ctx, "owned", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return fmt.Errorf("the owned object is still there (%v)", err)
		}
		return nil
	})
}

func TestNamespaceDeletion(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	n.do("create", "deployment", "web", "--image=krops.dev/demo", "--replicas=2")
	n.do("wait", "--for=condition=Available", "deployment/web", "--timeout=40s")
	n.do("delete", "namespace", n.name, "--timeout=60s")
	if pods, err := n.client.CoreV1().Pods(n.name).List(t.Context(), metav1.ListOptions{}); err != nil || len(pods.Items) > 0 {
		t.Errorf("pods of the deleted namespace: %d, %v, want none", len(pods.Items), err)
	}
}

func TestServiceAccountOfPod(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	n.do("run", "web", "--image=krops.dev/demo")
	pod := n.await("web", notReady)
	token, err := n.ask("web", "/file/var/run/secrets/kubernetes.io/serviceaccount/token")
	if err != nil {
		t.Fatal(err)
	}
	config := rest.AnonymousClientConfig(shared.config(t))
	config.BearerToken = token
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.CoreV1().Secrets(n.name).List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("listing secrets without a role: got %v, want that it is forbidden", err)
	}
	n.do("create", "role", "reader", "--verb=list", "--resource=secrets")
	n.do("create", "rolebinding", "reader", "--role=reader", "--serviceaccount="+n.name+":default")
	eventually(t, func(ctx context.Context) error {
		_, err := client.CoreV1().Secrets(n.name).List(ctx, metav1.ListOptions{})
		return err
	})
	review, err := n.client.AuthenticationV1().TokenReviews().Create(t.Context(), &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	user := review.Status.User
	if !review.Status.Authenticated || user.Username != "system:serviceaccount:"+n.name+":default" {
		t.Errorf("the token's review says %+v, want the pod's service account", review.Status)
	}
	if got := user.Extra["authentication.kubernetes.io/pod-uid"]; len(got) != 1 || got[0] != string(pod.UID) {
		t.Errorf("the token is bound to pod %v, want %s", got, pod.UID)
	}
}

func TestAudit(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	n.do("create", "secret", "generic", "noted", "--from-literal=password=hush-hush")
	eventually(t, func(context.Context) error {
		out, err := shared.krops("logs", shared.name, "--of=audit")
		if err != nil {
			return err
		}
		if strings.Contains(out, "hush-hush") {
			t.Fatal("the audit log holds the secret's content")
		}
		for line := range strings.Lines(out) {
			var event struct {
				Verb      string
				ObjectRef struct{ Resource, Namespace, Name string }
				User      struct{ Username string }
			}
			if err := json.Unmarshal([]byte(line), &event); err != nil {
				continue // being written
			}
			if event.Verb == "create" && event.ObjectRef.Resource == "secrets" && event.ObjectRef.Namespace == n.name && event.User.Username == "krops-admin" {
				return nil
			}
		}
		return errors.New("the secret's creation is not noted")
	})
}

func exitCode(err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	return -1
}
