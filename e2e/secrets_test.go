package e2e

import (
	"encoding/base64"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSecretsStayHidden looks for the secret access key of the simulated
// account wherever others might see it.
func TestSecretsStayHidden(t *testing.T) {
	r := newRehearsal(t)
	c := r.start("--until", "management-providers")
	c.succeed()
	secret := r.world().SecretAccessKey
	if len(secret) < 40 {
		t.Fatalf("the secret access key has %d characters, an AWS one has 40", len(secret))
	}

	t.Run("no process shows it", func(t *testing.T) {
		processes := on(t, r).processes()
		if len(processes) != 5 {
			t.Errorf("%d processes, want the simulated AWS and two of each cluster: %v", len(processes), processes)
		}
		for _, p := range processes {
			env, err := p.Environ()
			if err != nil {
				t.Fatal(err)
			}
			if hasSecret(strings.Join(append(env, p.Args...), "\n"), secret) {
				t.Errorf("process %d shows it in its arguments or environment", p.PID)
			}
		}
	})
	t.Run("no output shows it", func(t *testing.T) {
		if hasSecret(c.stdout.String()+c.stderr.String(), secret) {
			t.Error("krops wrote it")
		}
	})
	t.Run("no object but the Secret shows it", func(t *testing.T) {
		for _, k := range []kubectl{on(t, r).bootstrap(), on(t, r).management()} {
			for _, kind := range []string{"events", "pods", "configmaps", "deployments", "awsmanagedcontrolplanes", "clusters.cluster.x-k8s.io"} {
				if hasSecret(string(k.run("get", kind, "--all-namespaces", "-o", "yaml")), secret) {
					t.Errorf("%s with %s show it", kind, k.kubeconfig)
				}
			}
			if !hasSecret(string(k.run("get", "secrets", "--namespace", "capa-system", "-o", "yaml")), secret) {
				t.Errorf("the provider's Secret with %s does not hold it: this test looks for the wrong thing", k.kubeconfig)
			}
		}
	})
	t.Run("no file shows it to others", func(t *testing.T) { assertFilesClosed(t, r.dir, secret) })

	r.discard()
	r.leavesNothing()
}

// hasSecret finds the secret in plain and in a Secret's base64, at any offset
// in what was encoded.
func hasSecret(text, secret string) bool {
	for shift := range 3 {
		encoded := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", shift) + secret))
		// The first and the last characters mix with what stands beside it.
		if strings.Contains(text, encoded[4:len(encoded)-4]) {
			return true
		}
	}
	return strings.Contains(text, secret)
}

// mayHold are the files that keep the secret: the account's, the credentials
// file, mounted Secrets, and the stores of the clusters that have one.
func mayHold(path string) bool {
	return path == "world/world.json" || path == "world/credentials" ||
		strings.Contains(path, "/etcd/") || strings.Contains(path, "/pods/")
}

func assertFilesClosed(t *testing.T, dir, secret string) {
	t.Helper()
	holders := 0
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if isOpen(info.Mode()) {
			t.Errorf("%s is open to others: %s", name, info.Mode())
		}
		if !info.Mode().IsRegular() {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if !hasSecret(string(text), secret) {
			return nil
		}
		holders++
		if !mayHold(name) {
			t.Errorf("%s shows it", name)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s holds it with mode %s, want 0600", name, info.Mode())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if holders == 0 {
		t.Error("no file holds it: this test looks for the wrong thing")
	}
}

// isOpen reports whether others may read a file, list a folder or, for which
// they need to write to it, connect to a socket.
func isOpen(mode fs.FileMode) bool {
	switch mode.Type() {
	case fs.ModeSymlink:
		return false // what it points to decides
	case fs.ModeSocket:
		return mode.Perm()&0o022 != 0
	default:
		return mode.Perm()&0o077 != 0
	}
}
