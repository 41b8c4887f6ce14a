package cfnsim

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
)

// finish ends an operation whose steps are done, or turns it into the one that
// follows from how it went.
func (s *Service) finish(st *stack, now time.Time) {
	w := st.Work
	failed := strings.Join(w.Failed, ", ")
	switch w.Phase {
	case creating:
		switch {
		case len(w.Failed) == 0:
			s.complete(st, now, types.StackStatusCreateComplete)
		case st.OnFailure == types.OnFailureDoNothing:
			s.close(st, now, types.StackStatusCreateFailed, fmt.Sprintf("The following resource(s) failed to create: [%s]. ", failed))
		default:
			s.become(st, now, types.StackStatusRollbackInProgress,
				fmt.Sprintf("The following resource(s) failed to create: [%s]. Rollback requested by user.", failed))
			s.turn(w, rollingBack, stepsFor(st.deletionOrder()))
		}
	case rollingBack:
		switch {
		case len(w.Failed) > 0:
			s.close(st, now, types.StackStatusRollbackFailed, fmt.Sprintf("The following resource(s) failed to delete: [%s]. ", failed))
		case st.OnFailure == types.OnFailureDelete:
			st.DeletedAt = now
			s.close(st, now, types.StackStatusDeleteComplete, "")
		default:
			s.close(st, now, types.StackStatusRollbackComplete, "")
		}
	case updating:
		if len(w.Failed) > 0 {
			s.rollBackUpdate(st, now, failed)
			return
		}
		s.become(st, now, types.StackStatusUpdateCompleteCleanupInProgress, "")
		s.cleanUp(st)
	case updateRollback:
		if len(w.Failed) > 0 {
			s.close(st, now, types.StackStatusUpdateRollbackFailed, fmt.Sprintf("The following resource(s) failed to update: [%s]. ", failed))
			return
		}
		s.become(st, now, types.StackStatusUpdateRollbackCompleteCleanupInProgress, "")
		s.cleanUp(st)
	case cleaning:
		for _, name := range slices.Concat(w.Failed, w.Blocked) {
			delete(st.Resources, name) // it is left behind
		}
		if st.Status == types.StackStatusUpdateRollbackCompleteCleanupInProgress {
			s.close(st, now, types.StackStatusUpdateRollbackComplete, "")
			return
		}
		s.complete(st, now, types.StackStatusUpdateComplete)
	case deleting:
		if len(w.Failed) > 0 {
			s.close(st, now, types.StackStatusDeleteFailed, fmt.Sprintf("The following resource(s) failed to delete: [%s]. ", failed))
			return
		}
		st.DeletedAt = now
		s.close(st, now, types.StackStatusDeleteComplete, "")
	}
}

func stepsFor(names []string) []step {
	var steps []step
	for _, name := range names {
		steps = append(steps, step{LogicalID: name})
	}
	return steps
}

// turn makes one operation into another.
func (s *Service) turn(w *work, to phase, steps []step) {
	w.Phase, w.Steps, w.Started, w.Failed, w.Blocked = to, steps, false, nil, nil
}

// close ends the operation.
func (s *Service) close(st *stack, now time.Time, status types.StackStatus, why string) {
	s.become(st, now, status, why)
	st.Work = nil
}

// complete ends an operation that succeeded. Outputs are what the template
// says of the resources as they are now.
func (s *Service) complete(st *stack, now time.Time, status types.StackStatus) {
	outputs, err := s.outputs(st)
	if err != nil {
		s.close(st, now, types.StackStatusUpdateRollbackFailed, err.Error())
		return
	}
	st.Outputs = outputs
	s.close(st, now, status, "")
}

func (s *Service) outputs(st *stack) (map[string]shownOutput, error) {
	sc, err := st.scope(s.account)
	if err != nil {
		return nil, err
	}
	all := map[string]shownOutput{}
	for name, o := range sc.template.Outputs {
		value, err := sc.value(o.Value)
		if err != nil {
			return nil, fmt.Errorf("output %s: %w", name, err)
		}
		shown := shownOutput{Value: text(value), Description: o.Description}
		if o.Export != nil {
			export, err := sc.value(o.Export)
			if err != nil {
				return nil, fmt.Errorf("output %s: %w", name, err)
			}
			shown.Export = text(export)
		}
		all[name] = shown
	}
	return all, nil
}

// rollBackUpdate brings everything back to the template before, whose
// resources are all still there.
func (s *Service) rollBackUpdate(st *stack, now time.Time, failed string) {
	w := st.Work
	s.become(st, now, types.StackStatusUpdateRollbackInProgress, fmt.Sprintf("The following resource(s) failed to update: [%s]. ", failed))
	tried := version{st.Body, st.Parameters, st.Tags}
	st.Body, st.Parameters, st.Tags = w.Before.Body, w.Before.Parameters, w.Before.Tags
	w.Before = &tried
	sc, err := st.scope(s.account)
	if err != nil {
		s.close(st, now, types.StackStatusUpdateRollbackFailed, err.Error())
		return
	}
	order, err := sc.template.order()
	if err != nil {
		s.close(st, now, types.StackStatusUpdateRollbackFailed, err.Error())
		return
	}
	// What was replaced is still there and takes its place again.
	for i, left := range w.Replaced {
		r := st.Resources[left.LogicalID]
		if r == nil || r.PhysicalID == left.PhysicalID {
			continue
		}
		w.Replaced[i].PhysicalID, r.PhysicalID = r.PhysicalID, left.PhysicalID
		w.Replaced[i].Properties, r.Properties = r.Properties, left.Properties
		r.Attributes = left.Attributes
	}
	s.turn(w, updateRollback, stepsFor(order))
}

// cleanUp removes what the stack's template does not have and what was replaced.
func (s *Service) cleanUp(st *stack) {
	w := st.Work
	var steps []step
	sc, err := st.scope(s.account)
	if err == nil {
		for _, name := range st.deletionOrder() {
			if _, keep := sc.template.Resources[name]; !keep {
				steps = append(steps, step{LogicalID: name})
			}
		}
	}
	for i := range w.Replaced {
		steps = append(steps, step{LogicalID: w.Replaced[i].LogicalID, Leftover: i + 1})
	}
	s.turn(w, cleaning, steps)
}

// remaining lists the resources that are yet to be deleted.
func (st *stack) remaining() []string {
	return slices.DeleteFunc(st.deletionOrder(), func(name string) bool {
		status := st.Resources[name].Status
		return status == types.ResourceStatusDeleteComplete || status == types.ResourceStatusDeleteSkipped
	})
}

// named lists the stack's resources in order.
func (st *stack) named() []string { return slices.Sorted(maps.Keys(st.Resources)) }
