package node

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"
)

const (
	// A line without an end is written as a part when it has grown this long.
	maxLine = 16 << 10
	// A log that has grown this large moves to rotatedSuffix and begins anew.
	maxLog        = 10 << 20
	rotatedSuffix = ".1"
)

// containerLog is the output of one container, in the form of the Container
// Runtime Interface: each line with its time. The output of the instance
// before the running one is kept.
type containerLog struct {
	path string

	mu      sync.Mutex
	file    *os.File // nil when closed
	size    int
	partial []byte // a line whose end was not written yet
}

// logFile and previousLog are where the logs of a pod's container lie in the
// pod's folder.
func logFile(folder, container string) string {
	return filepath.Join(folder, "log", container+".log")
}

func previousLog(folder, container string) string {
	return filepath.Join(folder, "log", container+".previous.log")
}

// openLog begins the log of a new instance.
func openLog(folder, container string) (*containerLog, error) {
	l := &containerLog{path: logFile(folder, container)}
	if err := os.MkdirAll(filepath.Dir(l.path), 0o700); err != nil {
		return nil, fmt.Errorf("log of container %s: %w", container, err)
	}
	err := os.Rename(l.path, previousLog(folder, container))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("log of container %s: %w", container, err)
	}
	if l.file, err = os.OpenFile(l.path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600); err != nil {
		return nil, fmt.Errorf("log of container %s: %w", container, err)
	}
	return l, nil
}

func (l *containerLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return 0, os.ErrClosed
	}
	l.partial = append(l.partial, p...)
	for {
		end := bytes.IndexByte(l.partial, '\n')
		var err error
		switch {
		case end >= 0 && end <= maxLine:
			err = l.line("F", l.partial[:end])
			l.partial = l.partial[end+1:]
		case len(l.partial) > maxLine:
			err = l.line("P", l.partial[:maxLine])
			l.partial = l.partial[maxLine:]
		default:
			return len(p), nil
		}
		if err != nil {
			return 0, err
		}
	}
}

func (l *containerLog) line(tag string, content []byte) error {
	if l.size > maxLog {
		if err := l.rotate(); err != nil {
			return err
		}
	}
	n, err := fmt.Fprintf(l.file, "%s stdout %s %s\n", time.Now().UTC().Format(time.RFC3339Nano), tag, content)
	l.size += n
	return err
}

func (l *containerLog) rotate() error {
	if err := os.Rename(l.path, l.path+rotatedSuffix); err != nil {
		return err
	}
	next, err := os.OpenFile(l.path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	l.file.Close()
	l.file, l.size = next, 0
	return nil
}

// Close writes what is left. Later writes fail.
func (l *containerLog) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	var err error
	if len(l.partial) > 0 {
		err = l.line("F", l.partial)
	}
	err = errors.Join(err, l.file.Close())
	l.file, l.partial = nil, nil
	return err
}

var _ io.WriteCloser = (*containerLog)(nil)
