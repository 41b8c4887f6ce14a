// Package aws is the AWS account that an environment lives in, as the lifecycle
// needs it: the controllers' credentials, the way into the management cluster,
// and the sweep with its proof.
package aws

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/krops-go/krops/internal/aws/ekscluster"
	"github.com/krops-go/krops/internal/aws/inventory"
	"github.com/krops-go/krops/internal/aws/session"
	"github.com/krops-go/krops/internal/aws/sweep"
	"github.com/krops-go/krops/internal/environment"
	"github.com/krops-go/krops/internal/gitops"
	"github.com/krops-go/krops/internal/kube"
	"github.com/krops-go/krops/internal/lifecycle"
	"github.com/krops-go/krops/internal/presence"
)

// Estate is an environment's part of an AWS account.
type Estate struct {
	// Environment is what is there.
	Environment *environment.Environment
	// Settings say where AWS is and who calls it.
	Settings session.Settings
	// TokenCommand is the krops program, as kubeconfigs call it for tokens.
	TokenCommand string
	// SweepOptions are how patient a sweep is; the zero value suits real AWS.
	SweepOptions sweep.Options
}

var _ lifecycle.Cloud = (*Estate)(nil)

// config is the SDK's configuration for the management cluster's region.
func (e *Estate) config(ctx context.Context) (aws.Config, error) {
	return session.Config(ctx, e.Environment.ManagementCluster.Region, e.Settings)
}

// Where the provider's Deployment reads its credentials.
const (
	credentialsNamespace = "capa-system"
	credentialsName      = "aws-credentials"
	credentialsKey       = "credentials"
)

// Secrets returns the provider's credentials: those that this run itself has.
func (e *Estate) Secrets(ctx context.Context) ([]*unstructured.Unstructured, error) {
	cfg, err := e.config(ctx)
	if err != nil {
		return nil, err
	}
	keys, err := cfg.Credentials.Retrieve(ctx)
	if err != nil {
		return nil, fmt.Errorf("finding AWS credentials for the provider: %w; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in .env", err)
	}
	var file strings.Builder
	fmt.Fprintf(&file, "[default]\naws_access_key_id = %s\naws_secret_access_key = %s\nregion = %s\n", keys.AccessKeyID, keys.SecretAccessKey, cfg.Region)
	if keys.SessionToken != "" {
		fmt.Fprintf(&file, "aws_session_token = %s\n", keys.SessionToken)
	}
	return []*unstructured.Unstructured{{Object: map[string]any{
		"apiVersion": "v1",
		"kind":       "Secret",
		"metadata":   map[string]any{"namespace": credentialsNamespace, "name": credentialsName},
		"type":       "Opaque",
		"stringData": map[string]any{credentialsKey: file.String()},
	}}}, nil
}

// ManagementCluster looks the management cluster up in EKS.
func (e *Estate) ManagementCluster(ctx context.Context) (lifecycle.ControlPlane, presence.Presence, error) {
	var none lifecycle.ControlPlane
	cfg, err := e.config(ctx)
	if err != nil {
		return none, presence.Unknown, err
	}
	name, err := e.managementClusterName(ctx)
	if err != nil {
		return none, presence.Unknown, err
	}
	c, found, err := ekscluster.Describe(ctx, cfg, name)
	if found != presence.Present {
		return none, found, err
	}
	return lifecycle.ControlPlane{
		Serving:  c.Endpoint != "" && (c.Status == types.ClusterStatusActive || c.Status == types.ClusterStatusUpdating),
		Deleting: c.Status == types.ClusterStatusDeleting,
		State:    string(c.Status),
		Access: kube.Context{
			Cluster: clientcmdapi.Cluster{Server: c.Endpoint, CertificateAuthorityData: c.CA},
			User:    clientcmdapi.AuthInfo{Exec: e.tokenCommand(name)},
		},
	}, presence.Present, nil
}

// tokenCommand makes kubectl and its like ask krops for a fresh token. It
// carries no secret: where credentials are ambient, they are so for the caller.
func (e *Estate) tokenCommand(cluster string) *clientcmdapi.ExecConfig {
	exec := &clientcmdapi.ExecConfig{
		APIVersion:      "client.authentication.k8s.io/v1",
		Command:         e.TokenCommand,
		Args:            []string{"eks-token", "--region", e.Environment.ManagementCluster.Region, "--cluster", cluster},
		InteractiveMode: clientcmdapi.NeverExecInteractiveMode,
	}
	if e.Settings.EndpointURL != "" {
		exec.Args = append(exec.Args, "--endpoint-url", e.Settings.EndpointURL)
	}
	if e.Settings.SharedCredentialsFile != "" {
		exec.Args = append(exec.Args, "--credentials-file", e.Settings.SharedCredentialsFile)
	}
	return exec
}

// managementClusterName is the management cluster's name in EKS.
func (e *Estate) managementClusterName(ctx context.Context) (string, error) {
	names, err := e.clusterNames(ctx)
	if err != nil {
		return "", err
	}
	for _, n := range names {
		if n.CAPI == e.Environment.ManagementCluster.Name {
			return n.EKS, nil
		}
	}
	return "", fmt.Errorf("%s declares no AWSManagedControlPlane for Cluster %s", e.Environment.ManagementCluster.Path, e.Environment.ManagementCluster.Name)
}

// clusterNames reads the environment's clusters from its manifests.
func (e *Estate) clusterNames(ctx context.Context) ([]inventory.ClusterName, error) {
	objects, err := gitops.Render(ctx, e.Environment.Root, e.Environment.ManagementCluster.Path, gitops.Options{})
	if err != nil {
		return nil, err
	}
	return clusterNamesOf(objects)
}

// clusterNamesOf finds the EKS name and region of each Cluster among objects.
func clusterNamesOf(objects []*unstructured.Unstructured) ([]inventory.ClusterName, error) {
	planes := map[string]*unstructured.Unstructured{}
	for _, o := range objects {
		if o.GetKind() == "AWSManagedControlPlane" {
			planes[o.GetNamespace()+"/"+o.GetName()] = o
		}
	}
	var names []inventory.ClusterName
	for _, o := range objects {
		if o.GetKind() != "Cluster" || !strings.HasPrefix(o.GetAPIVersion(), "cluster.x-k8s.io/") {
			continue
		}
		ref, _, _ := unstructured.NestedString(o.Object, "spec", "controlPlaneRef", "name")
		plane, ok := planes[o.GetNamespace()+"/"+ref]
		if !ok {
			return nil, fmt.Errorf("the Cluster %s/%s refers to AWSManagedControlPlane %q, which is not declared beside it", o.GetNamespace(), o.GetName(), ref)
		}
		eks, _, _ := unstructured.NestedString(plane.Object, "spec", "eksClusterName")
		region, _, _ := unstructured.NestedString(plane.Object, "spec", "region")
		if eks == "" {
			// What the provider's webhook would choose.
			eks = strings.ReplaceAll(o.GetNamespace()+"_"+plane.GetName(), ".", "_")
		}
		names = append(names, inventory.ClusterName{CAPI: o.GetName(), EKS: eks, Region: region})
	}
	slices.SortFunc(names, func(a, b inventory.ClusterName) int { return cmp.Compare(a.CAPI, b.CAPI) })
	return names, nil
}

func (e *Estate) scope(ctx context.Context) (inventory.Scope, error) {
	names, err := e.clusterNames(ctx)
	if err != nil {
		return inventory.Scope{}, err
	}
	return inventory.Scope{Clusters: names}, nil
}

// Sweep takes the inventory and deletes it.
func (e *Estate) Sweep(ctx context.Context, waiting func(string)) error {
	cfg, err := e.config(ctx)
	if err != nil {
		return err
	}
	scope, err := e.scope(ctx)
	if err != nil {
		return err
	}
	inv, err := inventory.Take(ctx, inventory.FromConfig(cfg), scope)
	if err != nil {
		return fmt.Errorf("taking the inventory: %w", err)
	}
	options := e.SweepOptions
	options.Observer = &narrator{say: waiting, open: map[string]bool{}}
	_, err = sweep.NewPlan(inv).Execute(ctx, sweep.NewCloud(cfg), options)
	return err
}

// Prove takes a fresh inventory and returns an error unless it is empty.
func (e *Estate) Prove(ctx context.Context) error {
	cfg, err := e.config(ctx)
	if err != nil {
		return err
	}
	scope, err := e.scope(ctx)
	if err != nil {
		return err
	}
	_, err = sweep.Verify(ctx, inventory.FromConfig(cfg), scope)
	return err
}

// narrator tells of a sweep what it is busy with.
type narrator struct {
	say  func(string)
	open map[string]bool
	done int
}

// Observe implements sweep.Observer.
func (n *narrator) Observe(e sweep.Event) {
	name := fmt.Sprintf("%s %s", e.Step.Item.Kind, cmp.Or(e.Step.Item.Name, e.Step.Item.ID))
	if e.Kind == sweep.Finished {
		delete(n.open, name)
		n.done++
	} else {
		n.open[name] = true
	}
	const shown = 3
	busy := sets.List(sets.KeySet(n.open))
	text := strings.Join(busy[:min(shown, len(busy))], ", ")
	if more := len(busy) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	if text != "" {
		n.say(fmt.Sprintf("%d steps done; deleting %s", n.done, text))
	}
}
