package environment

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/krops-go/krops/internal/gitops"
)

const clusterAPIGroup = "cluster.x-k8s.io"

// checkManifests makes sure that bootstrap.toml and the manifests speak of the same management cluster: a run that
// waits for a cluster that nobody declared ends an hour later and with no hint.
func checkManifests(ctx context.Context, env *Environment) Problems {
	wanted := env.ManagementCluster
	prefix := "environments." + env.Name + ".management-cluster."
	objects, err := gitops.Render(ctx, env.Root, wanted.Path, gitops.Options{Origins: true})
	if err != nil {
		return Problems{{File: File, Field: prefix + "path", Cause: fmt.Sprintf("names %q, which does not build", wanted.Path), Fix: err.Error()}}
	}
	var others []string
	var cluster *unstructured.Unstructured
	for _, object := range objects {
		kind := object.GroupVersionKind()
		if kind.Group != clusterAPIGroup || kind.Kind != "Cluster" {
			continue
		}
		if object.GetName() == wanted.Name && object.GetNamespace() == wanted.Namespace {
			cluster = object
			continue
		}
		others = append(others, fmt.Sprintf("%s/%s in %s", object.GetNamespace(), object.GetName(), gitops.Origin(wanted.Path, object)))
	}
	if cluster == nil {
		found := "that folder declares no Cluster: add its manifest, or correct the path"
		if len(others) > 0 {
			found = "found " + strings.Join(others, ", ") + ": make both files name the same cluster"
		}
		return Problems{{File: File, Field: prefix + "name",
			Cause: fmt.Sprintf("is %q in namespace %q, but %s has no such Cluster", wanted.Name, wanted.Namespace, wanted.Path), Fix: found}}
	}
	return checkRegion(env, cluster, objects)
}

// checkRegion compares the declared region with the one of the cluster's control plane, where that kind has one.
func checkRegion(env *Environment, cluster *unstructured.Unstructured, objects []*unstructured.Unstructured) Problems {
	kind, _, _ := unstructured.NestedString(cluster.Object, "spec", "controlPlaneRef", "kind")
	name, _, _ := unstructured.NestedString(cluster.Object, "spec", "controlPlaneRef", "name")
	for _, object := range objects {
		if object.GetKind() != kind || object.GetName() != name || object.GetNamespace() != cluster.GetNamespace() {
			continue
		}
		region, found, err := unstructured.NestedString(object.Object, "spec", "region")
		if err != nil || !found || region == env.ManagementCluster.Region {
			return nil
		}
		return Problems{{File: File, Field: "environments." + env.Name + ".management-cluster.region",
			Cause: fmt.Sprintf("is %q, but %s %s in %s has %q", env.ManagementCluster.Region, kind, name,
				gitops.Origin(env.ManagementCluster.Path, object), region),
			Fix: "make both files name the same region"}}
	}
	return nil
}
