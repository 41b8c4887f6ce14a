// Package timing is how long things take in the simulated AWS: the fast
// profile, in which a cluster's whole life passes in seconds, and AWS's own
// durations, for watching a product wait as long as it will have to.
//
// AWS publishes few durations. Where a page of its documentation states one,
// the comment names the page. The others are round figures within what
// operators report and what the provider's timeouts allow for: they are right
// in their order of magnitude, which is what waits and their messages depend
// on, and should not be cited.
//
// All run on the account's clock. Describe calls that SDK waiters make are held
// at most service.HoldLimit each, which is below the limits of clients and
// waiters, however long the change itself takes.
package timing

import (
	"time"

	"github.com/krops-go/krops/internal/rehearsal/awssim/ec2sim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/ekssim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/elbsim"
)

// Profile is the durations of the services.
type Profile struct {
	EC2 ec2sim.Timing
	EKS ekssim.Timing
	ELB elbsim.Timing
}

// Fast is fractions of a second for everything; never nothing, so that who
// does not wait is found out.
func Fast() Profile { return Profile{} }

// Real is AWS's own durations.
func Real() Profile {
	return Profile{
		EC2: ec2sim.Timing{
			VPC:    time.Second,
			Subnet: time.Second,
			// Providers give up on a NAT gateway after two minutes at the
			// earliest.
			NATCreate: 90 * time.Second,
			NATDelete: 50 * time.Second,
			Instance:  25 * time.Second,
			// VPC User Guide, "Work with NAT gateways": "the entry remains visible
			// for about an hour"; EC2 User Guide, "Terminate Amazon EC2 instances":
			// the same of instances.
			Remembered: time.Hour,
		},
		EKS: ekssim.Timing{
			// EKS User Guide, "Create an Amazon EKS cluster": "Cluster provisioning
			// takes several minutes".
			ClusterCreate: 9 * time.Minute,
			// EKS User Guide, "Update existing cluster to new Kubernetes version":
			// "The update takes several minutes to complete".
			ClusterUpdate: 8 * time.Minute,
			ClusterDelete: 4 * time.Minute,
			NodeGroup:     3 * time.Minute,
			Addon:         40 * time.Second,
			UpdateShown:   15 * time.Second,
		},
		ELB: elbsim.Timing{
			// Elastic Load Balancing, "Create a Network Load Balancer": "it can take
			// a few minutes" until it is active.
			Create: 3 * time.Minute,
			// The interfaces of a deleted load balancer hold on to its security
			// groups for minutes.
			Release: 5 * time.Minute,
		},
	}
}
