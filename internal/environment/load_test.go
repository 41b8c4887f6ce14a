package environment

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const goodFile = `
[environments.aws]
sync-path = "mgmt/aws"
regions = ["eu-north-1", "eu-west-1"]

[environments.aws.management-cluster]
name = "eu-north-1-management"
namespace = "default"
region = "eu-north-1"
path = "mgmt/aws/management"

[[environments.aws.providers]]
name = "cluster-api"
path = "mgmt/aws/capi"
namespace = "capi-system"
deployments = ["capi-controller-manager"]

[environments.aws.timeouts]
pivot = "7m"

[environments.aws.kubeconfig]
path = ".kube/krops-mgmt.yaml"
context = "krops-mgmt"
`

const goodManifest = `
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: eu-north-1-management, namespace: default}
spec:
  controlPlaneRef: {apiGroup: controlplane.cluster.x-k8s.io, kind: AWSManagedControlPlane, name: cp}
---
apiVersion: controlplane.cluster.x-k8s.io/v1beta2
kind: AWSManagedControlPlane
metadata: {name: cp, namespace: default}
spec: {region: eu-north-1}
`

// estate makes a repository with this declaration and this manifest of the management cluster.
func estate(t *testing.T, file, manifest string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range map[string]string{
		File:                                     file,
		"mgmt/aws/capi/kustomization.yaml":       "resources: []\n",
		"mgmt/aws/management/kustomization.yaml": "resources: [cluster.yaml]\n",
		"mgmt/aws/management/cluster.yaml":       manifest,
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestLoad(t *testing.T) {
	root := estate(t, goodFile, goodManifest)
	got, err := Load(t.Context(), root, "aws")
	if err != nil {
		t.Fatal(err)
	}
	want := &Environment{
		Name: "aws", Root: root, SyncPath: "mgmt/aws", Regions: []string{"eu-north-1", "eu-west-1"},
		ManagementCluster: ManagementCluster{Name: "eu-north-1-management", Namespace: "default", Region: "eu-north-1", Path: "mgmt/aws/management"},
		Providers: []Provider{{Name: "cluster-api", Path: "mgmt/aws/capi", Namespace: "capi-system",
			Deployments: []string{"capi-controller-manager"}}},
		Timeouts: Timeouts{BootstrapCluster: 5 * time.Minute, Providers: 10 * time.Minute, ManagementCluster: 40 * time.Minute,
			Pivot: 7 * time.Minute, Teardown: time.Hour},
		Kubeconfig: Kubeconfig{Path: ".kube/krops-mgmt.yaml", Context: "krops-mgmt"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestLoadOwnEstate(t *testing.T) {
	env, err := Load(t.Context(), filepath.Join("..", ".."), "aws")
	if err != nil {
		t.Fatal(err)
	}
	if env.ManagementCluster.Name != "eu-north-1-management" || env.Kubeconfig.Context != "krops-mgmt" || len(env.Providers) != 2 {
		t.Errorf("got %+v", env)
	}
}

func TestLoadRefuses(t *testing.T) {
	replace := func(old, new string) string {
		if !strings.Contains(goodFile, old) {
			t.Fatalf("%q is not in the file", old)
		}
		return strings.Replace(goodFile, old, new, 1)
	}
	tests := []struct {
		name, file string
		want       []string
	}{
		{"an unknown key, with the keys that exist", replace("sync-path =", "sync_path ="), []string{
			`bootstrap.toml:3: environments.aws.sync_path is not a key that krops knows: remove it, or write one of ` +
				`sync-path, regions, management-cluster, providers, timeouts, kubeconfig`}},
		{"an unknown key in a list of tables", replace("deployments =", "deployment ="), []string{
			"bootstrap.toml:16: environments.aws.providers.deployment is not a key that krops knows: remove it, or write one of " +
				"name, path, namespace, deployments"}},
		{"a hook that it would not run", replace("sync-path =", "post-kind-create-task = \"x\"\nsync-path ="), []string{
			"bootstrap.toml:3: environments.aws.post-kind-create-task is not a key"}},
		{"an unknown table", goodFile + "\n[environments.aws.teardown]\nmanual = true\n", []string{"environments.aws.teardown"}},
		{"a duration without a unit", replace(`"7m"`, `"7"`), []string{"bootstrap.toml:19: ", `"7" is not a duration`, `"20m"`}},
		{"a negative duration", replace(`"7m"`, `"-7m"`), []string{"bootstrap.toml:19: ", `"-7m" is not a duration`}},
		{"a value of the wrong type", replace(`["eu-north-1", "eu-west-1"]`, `"eu-north-1"`), []string{"bootstrap.toml:4: "}},
		{"broken TOML", replace(`"mgmt/aws"`, `"mgmt/aws`), []string{"bootstrap.toml:3: "}},
		{"a folder that does not exist", replace("mgmt/aws/capi", "mgmt/aws/cpai"), []string{
			`bootstrap.toml: environments.aws.providers[0].path names "mgmt/aws/cpai", which does not exist: correct the path or create the folder`}},
		{"a file in place of a folder", replace("mgmt/aws/capi", "mgmt/aws/capi/kustomization.yaml"), []string{
			`environments.aws.providers[0].path names "mgmt/aws/capi/kustomization.yaml", which is a file`}},
		{"a path out of the repository", replace("mgmt/aws/capi", "../capi"), []string{`environments.aws.providers[0].path "../capi" is not a path inside`}},
		{"several things at once", strings.NewReplacer(`"capi-system"`, `"Capi_System"`, `["capi-controller-manager"]`, `[]`).Replace(goodFile), []string{
			`environments.aws.providers[0].namespace "Capi_System" is not a name`, `environments.aws.providers[0].deployments is empty`}},
		{"a region that the environment does not have", replace(`region = "eu-north-1"`, `region = "eu-nort-1"`), []string{
			`environments.aws.management-cluster.region "eu-nort-1" is not one of the environment's regions`}},
		{"a region twice", replace(`"eu-west-1"`, `"eu-north-1"`), []string{`environments.aws.regions[1] repeats "eu-north-1"`}},
		{"a kubeconfig outside the repository", replace(`".kube/krops-mgmt.yaml"`, `"/root/.kube/config"`), []string{
			`environments.aws.kubeconfig.path "/root/.kube/config" is not a path inside`}},
		{"a cluster that the manifest does not declare", replace(`"eu-north-1-management"`, `"eu-north-1-mgmt"`), []string{
			`bootstrap.toml: environments.aws.management-cluster.name is "eu-north-1-mgmt" in namespace "default"`,
			"found default/eu-north-1-management in mgmt/aws/management/cluster.yaml: make both files name the same cluster"}},
		{"a region that the manifest contradicts", replace(`region = "eu-north-1"`, `region = "eu-west-1"`), []string{
			`bootstrap.toml: environments.aws.management-cluster.region is "eu-west-1", but AWSManagedControlPlane cp in ` +
				`mgmt/aws/management/cluster.yaml has "eu-north-1": make both files name the same region`}},
		{"an environment that is not declared", "[environments.azure]\n[environments.gcp]\n", []string{
			"bootstrap.toml: environments.aws does not exist: name one of azure, gcp"}},
		{"a file without environments", "", []string{"declare it as [environments.<name>]"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := Load(t.Context(), estate(t, test.file, goodManifest), "aws")
			var problem Problem
			if !errors.As(err, &problem) {
				t.Fatalf("error %v is not a Problem", err)
			}
			for _, part := range test.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error does not say %q:\n%s", part, err)
				}
			}
		})
	}

	t.Run("a manifest that does not build, naming both files", func(t *testing.T) {
		_, err := Load(t.Context(), estate(t, goodFile, "kind: [\n"), "aws")
		if err == nil || !strings.Contains(err.Error(), "bootstrap.toml: environments.aws.management-cluster.path") ||
			!strings.Contains(err.Error(), "cluster.yaml") {
			t.Errorf("error %v", err)
		}
	})

	t.Run("a folder without an estate", func(t *testing.T) {
		if _, err := Load(t.Context(), t.TempDir(), "aws"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("error %v is not fs.ErrNotExist", err)
		}
	})

	t.Run("a folder behind a link that leads out of the repository", func(t *testing.T) {
		root := estate(t, replace("mgmt/aws/capi", "outside"), goodManifest)
		if err := os.Symlink(t.TempDir(), filepath.Join(root, "outside")); err != nil {
			t.Fatal(err)
		}
		_, err := Load(t.Context(), root, "aws")
		if err == nil || !strings.Contains(err.Error(), "environments.aws.providers[0].path") {
			t.Errorf("error %v", err)
		}
	})
}

func TestProblemsNameEveryField(t *testing.T) {
	// An environment with nothing in it must be refused for each thing that krops needs.
	_, err := Load(t.Context(), estate(t, "[environments.aws]\n", goodManifest), "aws")
	var problems Problems
	if !errors.As(err, &problems) {
		t.Fatalf("error %v is not Problems", err)
	}
	var fields []string
	for _, problem := range problems {
		if problem.File != File || problem.Cause == "" || problem.Fix == "" {
			t.Errorf("incomplete: %+v", problem)
		}
		fields = append(fields, strings.TrimPrefix(problem.Field, "environments.aws."))
	}
	want := []string{"sync-path", "regions", "management-cluster.name", "management-cluster.namespace",
		"management-cluster.region", "management-cluster.path", "providers", "kubeconfig.context", "kubeconfig.path"}
	if diff := cmp.Diff(want, fields); diff != "" {
		t.Error(diff, fmt.Sprint(problems))
	}
}
