package controlplane

import (
	"context"
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/retry"

	"github.com/krops-go/krops/internal/cluster"
)

// establish takes up the definitions whose making an end of the process
// interrupted between the acceptance of their names and their establishment.
// The API server establishes a definition when it sees it change, so that one
// which was in that state when it started would be so for good.
func establish(ctx context.Context) error {
	config, err := clientcmd.BuildConfigFromFlags("", cluster.Layout(".").Kubeconfig())
	if err != nil {
		return fmt.Errorf("reading the cluster's kubeconfig: %w", err)
	}
	client, err := clientset.NewForConfig(config)
	if err != nil {
		return err
	}
	definitions := client.ApiextensionsV1().CustomResourceDefinitions()
	list, err := definitions.List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("listing CustomResourceDefinitions: %w", err)
	}
	for i := range list.Items {
		if !interrupted(&list.Items[i]) {
			continue
		}
		name := list.Items[i].Name
		err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
			crd, err := definitions.Get(ctx, name, metav1.GetOptions{})
			if err != nil || !interrupted(crd) {
				return err
			}
			touch(crd)
			_, err = definitions.UpdateStatus(ctx, crd, metav1.UpdateOptions{})
			return err
		})
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("taking up CustomResourceDefinition %s: %w", name, err)
		}
	}
	return nil
}

// interrupted reports that a definition waits to be established.
func interrupted(crd *apiextensionsv1.CustomResourceDefinition) bool {
	return apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.NamesAccepted) &&
		!apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.Established)
}

// touch changes a definition in a way that means nothing.
func touch(crd *apiextensionsv1.CustomResourceDefinition) {
	apihelpers.FindCRDCondition(crd, apiextensionsv1.NamesAccepted).LastTransitionTime = metav1.Now()
}
