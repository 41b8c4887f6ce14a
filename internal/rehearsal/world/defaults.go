package world

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"github.com/krops-go/krops/internal/rehearsal/awssim/ekssim"
)

// registry is where EKS takes its own images from in most regions (EKS User
// Guide, "View Amazon container image registries").
const registry = "602401143452.dkr.ecr.%s.amazonaws.com/eks/"

// installDefaults creates what EKS puts into a new cluster (EKS User Guide,
// "Amazon EKS add-ons"): aws-node, kube-proxy and coredns. Their names, labels
// and images are EKS's, the rest is the least that lets them run here, where
// no program stands for them.
func installDefaults(ctx context.Context, client kubernetes.Interface, spec ekssim.ClusterSpec) error {
	if !spec.SelfManagedAddons {
		return nil
	}
	image := func(name string) string { return fmt.Sprintf(registry+name, spec.ID.Region) }
	for _, d := range []*appsv1.DaemonSet{
		daemonSet("aws-node", "aws-node", image("amazon-k8s-cni:v1.22.3")),
		daemonSet("kube-proxy", "kube-proxy", image("kube-proxy:v1.35.3-minimal-eksbuild.13")),
	} {
		_, err := client.AppsV1().DaemonSets(d.Namespace).Create(ctx, d, metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("creating DaemonSet %s: %w", d.Name, err)
		}
	}
	dns := coreDNS(image("coredns:v1.14.3-eksbuild.11"))
	_, err := client.AppsV1().Deployments(dns.Namespace).Create(ctx, dns, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("creating Deployment %s: %w", dns.Name, err)
	}
	return nil
}

func daemonSet(name, app, image string) *appsv1.DaemonSet {
	labels := map[string]string{"k8s-app": app}
	return &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: name, Labels: labels},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					HostNetwork:       true,
					PriorityClassName: "system-node-critical",
					Tolerations:       []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
					Containers:        []corev1.Container{{Name: name, Image: image}},
				},
			},
		},
	}
}

func coreDNS(image string) *appsv1.Deployment {
	labels := map[string]string{"k8s-app": "kube-dns", "eks.amazonaws.com/component": "coredns"}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: "coredns", Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](2),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					PriorityClassName: "system-cluster-critical",
					Containers:        []corev1.Container{{Name: "coredns", Image: image}},
				},
			},
		},
	}
}
