// Package wholefile writes files that are whole at every moment: a reader sees
// the old content or the new, whenever the writer ends.
package wholefile

import (
	"errors"
	"path/filepath"

	"github.com/google/renameio/v2"
)

// Write replaces the content of a file, which only its owner may read
// afterwards. What a killed writer leaves lies beside the file, never in a
// folder that others use.
func Write(path string, content []byte) (err error) {
	file, err := renameio.NewPendingFile(path, renameio.WithTempDir(filepath.Dir(path)), renameio.WithStaticPermissions(0o600))
	if err != nil {
		return err
	}
	// It does nothing once the file was replaced.
	defer func() { err = errors.Join(err, file.Cleanup()) }()
	if _, err := file.Write(content); err != nil {
		return err
	}
	return file.CloseAtomicallyReplace()
}
