package lifecycle

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	clusterctl "sigs.k8s.io/cluster-api/cmd/clusterctl/client"
	"sigs.k8s.io/cluster-api/cmd/clusterctl/client/config"
	clusterctllog "sigs.k8s.io/cluster-api/cmd/clusterctl/log"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/krops-go/krops/internal/kube"
)

// moveLabel marks the CRDs whose objects clusterctl moves.
const moveLabel = "clusterctl.cluster.x-k8s.io"

// clusterctlMove runs clusterctl's move between two kubeconfigs.
func clusterctlMove(ctx context.Context, from, to, toContext, namespace string, waiting func(string)) error {
	clusterctllog.SetLogger(progressLogger(waiting))
	// Configuration files of a clusterctl that the user may have do not matter
	// here, and looking for them would make their folder.
	configuration, err := config.New(ctx, "", config.InjectReader(config.NewMemoryReader()))
	if err != nil {
		return err
	}
	c, err := clusterctl.New(ctx, "", clusterctl.InjectConfig(configuration))
	if err != nil {
		return err
	}
	return c.Move(ctx, clusterctl.MoveOptions{
		FromKubeconfig: clusterctl.Kubeconfig{Path: from},
		ToKubeconfig:   clusterctl.Kubeconfig{Path: to, Context: toContext},
		Namespace:      namespace,
	})
}

// progressLogger hands clusterctl's own messages on as reasons.
func progressLogger(waiting func(string)) logr.Logger {
	return funcr.NewJSON(func(string) {}, funcr.Options{RenderBuiltinsHook: func(kv []any) []any {
		for i := 0; i+1 < len(kv); i += 2 {
			if message, ok := kv[i+1].(string); ok && kv[i] == "msg" {
				waiting(strings.ToLower(message[:1]) + message[1:])
			}
		}
		return kv
	}})
}

// checkMove finds what would make the move fail half-way or leave something
// behind, without changing anything.
func (r *Run) checkMove(ctx context.Context, source, target *kube.Cluster) error {
	if err := movable(ctx, source, r.key().Namespace); err != nil {
		return err
	}
	var deployments []types.NamespacedName
	for _, p := range r.Environment.Providers {
		for _, d := range p.Deployments {
			deployments = append(deployments, types.NamespacedName{Namespace: p.Namespace, Name: d})
		}
	}
	if err := kube.DeploymentsAvailable(target, deployments...).Check(ctx); err != nil {
		return fmt.Errorf("the management cluster cannot take over: %w", err)
	}
	return r.webhooksAnswer(ctx, target)
}

// movable checks that every object a Cluster refers to is of a kind that moves.
func movable(ctx context.Context, source *kube.Cluster, namespace string) error {
	crds := &apiextensionsv1.CustomResourceDefinitionList{}
	if err := source.List(ctx, crds); err != nil {
		return fmt.Errorf("listing the custom kinds of the bootstrap cluster: %w", err)
	}
	moves := map[string]bool{}
	for _, crd := range crds.Items {
		_, marked := crd.Labels[moveLabel]
		moves[crd.Spec.Names.Kind+"."+crd.Spec.Group] = marked
	}
	clusters, err := listClusters(ctx, source)
	if err != nil {
		return err
	}
	var gaps []string
	for _, object := range clusters {
		if object.GetNamespace() != namespace {
			continue
		}
		for _, field := range []string{"infrastructureRef", "controlPlaneRef"} {
			ref, found, _ := unstructured.NestedStringMap(object.Object, "spec", field)
			if found && !moves[ref["kind"]+"."+ref["apiGroup"]] {
				gaps = append(gaps, fmt.Sprintf("%s %s, the %s of Cluster %s", ref["kind"], ref["name"], field, object.GetName()))
			}
		}
	}
	if len(gaps) == 0 {
		return nil
	}
	slices.Sort(gaps)
	return fmt.Errorf("these would be left behind, as their CRDs lack the label %s: %s; reinstall the provider that serves them", moveLabel, strings.Join(gaps, "; "))
}

// webhooksAnswer writes the management cluster's own objects to the target
// without effect: a webhook that is down fails the write now, instead of
// holding the move up for minutes while the source is paused.
func (r *Run) webhooksAnswer(ctx context.Context, target *kube.Cluster) error {
	objects, err := r.clusterObjects(ctx)
	if err != nil {
		return err
	}
	for _, object := range objects {
		//lint:ignore SA1019 the typed Apply takes no unstructured object
		err := target.Patch(ctx, object, client.Apply, client.DryRunAll, client.FieldOwner("krops-probe"), client.ForceOwnership)
		if err != nil {
			return fmt.Errorf("the management cluster does not take %s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
	return nil
}
