package embedded

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestEnvironment(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	n.do("create", "configmap", "settings", "--from-literal=COLOUR=blue", "--from-literal=size=7")
	n.do("create", "secret", "generic", "keys", "--from-literal=key=s3cret")
	n.apply(`
apiVersion: v1
kind: Pod
metadata: {name: web, labels: {tier: front}}
spec:
  containers:
  - name: demo
    image: krops.dev/demo
    args: ["--greeting-file=$(FOLDER)/$(FILE)", "--port=8080"]
    resources: {requests: {cpu: 250m, memory: 64Mi}, limits: {memory: 128Mi}}
    envFrom: [{configMapRef: {name: settings}, prefix: CM_}, {secretRef: {name: absent, optional: true}}]
    env:
    - {name: FOLDER, value: /data}
    - {name: FILE, value: hello}
    - {name: BOTH, value: "$(FOLDER)/$(FILE) $(ABSENT) $$(FILE) 5$"}
    - {name: KEY, valueFrom: {secretKeyRef: {name: keys, key: key}}}
    - {name: SIZE, valueFrom: {configMapKeyRef: {name: settings, key: size}}}
    - {name: POD, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
    - {name: TIER, valueFrom: {fieldRef: {fieldPath: "metadata.labels['tier']"}}}
    - {name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}
    - {name: IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}}
    - {name: HOST, valueFrom: {fieldRef: {fieldPath: status.hostIP}}}
    - {name: MEMORY, valueFrom: {resourceFieldRef: {resource: limits.memory, divisor: 1Mi}}}
    - {name: CPU, valueFrom: {resourceFieldRef: {resource: requests.cpu}}}
    volumeMounts: [{name: data, mountPath: /data}]
  volumes: [{name: data, emptyDir: {}}]
`)
	pod := n.await("web", notReady)
	for name, want := range map[string]string{
		"CM_COLOUR": "blue", "BOTH": "/data/hello $(ABSENT) $(FILE) 5$", "KEY": "s3cret", "SIZE": "7",
		"POD": "web", "TIER": "front", "NODE": pod.Spec.NodeName, "IP": pod.Status.PodIP, "HOST": pod.Status.HostIP, "MEMORY": "128", "CPU": "1",
	} {
		n.says("web", "/env/"+name, want)
	}
	n.says("web", "/file/data/hello?append=Ahoy", "Ahoy")
	n.says("web", "/", "Ahoy from web")
}

func TestMissingConfiguration(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	n.apply(`
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
  - name: demo
    image: krops.dev/demo
    env: [{name: KEY, valueFrom: {secretKeyRef: {name: late, key: key}}}]
`)
	n.await("web", func(p *corev1.Pod) string {
		if mainStatus(p).State.Waiting == nil || mainStatus(p).State.Waiting.Reason != "CreateContainerConfigError" {
			return "not waiting for its configuration"
		}
		return ""
	})
	n.awaitEvent("web", "Failed", `secrets "late" not found`)
	n.do("create", "secret", "generic", "late", "--from-literal=key=here")
	pod := n.await("web", notReady)
	n.says("web", "/env/KEY", "here")
	if restarts := mainStatus(pod).RestartCount; restarts != 0 {
		t.Errorf("waiting for the secret counts as %d restarts, want none", restarts)
	}
}

func TestVolumeRefresh(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	n.do("create", "configmap", "words", "--from-literal=greeting=Hello", "--from-literal=old=x")
	n.do("create", "secret", "generic", "keys", "--from-literal=key=one")
	n.apply(`
apiVersion: v1
kind: Pod
metadata: {name: web, labels: {phase: new}}
spec:
  containers:
  - name: demo
    image: krops.dev/demo
    volumeMounts: [{name: words, mountPath: /etc/demo/config}, {name: all, mountPath: /all}]
  volumes:
  - name: words
    configMap: {name: words}
  - name: all
    projected:
      sources:
      - secret: {name: keys, items: [{key: key, path: secret/key}]}
      - downwardAPI: {items: [{path: labels, fieldRef: {fieldPath: metadata.labels}}]}
      - serviceAccountToken: {path: token, audience: elsewhere, expirationSeconds: 600}
`)
	n.await("web", notReady)
	n.says("web", "/", "Hello from web")
	n.says("web", "/file/all/secret/key", "one")
	n.says("web", "/file/all/labels", `phase="new"`)
	n.do("create", "configmap", "words", "--from-literal=greeting=Salve", "--dry-run=client", "-o=name")
	n.do("patch", "configmap", "words", "--type=merge", "-p", `{"data":{"greeting":"Salve","old":null}}`)
	n.do("patch", "secret", "keys", "--type=merge", "-p", `{"stringData":{"key":"two"}}`)
	n.do("label", "pod", "web", "phase=old", "--overwrite")
	eventually(t, func(context.Context) error {
		for path, want := range map[string]string{"/": "Salve from web", "/file/all/secret/key": "two", "/file/all/labels": `phase="old"`} {
			if got, err := n.ask("web", path); err != nil || got != want {
				return fmt.Errorf("%s is %q, %v, want %q", path, got, err, want)
			}
		}
		if _, err := n.ask("web", "/file/etc/demo/config/old"); err == nil {
			return fmt.Errorf("the file of a removed key is still there")
		}
		return nil
	})
}

func TestInitContainers(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	n.apply(`
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  initContainers:
  - {name: first, image: krops.dev/demo, args: [--exit]}
  - name: sidecar
    image: krops.dev/demo
    restartPolicy: Always
    args: [--port=9090]
    startupProbe: {tcpSocket: {port: 9090}}
  - {name: simulated, image: busybox}
  containers:
  - {name: demo, image: krops.dev/demo}
---
apiVersion: v1
kind: Pod
metadata: {name: stuck}
spec:
  restartPolicy: Never
  initContainers: [{name: broken, image: krops.dev/demo, args: [--panic]}]
  containers: [{name: demo, image: krops.dev/demo}]
`)
	pod := n.await("web", notReady)
	for i, want := range []string{"terminated", "running", "terminated"} {
		s := pod.Status.InitContainerStatuses[i]
		if got := map[bool]string{true: "running", false: "terminated"}[s.State.Running != nil]; got != want || s.State.Terminated != nil && s.State.Terminated.ExitCode != 0 {
			t.Errorf("init container %s: %+v, want it %s", s.Name, s.State, want)
		}
	}
	if out := n.do("logs", "web", "-c", "first"); !strings.Contains(out, "demo is done") {
		t.Errorf("the init container's log is %q", out)
	}
	stuck := n.await("stuck", isNot(corev1.PodFailed))
	if s := mainStatus(stuck).State; s.Running != nil || s.Terminated != nil {
		t.Errorf("the main container began though the init container failed: %+v", s)
	}
}

func TestProbes(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	n.apply(`
apiVersion: v1
kind: Pod
metadata: {name: good}
spec:
  containers:
  - name: demo
    image: krops.dev/demo
    ports: [{name: http, containerPort: 8080}]
    startupProbe: {tcpSocket: {port: http}}
    livenessProbe: {httpGet: {path: /healthz, port: http}}
    readinessProbe: {exec: {command: [greet]}}
---
apiVersion: v1
kind: Pod
metadata: {name: unready}
spec:
  containers:
  - name: demo
    image: krops.dev/demo
    readinessProbe: {httpGet: {path: /absent, port: 8080}, periodSeconds: 1}
---
apiVersion: v1
kind: Pod
metadata: {name: dead}
spec:
  containers:
  - name: demo
    image: krops.dev/demo
    livenessProbe: {httpGet: {path: /absent, port: 8080}, periodSeconds: 1, failureThreshold: 2}
`)
	n.await("good", notReady)
	n.awaitEvent("unready", "Unhealthy", "404")
	if pod := n.pod("unready"); notReady(pod) == "" {
		t.Error("a pod whose readiness probe fails is ready")
	}
	n.awaitEvent("dead", "Killing", "liveness")
	n.await("dead", func(p *corev1.Pod) string {
		s := mainStatus(p)
		if s.RestartCount == 0 || s.LastTerminationState.Terminated == nil || s.LastTerminationState.Terminated.ExitCode != 137 {
			return "not killed and restarted"
		}
		return ""
	})
}

func TestCrash(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	n.do("run", "bystander", "--image=krops.dev/demo")
	before := n.await("bystander", notReady)
	for _, how := range []string{"panic", "panic-beside"} {
		n.do("run", how, "--image=krops.dev/demo", "--", "--"+how)
		n.await(how, func(p *corev1.Pod) string {
			s := mainStatus(p)
			if s.RestartCount < 2 || s.State.Waiting == nil || s.State.Waiting.Reason != "CrashLoopBackOff" {
				return "not crashing again and again"
			}
			if code := s.LastTerminationState.Terminated.ExitCode; code != 2 {
				t.Fatalf("%s: exit code %d, want 2", how, code)
			}
			return ""
		})
		if out := n.do("logs", "-p", how); !strings.Contains(out, "panic: demo was told to panic") {
			t.Errorf("%s: the log of the crashed instance does not say why: %q", how, out)
		}
	}
	after := n.pod("bystander")
	if a, b := mainStatus(after), mainStatus(before); a.RestartCount != b.RestartCount || !a.Ready {
		t.Errorf("another pod felt it: %+v", a)
	}
	n.do("run", "once", "--image=krops.dev/demo", "--restart=Never", "--", "--fail-after=1ms")
	failed := n.await("once", isNot(corev1.PodFailed))
	if s := mainStatus(failed); s.State.Terminated.ExitCode != 1 || s.RestartCount != 0 {
		t.Errorf("a pod that is not restarted: %+v", s)
	}
}

func TestDeletion(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	n.do("run", "polite", "--image=krops.dev/demo")
	n.apply(`
apiVersion: v1
kind: Pod
metadata: {name: stubborn}
spec:
  terminationGracePeriodSeconds: 2
  containers: [{name: demo, image: krops.dev/demo, args: [--hang]}]
`)
	n.await("polite", notReady)
	n.await("stubborn", notReady)
	began := time.Now()
	n.do("delete", "pod", "polite", "--timeout=30s")
	if took := time.Since(began); took > 15*time.Second {
		t.Errorf("a program that ends when told to took %s to delete, of a grace period of 30 s", took)
	}
	began = time.Now()
	n.do("delete", "pod", "stubborn", "--timeout=30s")
	if took := time.Since(began); took < 2*time.Second {
		t.Errorf("a program that does not end was gone after %s, before its grace period of 2 s", took)
	}
	if _, err := n.client.CoreV1().Pods(n.name).Get(t.Context(), "stubborn", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the deleted pod: got %v, want that it is gone", err)
	}
}

func TestScheduling(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	n.apply(`
apiVersion: v1
kind: Pod
metadata: {name: huge}
spec: {containers: [{name: a, image: nginx, resources: {requests: {cpu: 1000}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: elsewhere}
spec: {nodeSelector: {zone: moon}, containers: [{name: a, image: nginx}]}
---
apiVersion: v1
kind: Pod
metadata: {name: rooted}
spec:
  containers: [{name: a, image: krops.dev/demo, volumeMounts: [{name: root, mountPath: /host}]}]
  volumes: [{name: root, hostPath: {path: /}}]
`)
	n.awaitEvent("huge", "FailedScheduling", "0/2 nodes are available: 2 Insufficient cpu.")
	n.awaitEvent("elsewhere", "FailedScheduling", "2 node(s) didn't match Pod's node affinity/selector")
	n.awaitEvent("rooted", "FailedMount", "hostPath volumes are refused")
	for _, name := range []string{"huge", "elsewhere", "rooted"} {
		if phase := n.pod(name).Status.Phase; phase != corev1.PodPending {
			t.Errorf("pod %s is %s, want Pending", name, phase)
		}
	}
}
