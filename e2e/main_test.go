// Package e2e drives the built programs as a person does and looks at what they
// make from outside: through the AWS SDK, kubectl and the operating system.
package e2e

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// estateRoot is the repository, whose estate is rehearsed.
const estateRoot = ".."

// kropsBinary is the program under test; its sibling lies beside it.
func kropsBinary() (string, error) {
	return filepath.Abs(filepath.Join(cmp.Or(os.Getenv("KROPS_BIN"), filepath.Join(estateRoot, "bin")), "krops"))
}

func TestMain(m *testing.M) {
	if err := checkTools(); err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// checkTools finds what every test needs.
func checkTools() error {
	krops, err := kropsBinary()
	if err != nil {
		return err
	}
	for _, program := range []string{krops, filepath.Join(filepath.Dir(krops), "krops-cluster")} {
		if _, err := os.Stat(program); err != nil {
			return fmt.Errorf("%w: run `make build`, or set KROPS_BIN to the folder with the built programs", err)
		}
	}
	if _, err := exec.LookPath("kubectl"); err != nil {
		return fmt.Errorf("%w: install kubectl, or run `make test`, which builds it", err)
	}
	return nil
}
