package rehearsal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/krops-go/krops/internal/lifecycle"
	"github.com/krops-go/krops/internal/wholefile"
)

// moveCounts are how many calls had changed the account before the move and
// after the management cluster was confirmed to manage itself. A pivot moves
// who manages the cloud and must not touch the cloud itself.
type moveCounts struct {
	Before *int `json:"before,omitempty"`
	After  *int `json:"after,omitempty"`
}

func moveCountsPath(dir string) string { return filepath.Join(dir, "move.json") }

func readMoveCounts(dir string) (moveCounts, error) {
	var c moveCounts
	text, err := os.ReadFile(moveCountsPath(dir))
	if errors.Is(err, os.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, err
	}
	if err := json.Unmarshal(text, &c); err != nil {
		return moveCounts{}, fmt.Errorf("%s is damaged: %w", moveCountsPath(dir), err)
	}
	return c, nil
}

// countMove notes the counts as the steps around the move pass. The first
// start of the move counts, whichever run made it.
func (r *Rehearsal) countMove(ctx context.Context, e lifecycle.Event) error {
	var target **int
	switch {
	case e.Step == lifecycle.StepMove && e.Kind == lifecycle.Started && r.counts.Before == nil:
		target = &r.counts.Before
	case e.Step == lifecycle.StepConfirm && e.Kind == lifecycle.Finished && r.counts.After == nil:
		target = &r.counts.After
	default:
		return nil
	}
	report, err := r.cloudReport(ctx)
	if err != nil {
		return err
	}
	*target = &report.MutatingCalls
	text, err := json.Marshal(r.counts)
	if err != nil {
		return err
	}
	return wholefile.Write(moveCountsPath(r.opts.StateDir), text)
}
