package provider

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/krops-go/krops/internal/kube"
	"github.com/krops-go/krops/internal/presence"
)

const (
	certManagerGroup = "cert-manager.io"
	injectPrefix     = "cert-manager.io/inject-"
	injectFrom       = "cert-manager.io/inject-ca-from"
)

// certify replaces cert-manager's objects by what cert-manager would make of them: a Secret for each Certificate and
// CA bundles in the objects that ask for one. A certificate that the cluster already has is kept while it fits, because
// every new CA makes the API server rebuild the watch caches of all kinds with a conversion webhook.
func certify(ctx context.Context, c client.Reader, objects []*unstructured.Unstructured, clock clock.PassiveClock) ([]*unstructured.Unstructured, error) {
	var kept []*unstructured.Unstructured
	authorities := map[string][]byte{} // by namespace/name of the Certificate
	for _, object := range objects {
		if object.GroupVersionKind().Group != certManagerGroup {
			kept = append(kept, object)
			continue
		}
		if object.GetKind() != "Certificate" {
			continue
		}
		secret, err := serving(ctx, c, object, clock)
		if err != nil {
			return nil, fmt.Errorf("certificate %s/%s: %w", object.GetNamespace(), object.GetName(), err)
		}
		authorities[object.GetNamespace()+"/"+object.GetName()] = secret.Data[caKey]
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(secret)
		if err != nil {
			return nil, fmt.Errorf("certificate %s/%s: %w", object.GetNamespace(), object.GetName(), err)
		}
		kept = append(kept, &unstructured.Unstructured{Object: content})
	}
	for _, object := range kept {
		if err := inject(object, authorities); err != nil {
			return nil, fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
	return kept, nil
}

// serving returns the Secret that a Certificate asks for.
func serving(ctx context.Context, c client.Reader, certificate *unstructured.Unstructured, clock clock.PassiveClock) (*corev1.Secret, error) {
	names, _, err := unstructured.NestedStringSlice(certificate.Object, "spec", "dnsNames")
	if err != nil {
		return nil, err
	}
	secretName, _, err := unstructured.NestedString(certificate.Object, "spec", "secretName")
	if err != nil {
		return nil, err
	}
	if len(names) == 0 || secretName == "" {
		return nil, fmt.Errorf("spec.dnsNames and spec.secretName are required")
	}
	wanted := newSecret(client.ObjectKey{Namespace: certificate.GetNamespace(), Name: secretName})
	var existing corev1.Secret
	found, err := kube.Lookup(ctx, c, client.ObjectKeyFromObject(wanted), &existing)
	switch found {
	case presence.Present:
		if fits(existing.Data, names, clock.Now()) {
			wanted.Data = map[string][]byte{
				corev1.TLSCertKey: existing.Data[corev1.TLSCertKey], corev1.TLSPrivateKeyKey: existing.Data[corev1.TLSPrivateKeyKey],
				caKey: existing.Data[caKey],
			}
			return wanted, nil
		}
	case presence.Absent:
	default:
		// Not knowing what is there, a new certificate could take the place of one in use.
		return nil, err
	}
	if wanted.Data, err = issue(names, clock.Now()); err != nil {
		return nil, err
	}
	return wanted, nil
}

// inject writes the CA into an object that asks for it.
func inject(object *unstructured.Unstructured, authorities map[string][]byte) error {
	for annotation := range object.GetAnnotations() {
		if strings.HasPrefix(annotation, injectPrefix) && annotation != injectFrom {
			return fmt.Errorf("annotation %s is not supported: use %s", annotation, injectFrom)
		}
	}
	from, ok := object.GetAnnotations()[injectFrom]
	if !ok {
		return nil
	}
	authority, ok := authorities[from]
	if !ok {
		return fmt.Errorf("annotation %s names the Certificate %q, which is not in this folder", injectFrom, from)
	}
	bundle := base64.StdEncoding.EncodeToString(authority)
	switch object.GetKind() {
	case "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration":
		return injectWebhooks(object, bundle)
	case "CustomResourceDefinition":
		// Definitions without a conversion webhook carry the annotation too; there is nothing to write then.
		if _, found, err := unstructured.NestedMap(object.Object, "spec", "conversion", "webhook", "clientConfig"); err != nil || !found {
			return err
		}
		return unstructured.SetNestedField(object.Object, bundle, "spec", "conversion", "webhook", "clientConfig", "caBundle")
	default:
		return fmt.Errorf("annotation %s has no meaning for this kind", injectFrom)
	}
}

func injectWebhooks(object *unstructured.Unstructured, bundle string) error {
	webhooks, _, err := unstructured.NestedSlice(object.Object, "webhooks")
	if err != nil {
		return err
	}
	for i, entry := range webhooks {
		webhook, ok := entry.(map[string]any)
		if !ok {
			return fmt.Errorf("webhooks[%d] is not an object", i)
		}
		if err := unstructured.SetNestedField(webhook, bundle, "clientConfig", "caBundle"); err != nil {
			return fmt.Errorf("webhooks[%d]: %w", i, err)
		}
	}
	return unstructured.SetNestedSlice(object.Object, webhooks, "webhooks")
}
