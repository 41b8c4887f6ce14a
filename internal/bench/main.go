// Command bench measures the figures that the project promises, through the
// built programs. It prints a line for each, tab separated: name, value, unit
// and bar, and fails when a value is above its bar. Its progress goes to
// standard error.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var s subject
	flag.StringVar(&s.bin, "bin", "bin", "folder with the built programs")
	flag.StringVar(&s.root, "root", ".", "repository whose estate is rehearsed")
	only := flag.String("only", "", "measure the figures whose names begin with this")
	flag.Parse()
	if err := run(ctx, s, *only, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, s subject, only string, out, progress io.Writer) error {
	s, err := s.check()
	if err != nil {
		return err
	}
	chosen := slices.DeleteFunc(slices.Clone(figures), func(f figure) bool { return !strings.HasPrefix(f.name, only) })
	if len(chosen) == 0 {
		return fmt.Errorf("no figure's name begins with %q", only)
	}
	var missed []string
	for _, f := range chosen {
		value, err := f.median(ctx, s, progress)
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		fmt.Fprintf(out, "%s\t%.2f\t%s\t%g\n", f.name, value, f.unit, f.bar)
		if !f.meets(value) {
			missed = append(missed, f.name)
		}
	}
	if len(missed) > 0 {
		return fmt.Errorf("above the bar: %s", strings.Join(missed, ", "))
	}
	return nil
}

// subject is what is measured.
type subject struct {
	bin  string // folder of the programs
	root string // the estate's repository
}

func (s subject) krops() string   { return filepath.Join(s.bin, "krops") }
func (s subject) cluster() string { return filepath.Join(s.bin, "krops-cluster") }

// check returns the subject with absolute paths.
func (s subject) check() (subject, error) {
	var err, rootErr error
	s.bin, err = filepath.Abs(s.bin)
	s.root, rootErr = filepath.Abs(s.root)
	if err := errors.Join(err, rootErr); err != nil {
		return s, err
	}
	for _, program := range []string{s.krops(), s.cluster()} {
		if _, err := os.Stat(program); err != nil {
			return s, fmt.Errorf("%w: run `make build`", err)
		}
	}
	return s, nil
}
