package awssim

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// member is a service of the account with what the front knows of it.
type member struct {
	service.Service
	// reach is whose state this service changes, itself included.
	reach     []*member
	due       time.Time // of its next transition, or zero
	unsettled bool      // it changed since Settle was last called
	unsaved   bool      // it changed since it was last encoded
	unnoted   bool      // it changed since its objects were last counted
	encoded   json.RawMessage
	known     map[objectKey]struct{}
}

// touchLocked notes that members may have changed: they are settled, saved,
// and whoever awaits looks again.
func (s *Server) touchLocked(changed []*member) {
	for _, m := range changed {
		m.unsettled, m.unsaved, m.unnoted = true, true, true
	}
	s.saving.want++
	s.saving.wake.Broadcast()
	s.wakeLocked()
}

type objectKey struct{ kind, region, id string }

func objectKeys(objects []service.Object) map[objectKey]struct{} {
	keys := make(map[objectKey]struct{}, len(objects))
	for _, o := range objects {
		keys[objectKey{o.Kind, o.Region, o.ID}] = struct{}{}
	}
	return keys
}

// noteLocked counts what came and went since it was last called. It is called
// before anything that may remove objects, so that one that comes and goes is
// counted, and not after each change, as going through all objects takes time
// in a large account.
func (s *Server) noteLocked(members []*member) {
	for _, m := range members {
		if m.unnoted {
			m.unnoted = false
			s.noteObjectsLocked(m)
		}
	}
}

// onlyAdds reports that an operation removes no object, by its name.
func onlyAdds(operation string) bool {
	for _, verb := range []string{"Create", "Allocate", "Put", "Tag", "Attach", "Authorize", "Associate", "Assume", "Add"} {
		if strings.HasPrefix(operation, verb) {
			return true
		}
	}
	return false
}

func (s *Server) noteObjectsLocked(m *member) {
	now := objectKeys(m.Objects())
	for key := range now {
		if _, had := m.known[key]; !had {
			s.record.Created[key.kind]++
		}
	}
	for key := range m.known {
		if _, has := now[key]; !has {
			s.record.Deleted[key.kind]++
		}
	}
	m.known = now
}

func (s *Server) objectsLocked() []service.Object {
	var all []service.Object
	for _, m := range s.members {
		all = append(all, m.Objects()...)
	}
	return all
}
