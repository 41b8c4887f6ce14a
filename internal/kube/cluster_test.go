package kube

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// oneNamespace answers discovery of the core group and the namespace "here".
func oneNamespace(seen *http.Header) http.Handler {
	mux := http.NewServeMux()
	reply := func(body string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			*seen = r.Header.Clone()
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(body))
		}
	}
	mux.HandleFunc("GET /api", reply(`{"kind":"APIVersions","versions":["v1"]}`))
	mux.HandleFunc("GET /apis", reply(`{"kind":"APIGroupList","apiVersion":"v1","groups":[]}`))
	mux.HandleFunc("GET /api/v1", reply(`{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"v1","resources":[`+
		`{"name":"namespaces","singularName":"","namespaced":false,"kind":"Namespace","verbs":["get"]}]}`))
	mux.HandleFunc("GET /api/v1/namespaces/here", reply(`{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"here","uid":"u"}}`))
	return mux
}

func TestOpen(t *testing.T) {
	var seen http.Header
	server := httptest.NewTLSServer(oneNamespace(&seen))
	defer server.Close()
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	path := filepath.Join(t.TempDir(), "config.yaml")
	for name, url := range map[string]string{"first": "https://127.0.0.1:1", "second": server.URL} {
		context := Context{
			Name:    name,
			Cluster: clientcmdapi.Cluster{Server: url, CertificateAuthorityData: authority},
			User:    clientcmdapi.AuthInfo{Token: "t"},
		}
		if err := WriteContext(path, context); err != nil {
			t.Fatal(err)
		}
	}

	t.Run("uses the named context and says who asks", func(t *testing.T) {
		cluster, err := Open(path, "second")
		if err != nil {
			t.Fatal(err)
		}
		var namespace corev1.Namespace
		if err := cluster.Get(t.Context(), client.ObjectKey{Name: "here"}, &namespace); err != nil {
			t.Fatal(err)
		}
		if namespace.UID != "u" || seen.Get("User-Agent") != "krops" || seen.Get("Authorization") != "Bearer t" {
			t.Errorf("got uid %q with headers %v", namespace.UID, seen)
		}
		if cluster.Config().QPS < 100 {
			t.Errorf("QPS is %v", cluster.Config().QPS)
		}
	})

	t.Run("names file and context that do not fit", func(t *testing.T) {
		_, err := Open(path, "third")
		if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), `"third"`) {
			t.Errorf("error %v", err)
		}
	})

	t.Run("reads a kubeconfig from memory", func(t *testing.T) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := OpenBytes(data); err != nil {
			t.Error(err)
		}
	})

	t.Run("does not quote a kubeconfig that it cannot read", func(t *testing.T) {
		if _, err := OpenBytes([]byte("token: [s3cr3t")); err == nil || strings.Contains(err.Error(), "s3cr3t") {
			t.Errorf("error %v", err)
		}
	})

	t.Run("leaves the handed-in configuration as it is", func(t *testing.T) {
		config := &rest.Config{Host: server.URL}
		if _, err := New(config); err != nil {
			t.Fatal(err)
		}
		if config.UserAgent != "" || config.QPS != 0 {
			t.Errorf("configuration became %+v", config)
		}
	})
}
