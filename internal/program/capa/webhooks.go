package capa

import (
	"errors"

	eksbootstrapwebhooks "sigs.k8s.io/cluster-api-provider-aws/v2/bootstrap/eks/webhooks"
	ekswebhooks "sigs.k8s.io/cluster-api-provider-aws/v2/controlplane/eks/webhooks"
	expwebhooks "sigs.k8s.io/cluster-api-provider-aws/v2/exp/webhooks"
	"sigs.k8s.io/cluster-api-provider-aws/v2/feature"
	"sigs.k8s.io/cluster-api-provider-aws/v2/webhooks"
	ctrl "sigs.k8s.io/controller-runtime"
)

func addWebhooks(mgr ctrl.Manager) error {
	errs := []error{
		(&webhooks.AWSMachineTemplate{}).SetupWebhookWithManager(mgr),
		(&webhooks.AWSMachine{}).SetupWebhookWithManager(mgr),
		(&webhooks.AWSCluster{}).SetupWebhookWithManager(mgr),
		(&webhooks.AWSClusterTemplate{}).SetupWebhookWithManager(mgr),
		(&webhooks.AWSClusterControllerIdentity{}).SetupWebhookWithManager(mgr),
		(&webhooks.AWSClusterRoleIdentity{}).SetupWebhookWithManager(mgr),
		(&webhooks.AWSClusterStaticIdentity{}).SetupWebhookWithManager(mgr),
		(&eksbootstrapwebhooks.EKSConfig{}).SetupWebhookWithManager(mgr),
		(&eksbootstrapwebhooks.EKSConfigTemplate{}).SetupWebhookWithManager(mgr),
	}
	if feature.Gates.Enabled(feature.MachinePool) {
		errs = append(errs,
			(&expwebhooks.AWSMachinePool{}).SetupWebhookWithManager(mgr),
			(&expwebhooks.AWSManagedMachinePool{}).SetupWebhookWithManager(mgr),
		)
	}
	if feature.Gates.Enabled(feature.EKS) {
		errs = append(errs,
			(&ekswebhooks.AWSManagedControlPlane{}).SetupWebhookWithManager(mgr),
			(&ekswebhooks.AWSManagedControlPlaneTemplate{}).SetupWebhookWithManager(mgr),
		)
	}
	return errors.Join(errs...)
}
