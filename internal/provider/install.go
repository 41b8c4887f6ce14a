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
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/krops-go/krops/internal/environment"
	"github.com/krops-go/krops/internal/gitops"
	"github.com/krops-go/krops/internal/kube"
)

//go:generate go run ./providergen -out ../../mgmt/aws/capi-providers

// Components are the manifests of an environment's providers, ready to be installed into any number of clusters.
type Components struct {
	specs   []environment.Provider
	own     map[string][]*unstructured.Unstructured // by the provider's name
	objects []*unstructured.Unstructured            // of all, in order
}

// Render reads the providers' manifests from the estate at root. The patches, by the provider's name, are for what
// differs from the tree where a run takes place. Nothing but the estate's files is looked at.
func Render(ctx context.Context, root string, specs []environment.Provider, patches map[string][]gitops.Patch) (*Components, error) {
	rendered := make([][]*unstructured.Unstructured, len(specs))
	group, ctx := errgroup.WithContext(ctx)
	for i, spec := range specs {
		group.Go(func() (err error) {
			if rendered[i], err = gitops.Render(ctx, root, spec.Path, gitops.Options{Patches: patches[spec.Name]}); err != nil {
				return fmt.Errorf("provider %s: %w", spec.Name, err)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	components := &Components{specs: specs, own: map[string][]*unstructured.Unstructured{}, objects: slices.Concat(rendered...)}
	for i, spec := range specs {
		components.own[spec.Name] = rendered[i]
	}
	return components, nil
}

// Check judges objects of the providers' kinds by the schemas that the providers bring, as an API server would, and finds
// unknown fields besides, which it would drop without a word. path is where the objects were rendered from, with
// gitops.Options.Origins. What the estate says of the providers themselves is judged, too.
func (p *Components) Check(path string, objects []*unstructured.Unstructured) error {
	schemas, err := gitops.SchemasOf(p.objects)
	if err != nil {
		return err
	}
	errs := []error{schemas.Check(path, objects, builtIn)}
	for _, spec := range p.specs {
		errs = append(errs, schemas.Check(spec.Path, p.own[spec.Name], func(kind schema.GroupVersionKind) bool {
			return builtIn(kind) || kind.Group == certManagerGroup
		}))
	}
	return errors.Join(errs...)
}

// Options change how Install works. The zero value is ready to use.
type Options struct {
	// Objects are applied together with the components, for what the Deployments need and Git must not have: the
	// Secret with credentials. They are not changed.
	Objects []*unstructured.Unstructured
	// Progress is told what Install waits for. It may be called from several goroutines at once. May be nil.
	Progress func(reason string)
	// Clock decides whether a certificate has to be replaced; the real one if nil.
	Clock clock.PassiveClock
}

// lookEvery is the pause between two looks at what Install waits for.
const lookEvery = 200 * time.Millisecond

// Install brings the providers in a cluster to the state that the estate declares, and returns what it did with each
// object, also when it fails. When it returns without an error, the providers' Deployments are available, their custom
// objects (clusterctl's inventory entries among them) are written, and `clusterctl move` finds their kinds warm.
//
// All definitions come before all Deployments, since a provider's controllers watch kinds of the ones before it.
//
// It can be called again at any time; a second call finds nothing to do. It retries until ctx ends: give it a
// deadline.
func (p *Components) Install(ctx context.Context, c client.Client, opts Options) ([]kube.Outcome, error) {
	if opts.Clock == nil {
		opts.Clock = clock.RealClock{}
	}
	objects := make([]*unstructured.Unstructured, len(p.objects))
	for i, object := range p.objects {
		objects[i] = object.DeepCopy()
	}
	objects, err := certify(ctx, c, objects, opts.Clock)
	if err != nil {
		return nil, fmt.Errorf("providers: %w", err)
	}
	components, custom := split(append(objects, opts.Objects...))

	applyOptions := kube.ApplyOptions{Progress: opts.Progress, RetryInterval: lookEvery}
	outcomes, err := kube.Apply(ctx, c, components, applyOptions)
	if err != nil {
		return outcomes, fmt.Errorf("providers: %w", err)
	}
	available := kube.DeploymentsAvailable(c, p.deployments()...)
	if err := kube.WaitFor(ctx, available, kube.WaitOptions{Progress: opts.Progress, Interval: lookEvery}); err != nil {
		return outcomes, fmt.Errorf("providers: %w", err)
	}
	more, err := kube.Apply(ctx, c, custom, applyOptions)
	outcomes = append(outcomes, more...)
	if err != nil {
		return outcomes, fmt.Errorf("providers: %w", err)
	}
	// Only speed depends on it, so a failure is progress and no error.
	if err := kube.WarmKinds(ctx, c); err != nil && opts.Progress != nil {
		opts.Progress(fmt.Sprintf("kinds stay cold: %v", err))
	}
	return outcomes, nil
}

func (p *Components) deployments() []client.ObjectKey {
	var keys []client.ObjectKey
	for _, spec := range p.specs {
		for _, name := range spec.Deployments {
			keys = append(keys, client.ObjectKey{Namespace: spec.Namespace, Name: name})
		}
	}
	return keys
}

// builtIn reports whether Kubernetes serves the kind by itself.
func builtIn(kind schema.GroupVersionKind) bool {
	return scheme.Scheme.Recognizes(kind) || kind.Group == "apiextensions.k8s.io" || kind.Group == "apiregistration.k8s.io"
}

// split takes out the objects of custom kinds: their definitions, and the webhooks that judge them, come with the
// components.
func split(objects []*unstructured.Unstructured) (components, custom []*unstructured.Unstructured) {
	for _, object := range objects {
		if builtIn(object.GroupVersionKind()) {
			components = append(components, object)
		} else {
			custom = append(custom, object)
		}
	}
	return components, custom
}
