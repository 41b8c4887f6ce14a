package sweep

import (
	"context"

	"github.com/krops-go/krops/internal/aws/inventory"
)

// Cloud takes single items away. Its methods may be called from several
// goroutines and more than once for an item. They don't wait, they don't judge
// errors (an error is AWS's own, wrapped), and they leave it to the caller to
// name the item.
type Cloud interface {
	// State looks at the item. An error means that its state is unknown.
	State(ctx context.Context, item inventory.Item) (State, error)
	// Delete asks for the item to be deleted, having taken away what is part
	// of it (attachments, associations, policies). For most kinds the item
	// goes some time later.
	Delete(ctx context.Context, item inventory.Item) error
	// Revoke removes the security group's rules that refer to groups.
	Revoke(ctx context.Context, item inventory.Item) error
}

// State is what a look at an item found.
type State struct {
	Phase Phase
	// Detail explains the phase where AWS does, such as why an earlier
	// deletion failed or who holds an interface.
	Detail string
}

// Phase is how far the deletion of an item is.
type Phase int

const (
	// Present items can be asked to be deleted.
	Present Phase = iota
	// Held items are used by something that has to let go by itself.
	Held
	// Deleting items need only time.
	Deleting
	// Absent means that AWS said the item does not exist.
	Absent
)
