// Package provider installs Cluster API's components into a cluster from the estate's own manifests.
//
// Those manifests are the release's, so they ask cert-manager for the certificates of their webhooks. Until
// cert-manager is part of the estate, Install does its part in place of it: it makes a self-signed serving
// certificate for each Certificate, puts it where the Certificate says, and writes it as CA wherever an object asks for
// that. The limit: nothing renews a certificate while krops does not run. A certificate is valid for a year and
// replaced by the next bootstrap in which less than a third of that is left.
package provider

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/krops-go/krops/internal/environment"
	"github.com/krops-go/krops/internal/gitops"
	"github.com/krops-go/krops/internal/kube"
)

//go:generate go run ./providergen -out ../../mgmt/aws/capi-providers

// Options change how Install works. The zero value is ready to use.
type Options struct {
	// Patches are applied to the rendered manifests, for what differs from the tree where this run takes place.
	Patches []gitops.Patch
	// Objects are applied together with the components, for what the Deployments need and Git must not have: the
	// Secret with credentials. They are not changed.
	Objects []*unstructured.Unstructured
	// Progress is told what Install waits for. It may be called from several goroutines at once. May be nil.
	Progress func(reason string)
	// Clock decides whether a certificate has to be replaced; the real one if nil.
	Clock clock.PassiveClock
}

// Install brings one provider to the state that the estate at root declares, and returns what it did with each
// object, also when it fails. When it returns without an error, the provider's Deployments are available, its custom
// objects (clusterctl's inventory entry among them) are written, and `clusterctl move` finds its kinds warm.
//
// It can be called again at any time; a second call finds nothing to do. It retries until ctx ends: give it a
// deadline.
func Install(ctx context.Context, c client.Client, root string, spec environment.Provider, opts Options) ([]kube.Outcome, error) {
	if opts.Clock == nil {
		opts.Clock = clock.RealClock{}
	}
	objects, err := gitops.Render(ctx, root, spec.Path, gitops.Options{Patches: opts.Patches})
	if err != nil {
		return nil, fmt.Errorf("provider %s: %w", spec.Name, err)
	}
	objects, err = certify(ctx, c, objects, opts.Clock)
	if err != nil {
		return nil, fmt.Errorf("provider %s: %w", spec.Name, err)
	}
	components, custom := split(append(objects, opts.Objects...))

	applyOptions := kube.ApplyOptions{Progress: opts.Progress}
	outcomes, err := kube.Apply(ctx, c, components, applyOptions)
	if err != nil {
		return outcomes, fmt.Errorf("provider %s: %w", spec.Name, err)
	}
	available := kube.DeploymentsAvailable(c, deployments(spec)...)
	if err := kube.WaitFor(ctx, available, kube.WaitOptions{Progress: opts.Progress}); err != nil {
		return outcomes, fmt.Errorf("provider %s: %w", spec.Name, err)
	}
	more, err := kube.Apply(ctx, c, custom, applyOptions)
	outcomes = append(outcomes, more...)
	if err != nil {
		return outcomes, fmt.Errorf("provider %s: %w", spec.Name, err)
	}
	// Only speed depends on it, so a failure is progress and no error.
	if err := kube.WarmKinds(ctx, c); err != nil && opts.Progress != nil {
		opts.Progress(fmt.Sprintf("provider %s: kinds stay cold: %v", spec.Name, err))
	}
	return outcomes, nil
}

func deployments(spec environment.Provider) []client.ObjectKey {
	keys := make([]client.ObjectKey, len(spec.Deployments))
	for i, name := range spec.Deployments {
		keys[i] = client.ObjectKey{Namespace: spec.Namespace, Name: name}
	}
	return keys
}

// split takes out the objects of kinds that Kubernetes does not serve by itself: their definitions, and the webhooks
// that judge them, come with the components.
func split(objects []*unstructured.Unstructured) (components, custom []*unstructured.Unstructured) {
	for _, object := range objects {
		kind := object.GroupVersionKind()
		if scheme.Scheme.Recognizes(kind) || kind.Group == "apiextensions.k8s.io" || kind.Group == "apiregistration.k8s.io" {
			components = append(components, object)
		} else {
			custom = append(custom, object)
		}
	}
	return components, custom
}
