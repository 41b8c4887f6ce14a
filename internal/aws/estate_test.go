package aws

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/krops-go/krops/internal/aws/inventory"
	"github.com/krops-go/krops/internal/aws/session"
	"github.com/krops-go/krops/internal/environment"
	"github.com/krops-go/krops/internal/gitops"
)

func TestClusterNamesOfTheEstate(t *testing.T) {
	env, err := environment.Load(t.Context(), "../..", "aws")
	if err != nil {
		t.Fatal(err)
	}
	e := &Estate{Environment: env}
	got, err := e.clusterNames(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []inventory.ClusterName{{CAPI: "eu-north-1-management", EKS: "eu-north-1-management", Region: "eu-north-1"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestClusterNames(t *testing.T) {
	const cluster = `
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: c1, namespace: team}
spec: {controlPlaneRef: {kind: AWSManagedControlPlane, name: plane.one}}
`
	const plane = `
apiVersion: controlplane.cluster.x-k8s.io/v1beta2
kind: AWSManagedControlPlane
metadata: {name: plane.one, namespace: team}
spec: {region: eu-west-1}
`
	t.Run("falls back to the name that the provider would choose", func(t *testing.T) {
		got, err := clusterNamesOf(objects(t, cluster, plane))
		want := []inventory.ClusterName{{CAPI: "c1", EKS: "team_plane_one", Region: "eu-west-1"}}
		if err != nil || !cmp.Equal(want, got) {
			t.Errorf("got %v, %v; want %v", got, err, want)
		}
	})
	t.Run("refuses a Cluster whose control plane is not declared", func(t *testing.T) {
		_, err := clusterNamesOf(objects(t, cluster))
		if err == nil || !strings.Contains(err.Error(), "Cluster team/c1") {
			t.Errorf("error %v", err)
		}
	})
}

func objects(t *testing.T, docs ...string) []*unstructured.Unstructured {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "all.yaml"), []byte(strings.Join(docs, "---\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := gitops.Render(context.Background(), dir, ".", gitops.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestSecrets(t *testing.T) {
	e := &Estate{
		Environment: &environment.Environment{ManagementCluster: environment.ManagementCluster{Region: "eu-north-1"}},
		Settings:    session.Settings{Static: &session.Credentials{AccessKeyID: "AKIAEXAMPLE", SecretAccessKey: "geheim", SessionToken: "sitzung"}},
	}
	secrets, err := e.Secrets(t.Context())
	if err != nil || len(secrets) != 1 {
		t.Fatalf("%d secrets, %v", len(secrets), err)
	}
	file, _, _ := unstructured.NestedString(secrets[0].Object, "stringData", "credentials")
	want := "[default]\naws_access_key_id = AKIAEXAMPLE\naws_secret_access_key = geheim\nregion = eu-north-1\naws_session_token = sitzung\n"
	if secrets[0].GetNamespace() != "capa-system" || secrets[0].GetName() != "aws-credentials" || file != want {
		t.Errorf("secret %s/%s holds %q", secrets[0].GetNamespace(), secrets[0].GetName(), file)
	}
}

func TestTokenCommandHoldsNoSecret(t *testing.T) {
	e := &Estate{
		Environment:  &environment.Environment{ManagementCluster: environment.ManagementCluster{Region: "eu-north-1"}},
		Settings:     session.Settings{EndpointURL: "http://127.0.0.1:1", Static: &session.Credentials{AccessKeyID: "AKIAEXAMPLE", SecretAccessKey: "geheim"}},
		TokenCommand: "/bin/krops",
	}
	exec := e.tokenCommand("mgmt")
	want := []string{"eks-token", "--region", "eu-north-1", "--cluster", "mgmt", "--endpoint-url", "http://127.0.0.1:1"}
	if diff := cmp.Diff(want, exec.Args); diff != "" {
		t.Error(diff)
	}
}
