package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/krops-go/krops/internal/cluster"
)

const (
	deployments = 200
	writers     = 16
	lookAgain   = 50 * time.Millisecond
)

// deploymentsAvailable is how long 200 Deployments of one replica take from
// the first one's creation until all are available.
func deploymentsAvailable(ctx context.Context, s subject, folder string) (float64, error) {
	return withCluster(ctx, s, folder, 2, func(ctx context.Context, _ *cluster.Cluster, config *rest.Config) (float64, error) {
		client, err := kubernetes.NewForConfig(config)
		if err != nil {
			return 0, err
		}
		api := client.AppsV1().Deployments("default")
		began := time.Now()
		var all errgroup.Group
		all.SetLimit(writers)
		for i := range deployments {
			all.Go(func() error {
				_, err := api.Create(ctx, deployment("web-"+strconv.Itoa(i)), metav1.CreateOptions{})
				return err
			})
		}
		if err := all.Wait(); err != nil {
			return 0, err
		}
		for {
			list, err := api.List(ctx, metav1.ListOptions{})
			if err != nil {
				return 0, err
			}
			available := 0
			for _, d := range list.Items {
				available += int(d.Status.AvailableReplicas)
			}
			if available == deployments {
				return time.Since(began).Seconds(), nil
			}
			select {
			case <-ctx.Done():
				return 0, fmt.Errorf("%d of %d are available: %w", available, deployments, ctx.Err())
			case <-time.After(lookAgain):
			}
		}
	})
}

func deployment(name string) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "registry.k8s.io/pause:3.10"}}},
			},
		},
	}
}

// definitions is where the estate keeps the CRDs of its providers.
const definitions = "mgmt/aws/capi-providers/*/crds.yaml"

// installDefinitions installs the CRDs of the files and uses each kind once.
func installDefinitions(ctx context.Context, config *rest.Config, files string) error {
	client, err := clientset.NewForConfig(config)
	if err != nil {
		return err
	}
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	crds, err := readDefinitions(files)
	if err != nil {
		return err
	}
	api := client.ApiextensionsV1().CustomResourceDefinitions()
	for _, crd := range crds {
		if _, err := api.Create(ctx, crd, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	for _, crd := range crds {
		for {
			now, err := api.Get(ctx, crd.Name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			if apihelpers.IsCRDConditionTrue(now, apiextensionsv1.Established) {
				break
			}
			select {
			case <-ctx.Done():
				return fmt.Errorf("%s is not established: %w", crd.Name, ctx.Err())
			case <-time.After(lookAgain):
			}
		}
		for _, v := range crd.Spec.Versions {
			if !v.Served {
				continue
			}
			kind := schema.GroupVersionResource{Group: crd.Spec.Group, Version: v.Name, Resource: crd.Spec.Names.Plural}
			if _, err := objects.Resource(kind).List(ctx, metav1.ListOptions{}); err != nil {
				return err
			}
		}
	}
	return nil
}

func readDefinitions(files string) (crds []*apiextensionsv1.CustomResourceDefinition, err error) {
	paths, err := filepath.Glob(files)
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		decoder := yaml.NewYAMLOrJSONDecoder(f, 4096)
		for {
			crd := &apiextensionsv1.CustomResourceDefinition{}
			if err := decoder.Decode(crd); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			if crd.Kind == "CustomResourceDefinition" {
				crds = append(crds, crd)
			}
		}
	}
	if len(crds) == 0 {
		return nil, errors.New("no definitions in " + files)
	}
	return crds, nil
}
