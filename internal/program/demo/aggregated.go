package demo

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
)

// groupVersion is the API that the program serves behind the API server.
var groupVersion = schema.GroupVersion{Group: "demo.krops.dev", Version: "v1alpha1"}

// greetingObject is what the API has.
type greetingObject struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Text              string `json:"text"`
	// For is who asks, as the API server says.
	For string `json:"for"`
}

type greetingList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []greetingObject `json:"items"`
}

func discover(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, metav1.APIResourceList{
		TypeMeta:     metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"},
		GroupVersion: groupVersion.String(),
		APIResources: []metav1.APIResource{{Name: "greetings", SingularName: "greeting", Kind: "Greeting", Verbs: metav1.Verbs{"list"}}},
	})
}

func (d *demo) listGreetings(w http.ResponseWriter, r *http.Request) {
	user, err := d.askedBy(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusUnauthorized)
		return
	}
	meta := func(kind string) metav1.TypeMeta {
		return metav1.TypeMeta{Kind: kind, APIVersion: groupVersion.String()}
	}
	writeJSON(w, greetingList{TypeMeta: meta("GreetingList"), Items: []greetingObject{{
		TypeMeta: meta("Greeting"), ObjectMeta: metav1.ObjectMeta{Name: d.pod.Name}, Text: d.greeting(), For: user,
	}}})
}

// askedBy is the user on whose behalf the API server asks. It believes only
// what the cluster's front proxy says (Kubernetes documentation, "Configure the
// Aggregation Layer").
func (d *demo) askedBy(r *http.Request) (string, error) {
	if r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
		return "", errors.New("only the API server may ask, with its certificate")
	}
	authority, err := d.proxyAuthority(r.Context())
	if err != nil {
		return "", err
	}
	_, err = r.TLS.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: authority, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	if err != nil {
		return "", fmt.Errorf("only the API server may ask: %w", err)
	}
	return r.Header.Get("X-Remote-User"), nil
}

func (d *demo) proxyAuthority(ctx context.Context) (*x509.CertPool, error) {
	client, err := kubernetes.NewForConfig(d.pod.Config)
	if err != nil {
		return nil, err
	}
	cm, err := client.CoreV1().ConfigMaps(metav1.NamespaceSystem).Get(ctx, "extension-apiserver-authentication", metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM([]byte(cm.Data["requestheader-client-ca-file"])) {
		return nil, errors.New("the cluster names no authority of its front proxy")
	}
	return pool, nil
}
