package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// kubectl is the machine's kubectl with a kubeconfig.
type kubectl struct {
	t          *testing.T
	kubeconfig string
}

// bootstrap reaches the bootstrap cluster as its administrator.
func (r *rehearsal) bootstrap() kubectl { return kubectl{r.t, r.bootstrapCluster("kubeconfig")} }

// management reaches the management cluster as people do: the kubeconfig asks
// krops for a token.
func (r *rehearsal) management() kubectl { return kubectl{r.t, r.path("krops-mgmt.yaml")} }

func (k kubectl) run(args ...string) []byte {
	k.t.Helper()
	var stderr bytes.Buffer
	cmd := exec.Command("kubectl", args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+k.kubeconfig, "HOME="+k.t.TempDir())
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		k.t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, &stderr)
	}
	return out
}

// get fills list with what `kubectl get` finds.
func (k kubectl) get(list any, args ...string) {
	k.t.Helper()
	out := k.run(append([]string{"get", "-o", "json"}, args...)...)
	if err := json.Unmarshal(out, list); err != nil {
		k.t.Fatalf("kubectl get %s: %v", strings.Join(args, " "), err)
	}
}

// names returns the namespace/name of the objects of a kind.
func (k kubectl) names(kind string) []string {
	k.t.Helper()
	var list struct {
		Items []metav1.PartialObjectMetadata
	}
	k.get(&list, kind, "--all-namespaces")
	var names []string
	for _, o := range list.Items {
		names = append(names, o.Namespace+"/"+o.Name)
	}
	return names
}

// assertAvailable wants the management cluster's Cluster to be Available.
func (k kubectl) assertAvailable() {
	k.t.Helper()
	var cluster struct {
		Status struct{ Conditions []metav1.Condition }
	}
	k.get(&cluster, "clusters.cluster.x-k8s.io", clusterName, "--namespace", "default")
	for _, c := range cluster.Status.Conditions {
		if c.Type == "Available" {
			if c.Status != metav1.ConditionTrue {
				k.t.Errorf("Cluster is not available: %s", c.Message)
			}
			return
		}
	}
	k.t.Error("Cluster has no condition Available")
}

// assertProvidersReady wants one ready pod of each provider.
func (k kubectl) assertProvidersReady() {
	k.t.Helper()
	for _, namespace := range []string{"capi-system", "capa-system"} {
		var pods corev1.PodList
		k.get(&pods, "pods", "--namespace", namespace)
		if len(pods.Items) != 1 {
			k.t.Errorf("%d pods in %s, want 1", len(pods.Items), namespace)
		}
		for _, p := range pods.Items {
			if !podReady(p) {
				k.t.Errorf("pod %s/%s is not ready: %v", p.Namespace, p.Name, p.Status)
			}
		}
	}
}

func podReady(p corev1.Pod) bool {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// assertNodes wants the two nodes of the node group, Ready, as EKS labels them.
func (k kubectl) assertNodes() {
	k.t.Helper()
	var nodes corev1.NodeList
	k.get(&nodes, "nodes")
	if len(nodes.Items) != 2 {
		k.t.Errorf("%d nodes, want 2", len(nodes.Items))
	}
	for _, n := range nodes.Items {
		for label, want := range map[string]string{
			corev1.LabelArchStable:         "arm64",
			corev1.LabelInstanceTypeStable: "t4g.medium",
			corev1.LabelTopologyRegion:     region,
			"eks.amazonaws.com/nodegroup":  poolName,
		} {
			if n.Labels[label] != want {
				k.t.Errorf("node %s: label %s is %q, want %q", n.Name, label, n.Labels[label], want)
			}
		}
		zone := n.Labels[corev1.LabelTopologyZone]
		if want := fmt.Sprintf("aws:///%s/i-", zone); !strings.HasPrefix(zone, region) || !strings.HasPrefix(n.Spec.ProviderID, want) {
			k.t.Errorf("node %s: zone %q with provider id %q", n.Name, zone, n.Spec.ProviderID)
		}
		ready := false
		for _, c := range n.Status.Conditions {
			ready = ready || c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
		}
		if !ready {
			k.t.Errorf("node %s is not ready", n.Name)
		}
	}
}

// assertSimulatedAgents wants aws-node on both nodes, saying that no program
// stands for it.
func (k kubectl) assertSimulatedAgents() {
	k.t.Helper()
	var set appsv1.DaemonSet
	k.get(&set, "daemonset", "aws-node", "--namespace", "kube-system")
	var pods corev1.PodList
	k.get(&pods, "pods", "--namespace", "kube-system", "--selector", metav1.FormatLabelSelector(set.Spec.Selector))
	if len(pods.Items) != 2 {
		k.t.Errorf("%d pods of aws-node, want one on each of 2 nodes", len(pods.Items))
	}
	for _, p := range pods.Items {
		if p.Annotations["krops.dev/simulated"] != "true" {
			k.t.Errorf("pod %s does not say that it is simulated: %v", p.Name, p.Annotations)
		}
	}
}
