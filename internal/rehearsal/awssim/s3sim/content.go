package s3sim

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// content holds the bytes of objects by their digest, equal ones once, in
// files or, without a folder, in memory. Files are written before the account
// is saved and removed after it was, so that a saved account is never without
// them.
type content struct {
	dir    string
	memory map[string][]byte
	uses   map[string]int
	unused map[string]bool // since the account was last saved
}

func newContent(dir string) *content {
	return &content{dir: dir, memory: map[string][]byte{}, uses: map[string]int{}, unused: map[string]bool{}}
}

func (c *content) path(digest string) string { return filepath.Join(c.dir, digest) }

// put stores data, counts one use of it and returns its digest.
func (c *content) put(data []byte) (string, error) {
	sum := sha256.Sum256(data)
	digest := hex.EncodeToString(sum[:])
	if c.uses[digest] > 0 || c.unused[digest] {
		c.keep(digest)
		return digest, nil
	}
	if c.dir == "" {
		c.memory[digest] = data
	} else if err := c.write(digest, data); err != nil {
		return "", fmt.Errorf("keep the content of an object: %w", err)
	}
	c.keep(digest)
	return digest, nil
}

func (c *content) write(digest string, data []byte) error {
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return err
	}
	temp := c.path("." + digest)
	if err := os.WriteFile(temp, data, 0o600); err != nil {
		return err
	}
	return os.Rename(temp, c.path(digest))
}

func (c *content) get(digest string) ([]byte, error) {
	if c.dir == "" {
		data, ok := c.memory[digest]
		if !ok {
			return nil, errors.New("the content of the object ended with the process that held it")
		}
		return data, nil
	}
	data, err := os.ReadFile(c.path(digest))
	if err != nil {
		return nil, fmt.Errorf("read the content of an object: %w", err)
	}
	return data, nil
}

func (c *content) keep(digest string) {
	c.uses[digest]++
	delete(c.unused, digest)
}

func (c *content) drop(digest string) {
	if c.uses[digest]--; c.uses[digest] <= 0 {
		delete(c.uses, digest)
		c.unused[digest] = true
	}
}

// collect removes what is not used any more. What cannot be removed now is
// when the process starts again.
func (c *content) collect() {
	for digest := range c.unused {
		delete(c.memory, digest)
		if c.dir != "" {
			_ = os.Remove(c.path(digest))
		}
	}
	clear(c.unused)
}

// resume removes files that a process which ended has left behind.
func (c *content) resume() {
	if c.dir == "" {
		return
	}
	entries, err := os.ReadDir(c.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return
	}
	for _, e := range entries {
		if c.uses[e.Name()] == 0 {
			_ = os.Remove(c.path(e.Name()))
		}
	}
}
