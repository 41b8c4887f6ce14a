package kube

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strings"
	"time"

	"github.com/fluxcd/pkg/ssa"
	"github.com/fluxcd/pkg/ssa/normalize"
	"github.com/fluxcd/pkg/ssa/utils"
	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Action is what Apply did with an object.
type Action string

const (
	// Created means that the object did not exist before.
	Created Action = "created"
	// Configured means that the object existed and was changed.
	Configured Action = "configured"
	// Unchanged means that the object was already as wanted and was not written.
	Unchanged Action = "unchanged"
	// Skipped means that the object forbids its change by an annotation or label.
	Skipped Action = "skipped"
	// Failed means that the object could not be applied; the outcome's error says why.
	Failed Action = "failed"
	// NotTried means that an object before it failed.
	NotTried Action = "not tried"
)

// Outcome is what became of one object.
type Outcome struct {
	// Subject is Kind/namespace/name, or Kind/name for objects without a namespace.
	Subject string
	Action  Action
	// Err is set exactly when Action is Failed.
	Err error
}

// ApplyOptions tune Apply. The zero value is ready to use.
type ApplyOptions struct {
	// Progress is told what Apply waits for. It may be called from several goroutines at once. May be nil.
	Progress func(reason string)
	// RetryInterval is the pause before an object is tried again; half a second if zero.
	RetryInterval time.Duration
}

// applyConcurrency bounds the requests in flight; more does not make an API server on a small machine faster.
const applyConcurrency = 8

// Apply makes the objects what they are handed in as, by server-side apply, and returns one outcome for each, also
// when it fails. Fields that the objects do not name are left alone; fields of other managers that they do name are
// taken over. Objects that are as wanted are not written.
//
// CustomResourceDefinitions and Namespaces come first and are waited for, then the rest in Flux's order. Webhooks
// that do not answer yet, kinds that are not served yet and a server that is busy or restarting are retried until
// ctx ends: give it a deadline. The objects are not changed.
func Apply(ctx context.Context, c client.Client, objects []*unstructured.Unstructured, opts ApplyOptions) ([]Outcome, error) {
	desired := make([]*unstructured.Unstructured, len(objects))
	for i, object := range objects {
		desired[i] = object.DeepCopy()
	}
	if err := normalize.UnstructuredList(desired); err != nil {
		return nil, fmt.Errorf("prepare objects: %w", err)
	}
	sort.Stable(ssa.SortableUnstructureds(desired))

	run := &applyRun{
		manager: ssa.NewResourceManager(c, nil, ssa.Owner{Field: fieldManager}),
		client:  c,
		opts:    opts,
	}
	definitions, rest := split(desired)
	outcomes, err := run.stage(ctx, [][]*unstructured.Unstructured{definitions})
	if err == nil {
		err = run.established(ctx, definitions)
	}
	if err != nil {
		return append(outcomes, notTried(rest)...), err
	}
	others, err := run.stage(ctx, byKind(rest))
	return append(outcomes, others...), err
}

// applyRun is one call of Apply.
type applyRun struct {
	manager *ssa.ResourceManager
	client  client.Client
	opts    ApplyOptions
}

// stage applies groups one after the other and the objects of a group side by side. It stops after the first group
// with a failure.
func (r *applyRun) stage(ctx context.Context, groups [][]*unstructured.Unstructured) ([]Outcome, error) {
	var outcomes []Outcome
	for i, group := range groups {
		results := make([]Outcome, len(group))
		var workers errgroup.Group
		workers.SetLimit(applyConcurrency)
		for j, object := range group {
			workers.Go(func() error {
				results[j] = r.apply(ctx, object)
				return results[j].Err
			})
		}
		failed := workers.Wait() != nil
		outcomes = append(outcomes, results...)
		if failed {
			for _, later := range groups[i+1:] {
				outcomes = append(outcomes, notTried(later)...)
			}
			return outcomes, failures(outcomes)
		}
	}
	return outcomes, nil
}

func (r *applyRun) apply(ctx context.Context, object *unstructured.Unstructured) Outcome {
	outcome := Outcome{Subject: utils.FmtUnstructured(object), Action: Failed}
	var permanent error
	err := WaitFor(ctx, Condition{
		Description: "the API server to accept " + outcome.Subject,
		Check: func(ctx context.Context) error {
			done, err := r.applyOnce(ctx, object)
			switch {
			case err == nil:
				outcome.Action = done
			case ctx.Err() != nil, retryable(err):
				return err
			default:
				permanent = err
			}
			return nil
		},
	}, WaitOptions{Interval: r.opts.RetryInterval, Progress: r.opts.Progress})
	outcome.Err = errors.Join(permanent, err)
	return outcome
}

// applyOnce tries once. Flux's library runs dry before it writes, to leave alone what is as wanted. For a definition
// that does not exist there is nothing to leave alone, and each is large enough to be worth the shortcut.
func (r *applyRun) applyOnce(ctx context.Context, object *unstructured.Unstructured) (Action, error) {
	if utils.IsCRD(object) {
		existing := &metav1.PartialObjectMetadata{}
		existing.SetGroupVersionKind(object.GroupVersionKind())
		if err := r.client.Get(ctx, client.ObjectKeyFromObject(object), existing); apierrors.IsNotFound(err) {
			//lint:ignore SA1019 the typed Apply takes no unstructured object
			return Created, r.client.Patch(ctx, object.DeepCopy(), client.Apply, client.ForceOwnership, client.FieldOwner(fieldManager))
		}
	}
	entry, err := r.manager.Apply(ctx, object, ssa.DefaultApplyOptions())
	if err != nil {
		return Failed, err
	}
	return action(entry.Action), nil
}

// established waits until the API server serves the kinds that were just defined.
func (r *applyRun) established(ctx context.Context, definitions []*unstructured.Unstructured) error {
	var names []string
	for _, object := range definitions {
		if utils.IsCRD(object) {
			names = append(names, object.GetName())
		}
	}
	if len(names) == 0 {
		return nil
	}
	return WaitFor(ctx, CRDsEstablished(r.client, names...), WaitOptions{Progress: r.opts.Progress, Interval: r.opts.RetryInterval})
}

func action(a ssa.Action) Action {
	switch a {
	case ssa.CreatedAction:
		return Created
	case ssa.ConfiguredAction:
		return Configured
	case ssa.UnchangedAction:
		return Unchanged
	default:
		return Skipped
	}
}

// split takes out what the rest may need to be accepted at all.
func split(objects []*unstructured.Unstructured) (definitions, rest []*unstructured.Unstructured) {
	for _, object := range objects {
		if utils.IsCRD(object) || utils.IsNamespace(object) {
			definitions = append(definitions, object)
		} else {
			rest = append(rest, object)
		}
	}
	return definitions, rest
}

// byKind cuts sorted objects into runs of one kind. Order matters between kinds, not within one.
func byKind(objects []*unstructured.Unstructured) [][]*unstructured.Unstructured {
	var groups [][]*unstructured.Unstructured
	for i, object := range objects {
		if i == 0 || object.GroupVersionKind().GroupKind() != objects[i-1].GroupVersionKind().GroupKind() {
			groups = append(groups, nil)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], object)
	}
	return groups
}

func notTried(objects []*unstructured.Unstructured) []Outcome {
	outcomes := make([]Outcome, len(objects))
	for i, object := range objects {
		outcomes[i] = Outcome{Subject: utils.FmtUnstructured(object), Action: NotTried}
	}
	return outcomes
}

// failures joins the errors of the failed outcomes. The errors of Flux's library name the object already, those of
// a wait do too.
func failures(outcomes []Outcome) error {
	var failed []error
	for _, outcome := range outcomes {
		if outcome.Err != nil {
			failed = append(failed, outcome.Err)
		}
	}
	return errors.Join(failed...)
}

// Summary counts outcomes by action, as in "3 created, 1 unchanged".
func Summary(outcomes []Outcome) string {
	counts := map[Action]int{}
	for _, outcome := range outcomes {
		counts[outcome.Action]++
	}
	var parts []string
	for _, a := range []Action{Created, Configured, Unchanged, Skipped, Failed, NotTried} {
		if counts[a] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[a], a))
		}
	}
	return strings.Join(parts, ", ")
}
