package ekssim

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// Resume starts every control plane again that ran when the last process
// ended, and takes up the work that it left undone.
func (s *Service) Resume(w service.World) {
	for _, cl := range slices.Collect(s.all()) {
		switch cl.View.Status {
		case types.ClusterStatusCreating:
			cl.Due = time.Time{} // what was started went with the process
			s.startNew(w, cl)
		case types.ClusterStatusActive, types.ClusterStatusUpdating:
			s.startAgain(w, cl)
		case types.ClusterStatusDeleting:
			if cl.Due.IsZero() {
				s.stop(w, cl)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(cl.NodeGroups)) {
			if ng := cl.NodeGroups[name]; !ng.atRest() && ng.Due.IsZero() {
				s.converge(w, cl, ng)
			}
		}
	}
}

// startAgain brings an existing control plane back. Its status stays as it
// was; a failure shows in its health and in Ready.
func (s *Service) startAgain(w service.World, cl *cluster) {
	id := cl.ID
	s.restarting[id] = true
	s.start(w, cl, func(plane ControlPlane, err error) {
		delete(s.restarting, id)
		cl := s.byID(id)
		if cl == nil { // deleted meanwhile
			return
		}
		if err != nil {
			s.restarts[id] = fmt.Errorf("cluster %s in %s was not started again: %w", id.Name, id.Region, err)
			cl.ailing(types.ClusterIssueCodeClusterUnreachable, s.restarts[id])
			return
		}
		cl.serve(plane)
		cl.View.Health = &types.ClusterHealth{Issues: []types.ClusterIssue{}}
	})
}

// Ready reports whether every cluster of the last process has been started
// again or has failed to, and the failures. The account's lock is held: it is
// a condition for World.Await.
func (s *Service) Ready() (bool, error) {
	if len(s.restarting) > 0 {
		return false, nil
	}
	var failed []error
	for cl := range s.all() {
		if err := s.restarts[cl.ID]; err != nil {
			failed = append(failed, err)
		}
	}
	return true, errors.Join(failed...)
}
