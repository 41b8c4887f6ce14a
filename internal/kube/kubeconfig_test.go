package kube

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

func entry(name string) Context {
	return Context{
		Name:    name,
		Cluster: clientcmdapi.Cluster{Server: "https://" + name + ".test", CertificateAuthorityData: []byte("ca of " + name)},
		User: clientcmdapi.AuthInfo{Exec: &clientcmdapi.ExecConfig{
			APIVersion: "client.authentication.k8s.io/v1", Command: "krops", Args: []string{"token", "--region", "eu-north-1"},
			InteractiveMode: clientcmdapi.NeverExecInteractiveMode,
		}},
	}
}

func load(t *testing.T, path string) *clientcmdapi.Config {
	t.Helper()
	config, err := clientcmd.LoadFromFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return config
}

func TestWriteContext(t *testing.T) {
	t.Run("makes a private file whose context is current", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "new", "config.yaml")
		if err := WriteContext(path, entry("a")); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("mode is %o", info.Mode().Perm())
		}
		config := load(t, path)
		if config.CurrentContext != "a" || config.Contexts["a"].Cluster != "a" || config.Contexts["a"].AuthInfo != "a" {
			t.Errorf("context is %+v, current %q", config.Contexts["a"], config.CurrentContext)
		}
		want := entry("a").User.Exec.Args
		if diff := cmp.Diff(want, config.AuthInfos["a"].Exec.Args); diff != "" {
			t.Error(diff)
		}
	})

	t.Run("keeps other entries and the current context", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "config.yaml")
		for _, name := range []string{"a", "b"} {
			if err := WriteContext(path, entry(name)); err != nil {
				t.Fatal(err)
			}
		}
		changed := entry("b")
		changed.Cluster.Server, changed.User = "https://moved.test", clientcmdapi.AuthInfo{Token: "t"}
		if err := WriteContext(path, changed); err != nil {
			t.Fatal(err)
		}
		config := load(t, path)
		if config.CurrentContext != "a" {
			t.Errorf("current context became %q", config.CurrentContext)
		}
		if got := config.Clusters["a"].Server; got != "https://a.test" {
			t.Errorf("entry a has server %q", got)
		}
		if b := config.AuthInfos["b"]; config.Clusters["b"].Server != "https://moved.test" || b.Token != "t" || b.Exec != nil {
			t.Errorf("entry b was merged instead of replaced")
		}
	})

	t.Run("takes away a wider mode and keeps a symbolic link", func(t *testing.T) {
		dir := t.TempDir()
		real, link := filepath.Join(dir, "real.yaml"), filepath.Join(dir, "link.yaml")
		if err := os.WriteFile(real, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(real, link); err != nil {
			t.Fatal(err)
		}
		if err := WriteContext(link, entry("a")); err != nil {
			t.Fatal(err)
		}
		info, err := os.Lstat(real)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode() != 0o600 {
			t.Errorf("mode is %v", info.Mode())
		}
		if info, err = os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("the link was replaced by a file")
		}
	})

	t.Run("refuses and changes nothing", func(t *testing.T) {
		const secret = "s3cr3t"
		dir := t.TempDir()
		broken := filepath.Join(dir, "broken.yaml")
		if err := os.WriteFile(broken, []byte("token: ["+secret), 0o600); err != nil {
			t.Fatal(err)
		}
		fixed := filepath.Join(dir, "fixed.yaml")
		if err := os.WriteFile(fixed, nil, 0o400); err != nil {
			t.Fatal(err)
		}
		for path, want := range map[string]string{
			broken:                                   "is not a kubeconfig",
			fixed:                                    "read-only",
			"a" + string(os.PathListSeparator) + "b": "names several files",
			"":                                       "no kubeconfig file named",
		} {
			for _, call := range []func() error{
				func() error { return WriteContext(path, entry("a")) },
				func() error { return CheckKubeconfigTarget(path) },
			} {
				err := call()
				if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), secret) {
					t.Errorf("%q: error %v, want %q and no content", path, err, want)
				}
			}
		}
		if data, err := os.ReadFile(broken); err != nil || string(data) != "token: ["+secret {
			t.Errorf("the broken file changed")
		}
	})
}

func TestCheckKubeconfigTarget(t *testing.T) {
	dir := t.TempDir()
	if err := CheckKubeconfigTarget(filepath.Join(dir, "config.yaml")); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 0 {
		t.Errorf("left %v behind, %v", left, err)
	}
}
