// Package presence is the outcome of looking something up, which is never just
// yes or no: a look-up that failed says nothing about the thing.
package presence

// Presence is what a look-up found out. The zero value is Unknown, so that a
// forgotten look-up cannot pass for an answer.
type Presence int

const (
	// Unknown means that nobody answered, or not this question: never act on
	// it as if the thing were gone.
	Unknown Presence = iota
	// Present means that the API returned it, in whatever state.
	Present
	// Absent means that the API said that there is no such thing.
	Absent
)

// String spells the outcome for messages.
func (p Presence) String() string {
	switch p {
	case Present:
		return "present"
	case Absent:
		return "absent"
	default:
		return "unknown"
	}
}
