package embedded

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/tools/cache"

	"github.com/krops-go/krops/internal/bench/process"
)

// listed is what krops cluster list says of one cluster.
type listed struct {
	Name, Endpoint, Kubeconfig, Failure string
	Running                             bool
	PID, Nodes                          int
}

func (c *testCluster) list(t *testing.T) listed {
	t.Helper()
	var list struct{ Clusters []listed }
	if err := json.Unmarshal([]byte(c.mustKrops(t, "list", "--output=json")), &list); err != nil {
		t.Fatal(err)
	}
	for _, l := range list.Clusters {
		if l.Name == c.name {
			return l
		}
	}
	return listed{}
}

// processes are the ids of the cluster's processes, by what they are.
func (c *testCluster) processes(t *testing.T) map[string]int {
	t.Helper()
	found, err := process.For(c.dir())
	if err != nil {
		t.Fatal(err)
	}
	pids := map[string]int{}
	for _, p := range found {
		pids[p.Args[1]] = p.PID
	}
	return pids
}

func kill(t *testing.T, pid int) {
	t.Helper()
	if pid == 0 {
		t.Fatal("there is no process to kill")
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

func (c *testCluster) awaitNoProcess(t *testing.T) {
	t.Helper()
	eventually(t, func(context.Context) error {
		if left := c.processes(t); len(left) > 0 {
			return fmt.Errorf("processes are left: %v", left)
		}
		return nil
	})
}

func TestLife(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	l := c.list(t)
	if !l.Running || l.Nodes != 1 || l.Kubeconfig != c.kubeconfig() {
		t.Errorf("a cluster that runs is listed as %+v", l)
	}
	if info, err := os.Stat(c.kubeconfig()); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the kubeconfig's mode is %v, %v, want 0600", info.Mode(), err)
	}
	if out := c.mustKrops(t, "kubeconfig", c.name); !strings.Contains(out, l.Endpoint) {
		t.Errorf("krops cluster kubeconfig says %q", out)
	}
	before := c.processes(t)
	if out := c.mustKrops(t, "up", c.name); !strings.Contains(out, "--context "+c.name) {
		t.Errorf("krops cluster up says %q", out)
	}
	if after := c.processes(t); after["control-plane"] != before["control-plane"] {
		t.Errorf("up of a running cluster started it again: %v, then %v", before, after)
	}
	c.kubectl(t, "create", "deployment", "web", "--image=krops.dev/demo")
	c.kubectl(t, "wait", "--for=condition=Available", "deployment/web", "--timeout=40s")

	t.Run("a killed node process is started again with its pods", func(t *testing.T) {
		kill(t, c.processes(t)["node"])
		eventually(t, func(context.Context) error {
			if pid := c.processes(t)["node"]; pid == 0 || pid == before["node"] {
				return errors.New("no new node process")
			}
			return nil
		})
		c.awaitPod(t, func(p corev1.Pod) bool { return notReady(&p) == "" && mainStatus(&p).RestartCount == 1 })
	})
	t.Run("a killed control plane takes the node along, and up goes on with the state", func(t *testing.T) {
		watched := watchConfigMap(t, c, "marker")
		c.kubectl(t, "create", "configmap", "marker", "--from-literal=step=before")
		watched.await("before")
		kill(t, c.processes(t)["control-plane"])
		c.awaitNoProcess(t)
		if l := c.list(t); l.Running {
			t.Errorf("a killed cluster is listed as %+v", l)
		}
		c.mustKrops(t, "up", c.name)
		if again := c.list(t); again.Endpoint != l.Endpoint {
			t.Errorf("the API server moved from %s to %s", l.Endpoint, again.Endpoint)
		}
		c.kubectl(t, "patch", "configmap", "marker", "--type=merge", "-p", `{"data":{"step":"after"}}`)
		watched.await("after") // by the watch that was there before
		c.awaitPod(t, func(p corev1.Pod) bool { return notReady(&p) == "" && mainStatus(&p).RestartCount == 2 })
	})
	t.Run("other settings start it again", func(t *testing.T) {
		c.mustKrops(t, "up", c.name, "--audit", "--nodes=2")
		if l := c.list(t); l.Nodes != 2 {
			t.Errorf("it is listed as %+v, want 2 nodes", l)
		}
		c.kubectl(t, "wait", "--for=condition=Ready", "node/node-2", "--timeout=40s")
		if out := c.mustKrops(t, "logs", c.name, "--of=audit"); out == "" {
			t.Error("nothing is audited")
		}
	})
	t.Run("down leaves nothing", func(t *testing.T) {
		c.mustKrops(t, "down", c.name)
		if left := c.processes(t); len(left) > 0 {
			t.Errorf("processes are left: %v", left)
		}
		if entries, err := os.ReadDir(c.registry); err != nil || len(entries) > 0 {
			t.Errorf("files are left: %v, %v", entries, err)
		}
		if _, err := c.krops("kubeconfig", c.name); err == nil || !strings.Contains(err.Error(), "there is no cluster "+c.name) {
			t.Errorf("the kubeconfig of a cluster that is gone: %v", err)
		}
		c.mustKrops(t, "down", c.name)
	})
}

// awaitPod waits until the only pod of the default namespace is as wanted.
func (c *testCluster) awaitPod(t *testing.T, good func(corev1.Pod) bool) {
	t.Helper()
	client := c.client(t)
	eventually(t, func(ctx context.Context) error {
		pods, err := client.CoreV1().Pods("default").List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		if len(pods.Items) != 1 || !good(pods.Items[0]) {
			return fmt.Errorf("pods: %+v", pods.Items)
		}
		return nil
	})
}

// watchedMap is what a watch shows of a ConfigMap of the default namespace.
type watchedMap struct {
	t     *testing.T
	store cache.Store
	name  string
}

func watchConfigMap(t *testing.T, c *testCluster, name string) *watchedMap {
	t.Helper()
	source := cache.NewListWatchFromClient(c.client(t).CoreV1().RESTClient(), "configmaps", "default", fields.OneTermEqualSelector("metadata.name", name))
	store, controller := cache.NewInformerWithOptions(cache.InformerOptions{ListerWatcher: source, ObjectType: &corev1.ConfigMap{}, Handler: cache.ResourceEventHandlerFuncs{}})
	go controller.RunWithContext(t.Context())
	return &watchedMap{t, store, name}
}

func (w *watchedMap) await(step string) {
	w.t.Helper()
	eventually(w.t, func(context.Context) error {
		obj, _, err := w.store.GetByKey("default/" + w.name)
		if cm, ok := obj.(*corev1.ConfigMap); err != nil || !ok || cm.Data["step"] != step {
			return fmt.Errorf("the watch shows %v, %v, want step %s", obj, err, step)
		}
		return nil
	})
}

func TestIssuer(t *testing.T) {
	t.Parallel()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "signer.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	c := newCluster(t, "--issuer=https://oidc.example.org/krops", "--account-key="+file, "--nodes=0")
	eventually(t, func(ctx context.Context) error {
		_, err := c.client(t).CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{})
		return err
	})
	token := strings.TrimSpace(c.kubectl(t, "create", "token", "default"))
	parts := strings.Split(token, ".")
	var claims struct{ Iss string }
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err == nil {
		err = json.Unmarshal(payload, &claims)
	}
	if err != nil || claims.Iss != "https://oidc.example.org/krops" {
		t.Errorf("the token's issuer is %q, %v", claims.Iss, err)
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil {
		t.Fatal(err)
	}
	digest := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if err := rsa.VerifyPKCS1v15(&key.PublicKey, crypto.SHA256, digest[:], signature); err != nil {
		t.Errorf("the token is not signed with the key that was given: %v", err)
	}

	nodes, err := c.client(t).CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil || len(nodes.Items) != 0 {
		t.Errorf("a cluster without nodes has %d, %v", len(nodes.Items), err)
	}
	if _, err := c.client(t).CoreV1().Namespaces().Get(t.Context(), "absent", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("an absent namespace: %v", err)
	}
}
