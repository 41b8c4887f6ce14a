package capa

import (
	"context"
	"fmt"

	"k8s.io/client-go/tools/record"
	"k8s.io/utils/ptr"
	eksbootstrapcontrollers "sigs.k8s.io/cluster-api-provider-aws/v2/bootstrap/eks/controllers"
	"sigs.k8s.io/cluster-api-provider-aws/v2/controllers"
	ekscontrollers "sigs.k8s.io/cluster-api-provider-aws/v2/controlplane/eks/controllers"
	"sigs.k8s.io/cluster-api-provider-aws/v2/exp/controlleridentitycreator"
	expcontrollers "sigs.k8s.io/cluster-api-provider-aws/v2/exp/controllers"
	"sigs.k8s.io/cluster-api-provider-aws/v2/feature"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller"
)

type setup interface {
	SetupWithManager(context.Context, ctrl.Manager, controller.Options) error
}

func addReconcilers(ctx context.Context, mgr ctrl.Manager, o options) error {
	var (
		c             = mgr.GetClient()
		gc            = feature.Gates.Enabled(feature.ExternalResourceGC)
		alternativeGC = gc && feature.Gates.Enabled(feature.AlternativeGCStrategy)
		tagUnmanaged  = feature.Gates.Enabled(feature.TagUnmanagedNetworkResources)
		enableIAM     = feature.Gates.Enabled(feature.EKSEnableIAM)
		addRoles      = feature.Gates.Enabled(feature.EKSAllowAddRoles)
	)
	type entry struct {
		name       string
		wanted     bool
		concurrent int
		reconciler setup
	}
	entries := []entry{
		{"AWSMachine", true, o.machines, &controllers.AWSMachineReconciler{
			Client: c, Log: ctrl.Log.WithName("controllers").WithName("AWSMachine"), Recorder: recorder(mgr, "awsmachine-controller"),
			WatchFilterValue: o.watchFilter, TagUnmanagedNetworkResources: tagUnmanaged, MaxWaitActiveUpdateDelete: o.maxWait,
		}},
		{"AWSCluster", true, o.clusters, &controllers.AWSClusterReconciler{
			Client: c, Recorder: recorder(mgr, "awscluster-controller"), WatchFilterValue: o.watchFilter,
			ExternalResourceGC: gc, AlternativeGCStrategy: alternativeGC, TagUnmanagedNetworkResources: tagUnmanaged, MaxWaitActiveUpdateDelete: o.maxWait,
		}},
		{"AWSMachineTemplate", true, o.clusters, &controllers.AWSMachineTemplateReconciler{Client: c, WatchFilterValue: o.watchFilter}},
		{"AWSControllerIdentity", feature.Gates.Enabled(feature.AutoControllerIdentityCreator), o.clusters, &controlleridentitycreator.AWSControllerIdentityReconciler{
			Client: c, Log: ctrl.Log.WithName("controllers").WithName("AWSControllerIdentity"), WatchFilterValue: o.watchFilter,
		}},
		{"AWSMachinePool", feature.Gates.Enabled(feature.MachinePool), o.pools, &expcontrollers.AWSMachinePoolReconciler{
			Client: c, Recorder: recorder(mgr, "awsmachinepool-controller"), WatchFilterValue: o.watchFilter, TagUnmanagedNetworkResources: tagUnmanaged,
		}},
		{"AWSManagedControlPlane", feature.Gates.Enabled(feature.EKS), o.clusters, &ekscontrollers.AWSManagedControlPlaneReconciler{
			Client: c, EnableIAM: enableIAM, AllowAdditionalRoles: addRoles, WatchFilterValue: o.watchFilter,
			ExternalResourceGC: gc, AlternativeGCStrategy: alternativeGC, WaitInfraPeriod: o.waitInfraPeriod,
			MaxWaitActiveUpdateDelete: o.maxWait, TagUnmanagedNetworkResources: tagUnmanaged,
		}},
		{"EKSConfig", feature.Gates.Enabled(feature.EKS), o.clusters, &eksbootstrapcontrollers.EKSConfigReconciler{Client: c, WatchFilterValue: o.watchFilter}},
		{"NodeadmConfig", feature.Gates.Enabled(feature.EKS), o.clusters, &eksbootstrapcontrollers.NodeadmConfigReconciler{Client: c, WatchFilterValue: o.watchFilter}},
		{"AWSManagedCluster", feature.Gates.Enabled(feature.EKS), o.clusters, &controllers.AWSManagedClusterReconciler{
			Client: c, Recorder: recorder(mgr, "awsmanagedcluster-controller"), WatchFilterValue: o.watchFilter,
		}},
		{"AWSManagedMachinePool", feature.Gates.Enabled(feature.EKS) && feature.Gates.Enabled(feature.MachinePool), o.pools, &expcontrollers.AWSManagedMachinePoolReconciler{
			Client: c, AllowAdditionalRoles: addRoles, EnableIAM: enableIAM, Recorder: recorder(mgr, "awsmanagedmachinepool-reconciler"),
			WatchFilterValue: o.watchFilter, TagUnmanagedNetworkResources: tagUnmanaged, MaxWaitActiveUpdateDelete: o.maxWait,
		}},
	}
	for _, e := range entries {
		if !e.wanted {
			continue
		}
		err := e.reconciler.SetupWithManager(ctx, mgr, controller.Options{MaxConcurrentReconciles: e.concurrent, RecoverPanic: ptr.To(true)})
		if err != nil {
			return fmt.Errorf("creating the %s controller: %w", e.name, err)
		}
	}
	return nil
}

// recorder returns an event recorder of the kind that the release's controllers
// take.
func recorder(mgr ctrl.Manager, name string) record.EventRecorder {
	//lint:ignore SA1019 The controllers take no other yet.
	return mgr.GetEventRecorderFor(name)
}
