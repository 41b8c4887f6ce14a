package sweep

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/krops-go/krops/internal/aws/inventory"
)

// RemainError says that something of the scope is still in the account.
type RemainError struct {
	Items []inventory.Item
}

func (e *RemainError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d items are left in the account", len(e.Items))
	for _, item := range e.Items {
		fmt.Fprintf(&b, "\n  %s (%s: %s)", item.Ref(), item.Owner, item.Reason)
	}
	return b.String()
}

// Verify proves with a fresh inventory that nothing of the scope is left. It
// returns the inventory and an error unless every listing succeeded and none
// found anything.
func Verify(ctx context.Context, apis inventory.APIs, scope inventory.Scope) (inventory.Inventory, error) {
	inv, err := inventory.Take(ctx, apis, scope)
	errs := []error{err}
	if len(inv.Items) > 0 {
		errs = append(errs, &RemainError{Items: inv.Items})
	}
	return inv, errors.Join(errs...)
}
