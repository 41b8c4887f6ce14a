package kube

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// reason returns an error's text, or "" for nil, so that a table can hold "the condition holds" and "why not yet".
func reason(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestDeploymentAvailable(t *testing.T) {
	healthy := func() *appsv1.Deployment {
		return &appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "b", Generation: 2},
			Spec:       appsv1.DeploymentSpec{Replicas: ptr.To[int32](2)},
			Status:     appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 2, UpdatedReplicas: 2, AvailableReplicas: 2},
		}
	}
	tests := []struct {
		name   string
		change func(*appsv1.Deployment)
		want   string
	}{
		{"holds", func(*appsv1.Deployment) {}, ""},
		{"holds with no replicas wanted", func(d *appsv1.Deployment) {
			d.Spec.Replicas, d.Status = ptr.To[int32](0), appsv1.DeploymentStatus{ObservedGeneration: 2}
		}, ""},
		{"not before the change was seen", func(d *appsv1.Deployment) { d.Status.ObservedGeneration = 1 },
			"Deployment a/b: its last change has not been seen by the deployment controller"},
		{"not while old pods count as available", func(d *appsv1.Deployment) { d.Status.UpdatedReplicas = 0 },
			"Deployment a/b: 0 of 2 replicas run the current template"},
		{"not while old pods remain", func(d *appsv1.Deployment) { d.Status.Replicas = 3 },
			"Deployment a/b: 1 old replicas have not ended"},
		{"says what the controller says", func(d *appsv1.Deployment) {
			d.Status.AvailableReplicas = 1
			d.Status.Conditions = []appsv1.DeploymentCondition{
				{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionFalse, Message: "Deployment does not have minimum availability."},
				{Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue, Message: "exceeded quota"},
			}
		}, "Deployment a/b: 1 of 2 replicas are available: exceeded quota"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			deployment := healthy()
			test.change(deployment)
			if diff := cmp.Diff(test.want, reason(deploymentAvailable(deployment))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDeploymentsAvailable(t *testing.T) {
	c := fake.NewClientBuilder().WithScheme(newScheme()).WithObjects(&appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "b"},
	}).Build()
	condition := DeploymentsAvailable(c, client.ObjectKey{Namespace: "a", Name: "b"}, client.ObjectKey{Namespace: "a", Name: "gone"})
	got := reason(condition.Check(t.Context()))
	for _, part := range []string{"2 of 2: ", "Deployment a/b: 0 of 1 replicas", "; Deployment a/gone does not exist yet"} {
		if !strings.Contains(got, part) {
			t.Errorf("%q does not say %q", got, part)
		}
	}
	if condition.Description != "Deployments a/b, a/gone to be available" {
		t.Errorf("Description = %q", condition.Description)
	}
}

func TestCRDEstablished(t *testing.T) {
	crd := func(conditions ...apiextensionsv1.CustomResourceDefinitionCondition) *apiextensionsv1.CustomResourceDefinition {
		return &apiextensionsv1.CustomResourceDefinition{
			ObjectMeta: metav1.ObjectMeta{Name: "things.test"},
			Status:     apiextensionsv1.CustomResourceDefinitionStatus{Conditions: conditions},
		}
	}
	established := apiextensionsv1.CustomResourceDefinitionCondition{Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue}
	refused := apiextensionsv1.CustomResourceDefinitionCondition{
		Type: apiextensionsv1.NamesAccepted, Status: apiextensionsv1.ConditionFalse, Message: `"things" is already in use`,
	}
	tests := []struct {
		name string
		crd  *apiextensionsv1.CustomResourceDefinition
		want string
	}{
		{"holds", crd(established), ""},
		{"not before the server has looked at it", crd(), "CustomResourceDefinition things.test is not established"},
		{"not when another definition has the names", crd(refused, established),
			`CustomResourceDefinition things.test: its names are taken by another one: "things" is already in use`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, reason(crdEstablished(test.crd))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestForEachShowsAFewReasons(t *testing.T) {
	last := errors.New("five")
	err := forEach([]error{errors.New("one"), nil, errors.New("two"), errors.New("three"), errors.New("four"), last},
		func(err error) error { return err })
	if want := "5 of 6: one; two; three; and 2 more"; err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
	if !errors.Is(err, last) {
		t.Error("a reason that is not shown is lost")
	}
}

func TestNodesReady(t *testing.T) {
	node := func(name string, status corev1.ConditionStatus) client.Object {
		return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{
			{Type: corev1.NodeReady, Status: status, Message: "kubelet is posting"},
		}}}
	}
	silent := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "silent"}}
	tests := []struct {
		name    string
		nodes   []client.Object
		atLeast int
		want    string
	}{
		{"holds", []client.Object{node("a", corev1.ConditionTrue), node("b", corev1.ConditionTrue)}, 2, ""},
		{"no nodes are nodes that have not joined", nil, 0, "0 of 1 nodes have joined"},
		{"too few", []client.Object{node("a", corev1.ConditionTrue)}, 2, "1 of 2 nodes have joined"},
		{"one beyond the number is not ready", []client.Object{node("a", corev1.ConditionTrue), node("b", corev1.ConditionUnknown)}, 1,
			"node b is not ready: kubelet is posting"},
		{"one has said nothing", []client.Object{silent}, 1, "node silent has not reported its state"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := fake.NewClientBuilder().WithScheme(newScheme()).WithObjects(test.nodes...).Build()
			if diff := cmp.Diff(test.want, reason(NodesReady(c, test.atLeast).Check(t.Context()))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func clusterObject(spec map[string]any, conditions ...any) *unstructured.Unstructured {
	object := newClusterAPIObject("Cluster")
	object.Object["spec"] = spec
	object.Object["status"] = map[string]any{"conditions": conditions}
	object.SetNamespace("default")
	object.SetName("m")
	object.SetGeneration(3)
	return object
}

func condition(kind, status string, generation int64, message string) map[string]any {
	return map[string]any{"type": kind, "status": status, "reason": "R", "message": message, "observedGeneration": generation}
}

func TestClusterAvailable(t *testing.T) {
	tests := []struct {
		name    string
		cluster *unstructured.Unstructured
		want    string
	}{
		{"holds", clusterObject(nil, condition("Available", "True", 3, ""), condition("RemoteConnectionProbe", "True", 3, "")), ""},
		{"not without a status, as after a move", clusterObject(nil),
			"2 of 2: Cluster default/m: condition RemoteConnectionProbe has not been reported yet; Cluster default/m: condition Available has not been reported yet"},
		{"not on conditions of an older generation",
			clusterObject(nil, condition("Available", "True", 2, ""), condition("RemoteConnectionProbe", "True", 3, "")),
			"Cluster default/m: condition Available is older than the last change"},
		{"not while its API server does not answer",
			clusterObject(nil, condition("Available", "True", 3, ""), condition("RemoteConnectionProbe", "False", 3, "* Remote connection\n* failed")),
			"Cluster default/m: RemoteConnectionProbe is False (R): * Remote connection * failed"},
		{"not while paused", clusterObject(map[string]any{"paused": true}, condition("Available", "True", 3, ""), condition("RemoteConnectionProbe", "True", 3, "")),
			"Cluster default/m is paused, so nothing reconciles it: an interrupted move leaves it like this"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, reason(clusterAvailable(test.cluster))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestMachinePoolsRunning(t *testing.T) {
	pool := func(name, cluster string, spec, status map[string]any) client.Object {
		object := newClusterAPIObject("MachinePool")
		object.SetNamespace("default")
		object.SetName(name)
		object.Object["spec"] = map[string]any{"clusterName": cluster}
		for key, value := range spec {
			object.Object["spec"].(map[string]any)[key] = value
		}
		object.Object["status"] = status
		return object
	}
	refs := func(n int) []any {
		list := make([]any, n)
		for i := range list {
			list[i] = map[string]any{"kind": "Node"}
		}
		return list
	}
	two := map[string]any{"replicas": int64(2)}
	tests := []struct {
		name  string
		pools []client.Object
		want  string
	}{
		{"holds", []client.Object{pool("p", "m", two, map[string]any{"phase": "Running", "nodeRefs": refs(2)})}, ""},
		{"a cluster without pools is one whose pools are not there yet",
			[]client.Object{pool("p", "other", two, map[string]any{"phase": "Running", "nodeRefs": refs(2)})},
			"Cluster default/m has no machine pool yet"},
		{"not without a status", []client.Object{pool("p", "m", two, nil)}, "MachinePool default/p has not reported a phase yet"},
		{"not while scaling", []client.Object{pool("p", "m", two, map[string]any{"phase": "ScalingUp", "nodeRefs": refs(1)})},
			"MachinePool default/p is ScalingUp with 1 of 2 nodes"},
		{"not without its nodes", []client.Object{pool("p", "m", two, map[string]any{"phase": "Running"})},
			"MachinePool default/p: 0 of 2 nodes have joined"},
		{"one replica is the default", []client.Object{pool("p", "m", nil, map[string]any{"phase": "Running"})},
			"MachinePool default/p: 0 of 1 nodes have joined"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := fake.NewClientBuilder().WithScheme(newScheme()).WithObjects(test.pools...).Build()
			got := MachinePoolsRunning(c, client.ObjectKey{Namespace: "default", Name: "m"}).Check(t.Context())
			if diff := cmp.Diff(test.want, reason(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
