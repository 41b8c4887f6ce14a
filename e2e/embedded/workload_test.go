package embedded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestSimulatedPods(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	n.do("create", "deployment", "web", "--image=nginx:1.27")
	n.do("create", "job", "task", "--image=busybox", "--", "true")
	n.do("create", "cronjob", "yearly", "--image=busybox", "--schedule=0 0 1 1 *", "--", "true")
	n.do("create", "job", "now", "--from=cronjob/yearly")
	n.do("wait", "--for=condition=Available", "deployment/web", "--timeout=40s")
	n.do("wait", "--for=condition=Complete", "job/task", "job/now", "--timeout=40s")
	pods, err := n.client.CoreV1().Pods(n.name).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(pods.Items) != 3 {
		t.Fatalf("got %d pods, want 3", len(pods.Items))
	}
	for _, p := range pods.Items {
		if p.Annotations["krops.dev/simulated"] != "true" {
			t.Errorf("pod %s is not marked as simulated: %v", p.Name, p.Annotations)
		}
		want := "is said to run and does nothing"
		if p.Spec.RestartPolicy != corev1.RestartPolicyAlways {
			want = "is said to have succeeded and did nothing"
		}
		n.awaitEvent(p.Name, "Simulated", want)
		if out := n.do("logs", p.Name); !strings.Contains(out, want) {
			t.Errorf("the log of pod %s is %q", p.Name, out)
		}
	}
}

func TestJob(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	n.do("create", "job", "good", "--image=krops.dev/demo", "--", "demo", "--exit")
	n.apply(`
apiVersion: batch/v1
kind: Job
metadata: {name: bad}
spec:
  backoffLimit: 0
  template: {spec: {restartPolicy: Never, containers: [{name: demo, image: krops.dev/demo, args: [--panic]}]}}
`)
	n.do("wait", "--for=condition=Complete", "job/good", "--timeout=40s")
	n.do("wait", "--for=condition=Failed", "job/bad", "--timeout=40s")
	if out := n.do("logs", "job/good"); !strings.Contains(out, "demo is done") {
		t.Errorf("the log of the job's pod, which has ended, is %q", out)
	}
}

func TestDaemonSet(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	n.apply(`
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template: {metadata: {labels: {app: agent}}, spec: {containers: [{name: a, image: krops.dev/demo}]}}
`)
	n.do("rollout", "status", "daemonset/agent", "--timeout=40s")
	pods, err := n.client.CoreV1().Pods(n.name).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	nodes := map[string]bool{}
	for _, p := range pods.Items {
		nodes[p.Spec.NodeName] = true
	}
	if len(pods.Items) != 2 || len(nodes) != 2 {
		t.Errorf("%d pods on %d nodes, want one on each of 2", len(pods.Items), len(nodes))
	}
}

func TestStatefulSet(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	n.apply(`
apiVersion: v1
kind: Service
metadata: {name: db}
spec: {clusterIP: None, selector: {app: db}, ports: [{port: 8080}]}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  serviceName: db
  replicas: 2
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      containers:
      - name: demo
        image: krops.dev/demo
        readinessProbe: {httpGet: {path: /healthz, port: 8080}}
        volumeMounts: [{name: data, mountPath: /data}]
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`)
	n.do("rollout", "status", "statefulset/db", "--timeout=40s")
	n.says("db-0", "/file/data/log?append=first", "first")
	first := n.pod("db-0")
	n.do("delete", "pod", "db-0", "--wait=false")
	n.await("db-0", func(p *corev1.Pod) string {
		if p.UID == first.UID {
			return "still the old pod"
		}
		return notReady(p)
	})
	n.says("db-0", "/file/data/log", "first")
	// The other pod finds it by its name in the cluster's DNS.
	eventually(t, func(context.Context) error {
		got, err := n.ask("db-1", "/fetch?url=http://db-0.db:8080/file/data/log")
		if err == nil && got != "first" {
			err = fmt.Errorf("it says %q", got)
		}
		return err
	})

	claim, err := n.client.CoreV1().PersistentVolumeClaims(n.name).Get(t.Context(), "data-db-0", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(shared.dir(), "volumes", claim.Spec.VolumeName)
	if _, err := os.Stat(folder); err != nil {
		t.Errorf("the claim's volume: %v", err)
	}
	n.do("delete", "statefulset", "db")
	n.do("delete", "pvc", "--all", "--timeout=40s")
	eventually(t, func(ctx context.Context) error {
		if _, err := n.client.CoreV1().PersistentVolumes().Get(ctx, claim.Spec.VolumeName, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return fmt.Errorf("the volume of the deleted claim is still there (%v)", err)
		}
		if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("the folder of the deleted volume is still there (%v)", err)
		}
		return nil
	})
}
