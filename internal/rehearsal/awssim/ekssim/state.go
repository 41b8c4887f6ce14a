package ekssim

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

type state struct {
	Regions map[string]map[string]*cluster // by region, then by name
}

// The View fields below are what the describe operations show. What a view
// refers to is replaced, never changed in place, so that an answer shares it
// and still shows what was when it was given.

type cluster struct {
	ID      ClusterID
	Account string
	Creator string // ARN of the principal that created it, without session
	View    types.Cluster
	Pending *types.Cluster // the view once the update under way is done

	SelfManagedAddons bool
	Interfaces        []string // the control plane's, in the account's subnets
	// Due is when a transitional status ends. It is zero while the work that
	// the status stands for still goes on.
	Due time.Time
	// ShowUntil is set while an SDK waiter has yet to see UPDATING, which
	// lasts till then at the most.
	ShowUntil time.Time

	NodeGroups    map[string]*nodeGroup
	Addons        map[string]*addon
	AccessEntries map[string]*accessEntry // by principal ARN
	PodIdentities map[string]*podIdentity `json:",omitempty"` // by association id
	// IdentityProvider is the cluster's OpenID Connect provider, or nil.
	IdentityProvider *identityProvider `json:",omitempty"`
	Updates          []*update         // oldest first
}

type nodeGroup struct {
	View    types.Nodegroup
	Pending *types.Nodegroup

	Token   string
	Group   string // the Auto Scaling group's name
	Profile string // the instance profile's name
	// BoundsAsked is whether the size limits were asked for. Those that were
	// not make way for the desired size.
	BoundsAsked bool
	Leaving     []string // instances that are on their way out
	Relabel     bool     // the nodes that stay have to be registered anew
	Due         time.Time
}

type addon struct {
	View    types.Addon
	Pending *types.Addon
	Token   string
	Due     time.Time
}

type accessEntry struct {
	View     types.AccessEntry
	Token    string
	Policies map[string]types.AssociatedAccessPolicy // by policy ARN
}

type update struct {
	View             types.Update
	NodeGroup, Addon string
	Token            string
}

// all yields the clusters of every region in stable order.
func (s *Service) all() iter.Seq[*cluster] {
	return func(yield func(*cluster) bool) {
		for _, region := range slices.Sorted(maps.Keys(s.state.Regions)) {
			for _, name := range slices.Sorted(maps.Keys(s.state.Regions[region])) {
				if !yield(s.state.Regions[region][name]) {
					return
				}
			}
		}
	}
}

func (s *Service) byID(id ClusterID) *cluster { return s.state.Regions[id.Region][id.Name] }

func (s *Service) lookup(region string, name *string) (*cluster, error) {
	if cl := s.byID(ClusterID{Region: region, Name: aws.ToString(name)}); cl != nil {
		return cl, nil
	}
	return nil, notFound("No cluster found for name: %s.", aws.ToString(name))
}

func (s *Service) lookupNodeGroup(region string, clusterName, name *string) (*cluster, *nodeGroup, error) {
	cl, err := s.lookup(region, clusterName)
	if err != nil {
		return nil, nil, err
	}
	if ng := cl.NodeGroups[aws.ToString(name)]; ng != nil {
		return cl, ng, nil
	}
	return nil, nil, notFound("No node group found for name: %s.", aws.ToString(name))
}

func (s *Service) lookupAddon(region string, clusterName, name *string) (*cluster, *addon, error) {
	cl, err := s.lookup(region, clusterName)
	if err != nil {
		return nil, nil, err
	}
	if a := cl.Addons[aws.ToString(name)]; a != nil {
		return cl, a, nil
	}
	return nil, nil, notFound("No addon: %s found in cluster: %s", aws.ToString(name), cl.ID.Name)
}

// requireActive refuses what may only be done to a cluster at rest.
func (cl *cluster) requireActive(action string) error {
	switch cl.View.Status {
	case types.ClusterStatusActive:
		return nil
	case types.ClusterStatusUpdating:
		return inUse("Cannot %s because cluster %s currently has update %s in progress", action, cl.ID.Name, cl.openUpdate("", ""))
	}
	return invalidRequest("Cannot %s because cluster %s has status %s", action, cl.ID.Name, cl.View.Status)
}

// arn names something within the cluster, or the cluster itself.
func (cl *cluster) arn(kind string, path ...string) string {
	out := fmt.Sprintf("arn:aws:eks:%s:%s:%s/%s", cl.ID.Region, cl.Account, kind, cl.ID.Name)
	for _, p := range path {
		out += "/" + p
	}
	return out
}

// newUUID is an identifier of the form EKS gives to what lives in a cluster.
func newUUID(w service.World) string { return dashed(w.NewID("", 32)) }

// uuidOf is one that follows from what it identifies.
func uuidOf(subject string) string {
	sum := sha256.Sum256([]byte(subject))
	return dashed(hex.EncodeToString(sum[:16]))
}

func dashed(hex string) string {
	return hex[:8] + "-" + hex[8:12] + "-" + hex[12:16] + "-" + hex[16:20] + "-" + hex[20:]
}
