package cfnsim

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
)

// stackType is the type of the stack itself in its events.
const stackType = "AWS::CloudFormation::Stack"

// proceed does what is due of a stack's operation and returns when the next is.
func (s *Service) proceed(st *stack, now time.Time) time.Time {
	for st.Work != nil {
		w := st.Work
		if len(w.Steps) == 0 {
			s.finish(st, now)
			continue
		}
		if !w.Started {
			s.begin(st, w.Steps[0], now)
			w.Started, w.DoneAt = true, now.Add(s.timing.Resource)
		}
		if w.DoneAt.After(now) {
			return w.DoneAt
		}
		one := w.Steps[0]
		w.Steps, w.Started = w.Steps[1:], false
		s.end(st, one, w.DoneAt)
	}
	return time.Time{}
}

// report notes an event of a resource, or of the stack itself.
func (s *Service) report(st *stack, at time.Time, logicalID, physicalID, typ string, status types.ResourceStatus, why string) {
	token := ""
	if st.Work != nil {
		token = st.Work.Token
	}
	st.Events = append(st.Events, event{
		ID: s.world.NewID(logicalID+"-", 12), LogicalID: logicalID, PhysicalID: physicalID, Type: typ, Status: status, Reason: why, Token: token, At: at,
	})
}

// become gives the stack another status.
func (s *Service) become(st *stack, at time.Time, status types.StackStatus, why string) {
	st.Status, st.Reason = status, why
	s.report(st, at, st.Name, st.ID, stackType, types.ResourceStatus(status), why)
}

// change gives a resource another status.
func (s *Service) change(st *stack, name string, at time.Time, status types.ResourceStatus, why string) {
	r := st.Resources[name]
	r.Status, r.Reason, r.ChangedAt = status, why, at
	s.report(st, at, name, r.PhysicalID, r.Type, status, why)
}

// begin says that a step is under way. Steps that change nothing say nothing.
func (s *Service) begin(st *stack, one step, now time.Time) {
	w := st.Work
	switch {
	case one.Leftover > 0:
		left := w.Replaced[one.Leftover-1]
		s.report(st, now, left.LogicalID, left.PhysicalID, left.Type, types.ResourceStatusDeleteInProgress, "")
	case w.Phase == deleting || w.Phase == rollingBack || w.Phase == cleaning:
		if r := st.Resources[one.LogicalID]; r != nil && !s.spared(st, one.LogicalID) {
			s.change(st, one.LogicalID, now, types.ResourceStatusDeleteInProgress, "")
		}
	case st.Resources[one.LogicalID] == nil:
		t, _ := st.scope(s.account)
		d := t.template.Resources[one.LogicalID]
		st.Resources[one.LogicalID] = &resource{Type: d.Type, Needs: t.template.needs(d), Retained: d.Retained}
		s.change(st, one.LogicalID, now, types.ResourceStatusCreateInProgress, "")
	}
}

// scope reads the stack's template, which was checked when it was given.
func (st *stack) scope(account string) (scope, error) {
	t, err := parse(st.Body)
	if err != nil {
		return scope{}, fmt.Errorf("the stack's template cannot be read any more: %w", err)
	}
	return scope{stack: st, template: t, parameters: st.Parameters, account: account}, nil
}

func (s *Service) end(st *stack, one step, now time.Time) {
	w := st.Work
	var err error
	switch {
	case one.Leftover > 0:
		s.removeLeftover(st, w.Replaced[one.Leftover-1], now)
		return
	case w.Phase == deleting || w.Phase == rollingBack || w.Phase == cleaning:
		s.removeResource(st, one.LogicalID, now)
		return
	default:
		err = s.apply(st, one.LogicalID, now)
	}
	if err == nil {
		return
	}
	w.Failed = append(w.Failed, one.LogicalID)
	failed := types.ResourceStatusCreateFailed
	if st.Resources[one.LogicalID].Properties != nil && w.Phase != creating {
		failed = types.ResourceStatusUpdateFailed
	}
	s.change(st, one.LogicalID, now, failed, reason(err, s.world.NewID("", 8)))
	w.Steps = nil // nothing more is begun
}

// apply makes a resource as the template has it, or brings it there.
func (s *Service) apply(st *stack, name string, now time.Time) error {
	sc, err := st.scope(s.account)
	if err != nil {
		return err
	}
	d, r := sc.template.Resources[name], st.Resources[name]
	k := kinds[d.Type]
	value, err := sc.value(d.Properties)
	if err != nil {
		return err
	}
	wanted := properties(value.(map[string]any))
	if err := wanted.unsupported(k.properties); err != nil {
		return err
	}
	r.Needs, r.Retained = sc.template.needs(d), d.Retained
	if r.PhysicalID == "" || r.Properties == nil {
		return s.make(st, name, k, wanted, now)
	}
	if reflect.DeepEqual(r.Properties, wanted) && maps.Equal(st.Tags, st.previousTags()) {
		return nil
	}
	s.change(st, name, now, types.ResourceStatusUpdateInProgress, "")
	if slices.ContainsFunc(k.replaced, func(p string) bool { return !reflect.DeepEqual(r.Properties[p], wanted[p]) }) {
		return s.replace(st, name, k, wanted, now)
	}
	// A change that fails may have been made in part, so going back starts here.
	before := r.Properties
	r.Properties = wanted
	if err := k.update(s.actor(st), st, r.PhysicalID, before, wanted); err != nil {
		return err
	}
	s.change(st, name, now, types.ResourceStatusUpdateComplete, "")
	return nil
}

// make creates a resource. What it made of it before it failed is remembered,
// so that it can be removed.
func (s *Service) make(st *stack, name string, k *kind, wanted properties, now time.Time) error {
	r := st.Resources[name]
	if why := st.Denied[name]; why != "" {
		return fmt.Errorf("%s", why)
	}
	called := wanted.text(k.named)
	if called == "" {
		called = k.generatedName(st.Name, name, strings.ToUpper(s.world.NewID("", 12)))
	}
	physical, attributes, err := k.create(s.actor(st), st, called, wanted)
	r.PhysicalID, r.Attributes = physical, attributes
	if physical != "" {
		r.Properties = wanted
	}
	if err != nil {
		return err
	}
	s.change(st, name, now, types.ResourceStatusCreateComplete, "")
	return nil
}

// replace makes another resource beside the old one, which goes when the
// update is cleaned up after.
func (s *Service) replace(st *stack, name string, k *kind, wanted properties, now time.Time) error {
	r := st.Resources[name]
	if called := wanted.text(k.named); called != "" && called == r.Properties.text(k.named) {
		return fmt.Errorf("CloudFormation cannot update a stack when a custom-named resource requires replacing. Rename %s and update the stack again", called)
	}
	old := leftover{LogicalID: name, Type: r.Type, PhysicalID: r.PhysicalID, Properties: r.Properties, Attributes: r.Attributes}
	called := wanted.text(k.named)
	if called == "" {
		called = k.generatedName(st.Name, name, strings.ToUpper(s.world.NewID("", 12)))
	}
	physical, attributes, err := k.create(s.actor(st), st, called, wanted)
	if err != nil {
		if physical != "" {
			st.Work.Replaced = append(st.Work.Replaced, leftover{LogicalID: name, Type: r.Type, PhysicalID: physical, Properties: wanted})
		}
		return err
	}
	st.Work.Replaced = append(st.Work.Replaced, old)
	r.PhysicalID, r.Attributes, r.Properties = physical, attributes, wanted
	s.change(st, name, now, types.ResourceStatusUpdateComplete, "")
	return nil
}

// spared reports a resource that is not to be deleted: one to be kept, or one
// that another which could not be deleted still needs.
func (s *Service) spared(st *stack, name string) bool {
	if slices.Contains(st.Work.Keep, name) || st.Resources[name].Retained && st.Work.Phase != rollingBack {
		return true
	}
	return s.needed(st, name)
}

func (s *Service) needed(st *stack, name string) bool {
	return slices.ContainsFunc(slices.Concat(st.Work.Failed, st.Work.Blocked), func(failed string) bool {
		r := st.Resources[failed]
		return r != nil && slices.Contains(r.Needs, name)
	})
}

func (s *Service) removeResource(st *stack, name string, now time.Time) {
	r := st.Resources[name]
	switch {
	case r == nil:
		return
	case s.needed(st, name):
		st.Work.Blocked = append(st.Work.Blocked, name)
		return
	case s.spared(st, name):
		s.change(st, name, now, types.ResourceStatusDeleteSkipped, "")
		s.forget(st, name)
		return
	}
	if r.PhysicalID != "" {
		if err := kinds[r.Type].remove(s.actor(st), r.PhysicalID, r.Properties); err != nil {
			st.Work.Failed = append(st.Work.Failed, name)
			s.change(st, name, now, types.ResourceStatusDeleteFailed, reason(err, s.world.NewID("", 8)))
			return
		}
	}
	s.change(st, name, now, types.ResourceStatusDeleteComplete, "")
	s.forget(st, name)
}

// forget takes a resource off the stack, unless the stack itself goes and
// still shows what it had.
func (s *Service) forget(st *stack, name string) {
	if st.Work.Phase != deleting {
		delete(st.Resources, name)
	}
}

func (s *Service) removeLeftover(st *stack, left leftover, now time.Time) {
	status, why := types.ResourceStatusDeleteComplete, ""
	if err := kinds[left.Type].remove(s.actor(st), left.PhysicalID, left.Properties); err != nil {
		status, why = types.ResourceStatusDeleteFailed, reason(err, s.world.NewID("", 8))
	}
	s.report(st, now, left.LogicalID, left.PhysicalID, left.Type, status, why)
}
