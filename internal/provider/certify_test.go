package provider

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/yaml"
)

var names = []string{"hook.team.svc", "hook.team.svc.cluster.local"}

const (
	certificateYAML = `
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: serving, namespace: team}
spec: {secretName: hook-cert, dnsNames: [hook.team.svc, hook.team.svc.cluster.local]}
`
	issuerYAML   = "apiVersion: cert-manager.io/v1\nkind: Issuer\nmetadata: {name: i, namespace: team}\n"
	webhooksYAML = `
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: w, annotations: {cert-manager.io/inject-ca-from: team/serving}}
webhooks:
- {name: a.test, clientConfig: {service: {name: hook, namespace: team}}}
- {name: b.test, clientConfig: {service: {name: hook, namespace: team}}}
`
	convertedYAML = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: converted.test, annotations: {cert-manager.io/inject-ca-from: team/serving}}
spec: {conversion: {strategy: Webhook, webhook: {clientConfig: {service: {name: hook, namespace: team}}}}}
`
	plainYAML = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: plain.test, annotations: {cert-manager.io/inject-ca-from: team/serving}}
spec: {group: test}
`
)

func decode(t *testing.T, texts ...string) []*unstructured.Unstructured {
	t.Helper()
	var objects []*unstructured.Unstructured
	for _, text := range texts {
		var content map[string]any
		if err := yaml.Unmarshal([]byte(text), &content); err != nil {
			t.Fatal(err)
		}
		objects = append(objects, &unstructured.Unstructured{Object: content})
	}
	return objects
}

func secretOf(t *testing.T, objects []*unstructured.Unstructured) *corev1.Secret {
	t.Helper()
	var secret corev1.Secret
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(find(t, objects, "Secret", "hook-cert").Object, &secret); err != nil {
		t.Fatal(err)
	}
	return &secret
}

func certifyAt(t *testing.T, now time.Time, existing ...client.Object) ([]*unstructured.Unstructured, error) {
	t.Helper()
	c := fake.NewClientBuilder().WithObjects(existing...).Build()
	return certify(t.Context(), c, decode(t, issuerYAML, certificateYAML, webhooksYAML, convertedYAML, plainYAML), clocktesting.NewFakePassiveClock(now))
}

func TestCertify(t *testing.T) {
	now := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	first, err := certifyAt(t, now)
	if err != nil {
		t.Fatal(err)
	}
	secret := secretOf(t, first)

	t.Run("takes out cert-manager's objects and leaves the rest in order", func(t *testing.T) {
		var kinds []string
		for _, object := range first {
			kinds = append(kinds, object.GetKind()+" "+object.GetName())
		}
		want := []string{"Secret hook-cert", "MutatingWebhookConfiguration w", "CustomResourceDefinition converted.test", "CustomResourceDefinition plain.test"}
		if diff := cmp.Diff(want, kinds); diff != "" {
			t.Error(diff)
		}
		if secret.Namespace != "team" || secret.Type != corev1.SecretTypeTLS {
			t.Errorf("Secret is of type %s in namespace %s", secret.Type, secret.Namespace)
		}
	})

	t.Run("writes the CA wherever an object asks for it", func(t *testing.T) {
		want := base64.StdEncoding.EncodeToString(secret.Data[caKey])
		webhooks, _, err := unstructured.NestedSlice(find(t, first, "MutatingWebhookConfiguration", "w").Object, "webhooks")
		if err != nil || len(webhooks) != 2 {
			t.Fatalf("webhooks %v, %v", webhooks, err)
		}
		for _, webhook := range webhooks {
			got, _, _ := unstructured.NestedString(webhook.(map[string]any), "clientConfig", "caBundle")
			if got != want || want == "" {
				t.Errorf("webhook %v has another CA", webhook.(map[string]any)["name"])
			}
		}
		path := []string{"spec", "conversion", "webhook", "clientConfig", "caBundle"}
		if got, _, _ := unstructured.NestedString(find(t, first, "CustomResourceDefinition", "converted.test").Object, path...); got != want {
			t.Errorf("the definition has another CA")
		}
		if _, found, _ := unstructured.NestedMap(find(t, first, "CustomResourceDefinition", "plain.test").Object, "spec", "conversion"); found {
			t.Errorf("a definition without conversion got one")
		}
	})

	t.Run("serves every name to a client that trusts the CA", func(t *testing.T) {
		fresh, err := certifyAt(t, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		data := secretOf(t, fresh).Data
		pair, err := tls.X509KeyPair(data[corev1.TLSCertKey], data[corev1.TLSPrivateKeyKey])
		if err != nil {
			t.Fatal(err)
		}
		server := httptest.NewUnstartedServer(http.NotFoundHandler())
		server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
		server.StartTLS()
		defer server.Close()
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(data[caKey])
		for _, name := range names {
			conn, err := tls.Dial("tcp", server.Listener.Addr().String(), &tls.Config{RootCAs: roots, ServerName: name})
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if err := conn.Close(); err != nil {
				t.Error(err)
			}
		}
	})

	t.Run("keeps a certificate that fits", func(t *testing.T) {
		again, err := certifyAt(t, now.Add(validity-renewal-time.Hour), secret.DeepCopy())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(secret.Data, secretOf(t, again).Data); diff != "" {
			t.Error("the certificate was replaced")
		}
	})

	replaced := map[string]struct {
		at     time.Time
		change func(*corev1.Secret)
	}{
		"that ends soon": {now.Add(validity - renewal + time.Hour), func(*corev1.Secret) {}},
		"that has ended": {now.Add(validity + time.Hour), func(*corev1.Secret) {}},
		"without its CA": {now, func(s *corev1.Secret) { delete(s.Data, caKey) }},
		"that is empty":  {now, func(s *corev1.Secret) { s.Data = nil }},
		"whose key is another one's": {now, func(s *corev1.Secret) {
			s.Data[corev1.TLSPrivateKeyKey] = other(t, names, now)[corev1.TLSPrivateKeyKey]
		}},
		"whose CA is another one's": {now, func(s *corev1.Secret) { s.Data[caKey] = other(t, names, now)[caKey] }},
		"for other names":           {now, func(s *corev1.Secret) { s.Data = other(t, names[:1], now) }},
	}
	for name, test := range replaced {
		t.Run("replaces a certificate "+name, func(t *testing.T) {
			existing := secret.DeepCopy()
			test.change(existing)
			again, err := certifyAt(t, test.at, existing)
			if err != nil {
				t.Fatal(err)
			}
			got := secretOf(t, again).Data
			if cmp.Equal(existing.Data[corev1.TLSCertKey], got[corev1.TLSCertKey]) {
				t.Error("the certificate was kept")
			}
			if !fits(got, names, test.at) {
				t.Error("the new one does not fit")
			}
		})
	}
}

func other(t *testing.T, names []string, now time.Time) map[string][]byte {
	t.Helper()
	data, err := issue(names, now)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestCertifyRefuses(t *testing.T) {
	fakeClock := clocktesting.NewFakePassiveClock(time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC))

	t.Run("to replace a certificate that it could not look up", func(t *testing.T) {
		down := errors.New("connection refused")
		c := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
			Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
				return down
			},
		}).Build()
		if _, err := certify(t.Context(), c, decode(t, certificateYAML), fakeClock); !errors.Is(err, down) {
			t.Errorf("error %v", err)
		}
	})

	for name, text := range map[string]string{
		"an object that names no Certificate of the folder": webhooksYAML,
		"an annotation that it does not act on": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, annotations: " +
			"{cert-manager.io/inject-apiserver-ca: \"true\"}}\n",
		"a Certificate without names": "apiVersion: cert-manager.io/v1\nkind: Certificate\nmetadata: {name: c}\nspec: {secretName: s}\n",
	} {
		t.Run(name, func(t *testing.T) {
			if objects, err := certify(t.Context(), fake.NewClientBuilder().Build(), decode(t, text), fakeClock); err == nil {
				t.Errorf("no error, made %v", objects)
			}
		})
	}
}
