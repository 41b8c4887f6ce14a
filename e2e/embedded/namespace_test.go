package embedded

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// namespace is a namespace of the shared cluster for one test. It goes with
// the cluster.
type namespace struct {
	*testCluster
	t      *testing.T
	name   string
	client kubernetes.Interface
}

func newNamespace(t *testing.T) *namespace {
	t.Helper()
	n := &namespace{testCluster: shared, t: t, client: shared.client(t)}
	made, err := n.client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	n.name = made.Name
	eventually(t, func(ctx context.Context) error {
		_, err := n.client.CoreV1().ServiceAccounts(n.name).Get(ctx, "default", metav1.GetOptions{})
		return err
	})
	return n
}

// do runs kubectl in the namespace.
func (n *namespace) do(args ...string) string {
	n.t.Helper()
	return n.kubectl(n.t, append([]string{"-n", n.name}, args...)...)
}

// try is do for a command that may fail.
func (n *namespace) try(args ...string) (string, error) {
	return output(n.kubectlCommand(append([]string{"-n", n.name}, args...)...))
}

func (n *namespace) apply(manifest string) {
	n.t.Helper()
	n.testCluster.apply(n.t, n.name, manifest)
}

func (n *namespace) pod(name string) *corev1.Pod {
	n.t.Helper()
	pod, err := n.client.CoreV1().Pods(n.name).Get(n.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		n.t.Fatal(err)
	}
	return pod
}

// await waits until a pod is as wanted; why says what it lacks, or "".
func (n *namespace) await(name string, why func(*corev1.Pod) string) *corev1.Pod {
	n.t.Helper()
	var pod *corev1.Pod
	eventually(n.t, func(ctx context.Context) (err error) {
		if pod, err = n.client.CoreV1().Pods(n.name).Get(ctx, name, metav1.GetOptions{}); err != nil {
			return err
		}
		if reason := why(pod); reason != "" {
			return fmt.Errorf("pod %s: %s; it is %s, containers %+v", name, reason, pod.Status.Phase, pod.Status.ContainerStatuses)
		}
		return nil
	})
	return pod
}

// mainStatus is the status of the pod's first container, zero before it has one.
func mainStatus(p *corev1.Pod) corev1.ContainerStatus {
	if len(p.Status.ContainerStatuses) == 0 {
		return corev1.ContainerStatus{}
	}
	return p.Status.ContainerStatuses[0]
}

func notReady(p *corev1.Pod) string {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
			return ""
		}
	}
	return "not ready"
}

func isNot(phase corev1.PodPhase) func(*corev1.Pod) string {
	return func(p *corev1.Pod) string {
		if p.Status.Phase != phase {
			return "not " + string(phase)
		}
		return ""
	}
}

// awaitEvent waits for an event of an object and returns its message.
func (n *namespace) awaitEvent(object, reason, part string) string {
	n.t.Helper()
	var found string
	eventually(n.t, func(ctx context.Context) error {
		list, err := n.client.CoreV1().Events(n.name).List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.name=" + object})
		if err != nil {
			return err
		}
		var seen []string
		for _, e := range list.Items {
			if e.Reason == reason && strings.Contains(e.Message, part) {
				found = e.Message
				return nil
			}
			seen = append(seen, e.Reason+": "+e.Message)
		}
		return fmt.Errorf("no event %s %q of %s among %q", reason, part, object, seen)
	})
	return found
}

// ask returns what the demo program in a pod answers to a path.
func (n *namespace) ask(pod, path string) (string, error) {
	result := n.client.CoreV1().RESTClient().Get().
		RequestURI(fmt.Sprintf("/api/v1/namespaces/%s/pods/%s:8080/proxy%s", n.name, pod, path)).Do(n.t.Context())
	var code int
	result.StatusCode(&code)
	text, err := result.Raw()
	if err == nil && code != http.StatusOK {
		err = fmt.Errorf("%s answers %d: %s", path, code, text)
	}
	return strings.TrimSpace(string(text)), err
}

// says fails unless the demo program in a pod gives this answer.
func (n *namespace) says(pod, path, want string) {
	n.t.Helper()
	got, err := n.ask(pod, path)
	if err != nil {
		n.t.Errorf("%s of pod %s: %v", path, pod, err)
	} else if got != want {
		n.t.Errorf("%s of pod %s is %q, want %q", path, pod, got, want)
	}
}
