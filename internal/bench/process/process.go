// Package process finds the processes that work for a folder and tells what
// memory they take. It reads Linux's /proc.
package process

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Process is a running process.
type Process struct {
	PID  int
	Args []string
}

func (p Process) String() string { return fmt.Sprintf("%d %s", p.PID, strings.Join(p.Args, " ")) }

// For returns the processes that name the folder in their arguments, sorted by
// id, without the calling one. Zombies, which hold nothing any more, have no
// arguments and are not among them.
func For(folder string) ([]Process, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	var found []Process
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		line, err := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		if gone(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		args := strings.Split(strings.TrimRight(string(line), "\x00"), "\x00")
		if slices.ContainsFunc(args, func(arg string) bool { return within(arg, folder) }) {
			found = append(found, Process{PID: pid, Args: args})
		}
	}
	slices.SortFunc(found, func(a, b Process) int { return a.PID - b.PID })
	return found, nil
}

// within reports whether an argument, or what it gives a flag, is the folder or
// lies in it.
func within(arg, folder string) bool {
	if _, value, ok := strings.Cut(arg, "="); ok && strings.HasPrefix(arg, "-") {
		arg = value
	}
	return arg == folder || strings.HasPrefix(arg, folder+string(filepath.Separator))
}

// gone reports that a process ended while it was looked at.
func gone(err error) bool {
	return errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH)
}

// Environ returns the environment that the process was started with. One that
// ended meanwhile has none.
func (p Process) Environ() ([]string, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", p.PID))
	if gone(err) || len(text) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return strings.Split(strings.TrimRight(string(text), "\x00"), "\x00"), nil
}

// Memory returns the process's proportional set size in bytes: pages that
// several processes share count in each by its part, so that sums are true. A
// process that ended meanwhile takes nothing.
func (p Process) Memory() (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", p.PID))
	if gone(err) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) == 3 && fields[0] == "Pss:" {
			kib, err := strconv.ParseInt(fields[1], 10, 64)
			return kib << 10, err
		}
	}
	return 0, fmt.Errorf("/proc/%d/smaps_rollup does not tell the proportional set size", p.PID)
}
