package ekssim

import (
	"context"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// job is something that really takes time for a cluster. work runs outside
// the account's lock and must not touch the service; finish runs inside it.
type job struct {
	work   func(ctx context.Context) error
	finish func(err error)
}

// enqueue runs the job after all earlier ones for the same cluster, since
// Clusters is never called twice at a time for one. What the end of the process
// interrupts is not finished, by World.Async's nature: Resume starts it over.
func (s *Service) enqueue(w service.World, id ClusterID, j job) {
	s.queues[id] = append(s.queues[id], j)
	if len(s.queues[id]) == 1 {
		s.runFirst(w, id)
	}
}

func (s *Service) runFirst(w service.World, id ClusterID) {
	j := s.queues[id][0]
	w.Async(j.work, func(err error) {
		j.finish(err)
		// Only now, so that what finish enqueued has waited its turn.
		s.queues[id] = s.queues[id][1:]
		if len(s.queues[id]) > 0 {
			s.runFirst(w, id)
		} else {
			delete(s.queues, id)
		}
	})
}
