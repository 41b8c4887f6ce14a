package rehearsal

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/krops-go/krops/internal/lifecycle"
	"github.com/krops-go/krops/internal/rehearsal/awssim"
)

// Report is what a rehearsal did and found, restarts included.
type Report struct {
	Steps []lifecycle.Entry `json:"steps"`
	Cloud awssim.Report     `json:"cloud"`
	// MoveCalls are the calls that changed the account during the pivot; nil
	// while the pivot is not over.
	MoveCalls *int `json:"moveCalls"`
}

func (r *Rehearsal) report(ctx context.Context) (*Report, error) {
	report := &Report{Steps: r.journal.Entries()}
	if r.counts.Before != nil && r.counts.After != nil {
		calls := *r.counts.After - *r.counts.Before
		report.MoveCalls = &calls
	}
	if r.world == nil && r.kept() {
		return report, nil // stopped before there was a cloud
	}
	var err error
	report.Cloud, err = r.cloudReport(ctx)
	return report, err
}

// verdict is what makes a rehearsal that ran to its end a failure all the same.
func (r *Report) verdict(kept bool) error {
	var errs []error
	if r.MoveCalls == nil {
		if !kept {
			errs = append(errs, errors.New("what the pivot changed in the account is not known"))
		}
	} else if *r.MoveCalls != 0 {
		errs = append(errs, fmt.Errorf("the pivot made %d calls that change the account; it must make none", *r.MoveCalls))
	}
	if len(r.Cloud.Refused) > 0 {
		var what []string
		for _, f := range r.Cloud.Refused {
			what = append(what, fmt.Sprintf("%s %s (%s)", f.Service, f.Operation, f.What))
		}
		errs = append(errs, fmt.Errorf("the rehearsal is incomplete: the simulated AWS was asked for what it does not model: %s", strings.Join(what, "; ")))
	}
	if !kept && len(r.Cloud.Existing) > 0 {
		var left []string
		for _, o := range r.Cloud.Existing {
			left = append(left, strings.TrimSpace(fmt.Sprintf("%s %s %s", o.Kind, o.ID, o.Region)))
		}
		errs = append(errs, fmt.Errorf("%d objects are left in the account though its listing was empty: %s", len(left), strings.Join(left, ", ")))
	}
	return errors.Join(errs...)
}
