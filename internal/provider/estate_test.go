package provider

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/krops-go/krops/internal/environment"
	"github.com/krops-go/krops/internal/gitops"
)

// ownEstate renders the provider folders of this repository, in the order of installation.
func ownEstate(t *testing.T) (specs []environment.Provider, rendered [][]*unstructured.Unstructured) {
	t.Helper()
	env, err := environment.Load(t.Context(), filepath.Join("..", ".."), "aws")
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range env.Providers {
		objects, err := gitops.Render(t.Context(), env.Root, spec.Path, gitops.Options{})
		if err != nil {
			t.Fatal(err)
		}
		rendered = append(rendered, objects)
	}
	return env.Providers, rendered
}

func find(t *testing.T, objects []*unstructured.Unstructured, kind, name string) *unstructured.Unstructured {
	t.Helper()
	for _, object := range objects {
		if object.GetKind() == kind && object.GetName() == name {
			return object
		}
	}
	t.Fatalf("no %s %s", kind, name)
	return nil
}

func deployment(t *testing.T, objects []*unstructured.Unstructured, name string) *appsv1.Deployment {
	t.Helper()
	var typed appsv1.Deployment
	object := find(t, objects, "Deployment", name)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &typed); err != nil {
		t.Fatal(err)
	}
	return &typed
}

func TestEstate(t *testing.T) {
	specs, rendered := ownEstate(t)
	images := map[string]string{
		"cluster-api":        "registry.k8s.io/cluster-api/cluster-api-controller:",
		"infrastructure-aws": "registry.k8s.io/cluster-api-aws/cluster-api-aws-controller:",
	}
	definitions := map[string]int{"cluster-api": 13, "infrastructure-aws": 24}
	configurations := map[string]string{}
	for i, spec := range specs {
		objects := rendered[i]
		t.Run(spec.Name, func(t *testing.T) {
			own := 0
			for _, object := range objects {
				name := object.GetKind() + " " + object.GetName()
				data, err := json.Marshal(object)
				if err != nil {
					t.Fatal(err)
				}
				if strings.Contains(string(data), "${") || strings.Contains(string(data), "$(") {
					t.Errorf("%s holds a variable that nothing replaces", name)
				}
				if object.GetKind() == "Secret" {
					t.Errorf("%s is in Git", name)
				}
				if strings.HasSuffix(object.GetKind(), "WebhookConfiguration") {
					if other, taken := configurations[name]; taken {
						t.Errorf("%s is also in %s: the second would replace the first", name, other)
					}
					configurations[name] = spec.Name
				}
				labels := object.GetLabels()
				if labels["clusterctl.cluster.x-k8s.io/core"] == "inventory" && object.GetKind() == "CustomResourceDefinition" {
					if _, listed := labels["clusterctl.cluster.x-k8s.io"]; listed {
						t.Errorf("%s: clusterctl would move its own inventory", name)
					}
					continue
				}
				if _, ok := labels["clusterctl.cluster.x-k8s.io"]; !ok || labels["cluster.x-k8s.io/provider"] != spec.Name {
					t.Errorf("%s lacks clusterctl's labels: %v", name, labels)
				}
				if object.GetKind() != "CustomResourceDefinition" {
					continue
				}
				own++
				if spec.Name == "infrastructure-aws" && labels["cluster.x-k8s.io/v1beta1"] != "v1beta1_v1beta2" {
					t.Errorf("%s lacks the contract label", name)
				}
			}
			if own != definitions[spec.Name] {
				t.Errorf("%d CustomResourceDefinitions, want %d", own, definitions[spec.Name])
			}
			for _, name := range spec.Deployments {
				d := deployment(t, objects, name)
				image := d.Spec.Template.Spec.Containers[0].Image
				if !strings.HasPrefix(image, images[spec.Name]) {
					t.Errorf("Deployment %s runs %s", name, image)
				}
				entry := find(t, objects, "Provider", spec.Name)
				if version := entry.Object["version"]; image != images[spec.Name]+version.(string) {
					t.Errorf("the inventory says %v, the image is %s", version, image)
				}
				if entry.GetNamespace() != spec.Namespace || d.Namespace != spec.Namespace {
					t.Errorf("namespaces differ: inventory %s, Deployment %s, declared %s", entry.GetNamespace(), d.Namespace, spec.Namespace)
				}
			}
		})
	}
}

// gates returns the feature gates of a Deployment's first container by name.
func gates(d *appsv1.Deployment) map[string]string {
	values := map[string]string{}
	for _, arg := range d.Spec.Template.Spec.Containers[0].Args {
		list, ok := strings.CutPrefix(arg, "--feature-gates=")
		if !ok {
			continue
		}
		for gate := range strings.SplitSeq(list, ",") {
			name, value, _ := strings.Cut(gate, "=")
			values[name] = value
		}
	}
	return values
}

func TestEstateChoices(t *testing.T) {
	_, rendered := ownEstate(t)

	t.Run("Cluster API has machine pools and no topology", func(t *testing.T) {
		got := gates(deployment(t, rendered[0], "capi-controller-manager"))
		if got["MachinePool"] != "true" || got["ClusterTopology"] != "false" {
			t.Errorf("gates %v", got)
		}
	})

	capa := deployment(t, rendered[1], "capa-controller-manager")
	t.Run("the AWS provider manages roles and cleans up after workloads", func(t *testing.T) {
		got := gates(capa)
		for _, name := range []string{"EKS", "EKSEnableIAM", "EKSAllowAddRoles", "MachinePool", "ExternalResourceGC"} {
			if got[name] != "true" {
				t.Errorf("gate %s is %q", name, got[name])
			}
		}
	})

	t.Run("the AWS provider reads the credentials that a run writes", func(t *testing.T) {
		var mounted []string
		for _, volume := range capa.Spec.Template.Spec.Volumes {
			if volume.Secret != nil {
				mounted = append(mounted, volume.Name+" from "+volume.Secret.SecretName)
			}
		}
		slices.Sort(mounted)
		if want := []string{"cert from capa-webhook-service-cert", "credentials from aws-credentials"}; !slices.Equal(mounted, want) {
			t.Errorf("mounts %q, want %q", mounted, want)
		}
		container := capa.Spec.Template.Spec.Containers[0]
		file := ""
		for _, variable := range container.Env {
			if variable.Name == "AWS_SHARED_CREDENTIALS_FILE" {
				file = variable.Value
			}
		}
		found := false
		for _, mount := range container.VolumeMounts {
			found = found || mount.Name == "credentials" && filepath.Join(mount.MountPath, "credentials") == file
		}
		if !found {
			t.Errorf("the credentials file %q is not what the volume mounts: %v", file, container.VolumeMounts)
		}
	})

	t.Run("identities move with the clusters that use them", func(t *testing.T) {
		crd := find(t, rendered[1], "CustomResourceDefinition", "awsclustercontrolleridentities.infrastructure.cluster.x-k8s.io")
		if _, ok := crd.GetLabels()["clusterctl.cluster.x-k8s.io/move-hierarchy"]; !ok {
			t.Errorf("labels %v", crd.GetLabels())
		}
	})
}
