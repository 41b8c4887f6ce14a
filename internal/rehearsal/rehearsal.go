// Package rehearsal lives an environment's whole life on this machine: the same
// lifecycle, manifests and controllers as in a real run, in a world whose cloud
// is simulated. All that differs is handed in from here, as endpoints,
// credentials, addresses and patches.
package rehearsal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/utils/clock"

	"github.com/krops-go/krops/internal/aws"
	"github.com/krops-go/krops/internal/aws/session"
	"github.com/krops-go/krops/internal/aws/sweep"
	"github.com/krops-go/krops/internal/dirlock"
	"github.com/krops-go/krops/internal/environment"
	"github.com/krops-go/krops/internal/lifecycle"
	"github.com/krops-go/krops/internal/rehearsal/awssim"
	"github.com/krops-go/krops/internal/rehearsal/world"
)

// StepWorld opens the simulated cloud. It is the rehearsal's only step of its
// own; the others are the lifecycle's.
const StepWorld = "world"

const (
	worldWithin = 30 * time.Second
	endWithin   = 20 * time.Second
)

// Options are what a rehearsal needs to know.
type Options struct {
	Environment *environment.Environment
	// StateDir is the rehearsal's folder. It is removed when the rehearsal ends
	// well, and holds all that is needed to go on otherwise.
	StateDir string
	// Krops is the krops program: kubeconfigs call it for tokens.
	Krops string
	// WorldCommand runs the simulated cloud of the folder that is appended.
	WorldCommand []string
	// ClusterBinary is the krops-cluster program.
	ClusterBinary string
	// Until is the last step to take; everything is let run after it. Empty
	// means all of them.
	Until string
	// Observe is told what happens. It may be nil.
	Observe lifecycle.Observer
}

// Layout names the files of a rehearsal's folder.
type Layout string

func (l Layout) world() string { return filepath.Join(string(l), "world") }

// Kubeconfig gets the management cluster's context.
func (l Layout) Kubeconfig() string { return filepath.Join(string(l), "krops-mgmt.yaml") }

// Rehearsal is a rehearsal that is prepared.
type Rehearsal struct {
	opts     Options
	layout   Layout
	settings world.Settings
	run      *lifecycle.Run
	world    *world.World
	journal  *lifecycle.Journal
	counts   moveCounts
}

// New prepares a rehearsal, or takes up the one that is in the state folder.
// Nothing is started yet.
func New(opts Options) (*Rehearsal, error) {
	var err error
	if opts.StateDir, err = filepath.Abs(opts.StateDir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(opts.StateDir, 0o700); err != nil {
		return nil, fmt.Errorf("making the rehearsal's folder: %w", err)
	}
	r := &Rehearsal{opts: opts, layout: Layout(opts.StateDir)}
	if r.journal, err = lifecycle.OpenJournal(opts.StateDir); err != nil {
		return nil, err
	}
	if r.counts, err = readMoveCounts(opts.StateDir); err != nil {
		return nil, err
	}
	if r.settings, err = world.Prepare(r.layout.world()); err != nil {
		return nil, err
	}
	r.run = &lifecycle.Run{
		Environment: opts.Environment,
		Cloud: &aws.Estate{
			Environment:  opts.Environment,
			TokenCommand: opts.Krops,
			Settings: session.Settings{
				EndpointURL:           r.settings.Endpoint(),
				SharedCredentialsFile: world.Layout(r.layout.world()).Credentials(),
			},
			// The simulated cloud deletes in fractions of a second.
			SweepOptions: sweep.Options{Poll: 50 * time.Millisecond, MaxPoll: 500 * time.Millisecond},
		},
		StateDir:      opts.StateDir,
		Kubeconfig:    r.layout.Kubeconfig(),
		ClusterBinary: opts.ClusterBinary,
		Patches:       patches(r.settings),
	}
	return r, r.checkUntil()
}

// Steps are the steps that Run will take: the whole life, or the rest of it
// where the teardown was begun before, up to the last one wanted.
func (r *Rehearsal) Steps() []lifecycle.Step {
	steps := r.allSteps()
	for i, s := range steps {
		if s.Name == r.opts.Until {
			return steps[:i+1]
		}
	}
	return steps
}

// checkUntil reports that there is no step of the name that is to be the last.
func (r *Rehearsal) checkUntil() error {
	if r.opts.Until == "" {
		return nil
	}
	var names []string
	for _, s := range r.allSteps() {
		if s.Name == r.opts.Until {
			return nil
		}
		names = append(names, s.Name)
	}
	return fmt.Errorf("there is no step %q to stop after; from here the steps are %s", r.opts.Until, strings.Join(names, ", "))
}

func (r *Rehearsal) allSteps() []lifecycle.Step {
	open := lifecycle.Step{
		Name: StepWorld, Title: "open the simulated AWS", Timeout: worldWithin,
		Run: func(ctx context.Context, _ func(string)) (err error) {
			r.world, err = world.Start(ctx, append(slices.Clone(r.opts.WorldCommand), r.layout.world()), r.layout.world())
			return err
		},
	}
	down := r.run.Teardown()
	if r.journal.Begun(down[0].Name) {
		down[0].Needs = append(down[0].Needs, open.Name)
		return append([]lifecycle.Step{open}, down...)
	}
	// The estate is read before anything is started; all else needs the cloud.
	up := r.run.Bootstrap()
	open.Needs = []string{up[0].Name}
	up[1].Needs = append(up[1].Needs, open.Name)
	down[0].Needs = append(down[0].Needs, up[len(up)-1].Name)
	return slices.Concat(up[:1], []lifecycle.Step{open}, up[1:], down)
}

// Run rehearses. It returns the report also when it fails, as far as there is
// one. Nothing keeps running when it returns, unless it ended well and the
// rehearsal is to be kept.
func (r *Rehearsal) Run(ctx context.Context) (*Report, error) {
	lock, err := dirlock.Acquire(r.opts.StateDir, "krops rehearse")
	if err != nil {
		return nil, err
	}
	defer lock.Release()
	var journalErr error
	observe := func(e lifecycle.Event) {
		journalErr = errors.Join(journalErr, r.journal.Observe(e), r.countMove(ctx, e))
		if r.opts.Observe != nil {
			r.opts.Observe(e)
		}
	}
	err = errors.Join(lifecycle.Execute(ctx, r.Steps(), clock.RealClock{}, observe), journalErr)
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), endWithin)
	defer cancel()
	report, reportErr := r.report(ending)
	if err == nil {
		err = errors.Join(reportErr, report.verdict(r.kept()))
	}
	return report, errors.Join(err, r.end(ending, err == nil))
}

// end leaves the rehearsal as it is meant to be left.
func (r *Rehearsal) end(ctx context.Context, well bool) error {
	if r.kept() && well {
		return errors.Join(r.run.Detach(), r.detachWorld())
	}
	if err := errors.Join(r.run.Stop(ctx), world.Stop(ctx, r.layout.world())); err != nil {
		return fmt.Errorf("ending the rehearsal's processes: %w", err)
	}
	if !well {
		return nil
	}
	return os.RemoveAll(r.opts.StateDir)
}

// kept reports that the rehearsal stops early and lives on.
func (r *Rehearsal) kept() bool { return r.opts.Until != "" }

func (r *Rehearsal) detachWorld() error {
	if r.world == nil {
		return nil
	}
	return r.world.Detach()
}

// Discard ends whatever runs of the rehearsal in dir and removes it. An absent
// one is success; one that a command is busy with gives a *dirlock.HeldError.
func Discard(ctx context.Context, dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	// Another command may be busy with it.
	lock, err := dirlock.Acquire(dir, "krops rehearse --discard")
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer lock.Release()
	run := &lifecycle.Run{StateDir: dir}
	if err := errors.Join(run.Stop(ctx), world.Stop(ctx, Layout(dir).world())); err != nil {
		return fmt.Errorf("ending the rehearsal's processes: %w", err)
	}
	return os.RemoveAll(dir)
}

// cloudReport asks the world; there is none before its step.
func (r *Rehearsal) cloudReport(ctx context.Context) (awssim.Report, error) {
	if r.world == nil {
		return awssim.Report{}, errors.New("the simulated AWS was not opened")
	}
	report, err := r.world.Report(ctx)
	if err != nil {
		return report, fmt.Errorf("asking the simulated AWS what happened: %w", err)
	}
	return report, nil
}

// Access is how to look around in a kept rehearsal.
type Access struct {
	Kubeconfig                        string
	Endpoint, CredentialsFile, Region string // of the simulated AWS
}

// Access returns how to look around in the rehearsal.
func (r *Rehearsal) Access() Access {
	return Access{
		Kubeconfig:      r.layout.Kubeconfig(),
		Endpoint:        r.settings.Endpoint(),
		CredentialsFile: world.Layout(r.layout.world()).Credentials(),
		Region:          r.opts.Environment.ManagementCluster.Region,
	}
}
