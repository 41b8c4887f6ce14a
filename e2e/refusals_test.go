package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestRefusals wants a message that says what is wrong and what to do, and
// nothing begun that cannot be finished.
func TestRefusals(t *testing.T) {
	t.Run("a wrong manifest", func(t *testing.T) {
		const file = "mgmt/aws/clusters/eu-north-1/management/cluster.yaml"
		for _, test := range []struct {
			name, old, new string
			want           []string
		}{
			{"that is no YAML", "kind: \"Cluster\"", "kind: [\"Cluster\"", []string{"cluster.yaml"}},
			{"with an unknown field", "eksClusterName:", "eksClustreName:", []string{
				file, "AWSManagedControlPlane", "spec.eksClustreName", "remove"}},
			{"with a wrong type", "minSize: 2", "minSize: \"two\"", []string{
				file, "AWSManagedMachinePool", "spec.scaling.minSize", "integer"}},
			{"of another name than bootstrap.toml's", "  name: \"eu-north-1-management\"\n  namespace: \"default\"\nspec:\n  controlPlaneRef",
				"  name: \"eu-north-1-mgmt\"\n  namespace: \"default\"\nspec:\n  controlPlaneRef", []string{
					"bootstrap.toml: environments.aws.management-cluster.name", file, "make both files name the same cluster"}},
		} {
			t.Run(test.name, func(t *testing.T) {
				r := newRehearsal(t)
				r.damage(file, test.old, test.new)
				c := r.start()
				c.fail(test.want...)
				for _, e := range c.events {
					if e.Step != "manifests" {
						t.Errorf("something was begun: %v", e)
					}
				}
			})
		}
	})

	t.Run("two rehearsals in one folder", func(t *testing.T) {
		r := newRehearsal(t)
		first := r.start()
		first.await("the simulated AWS", done("world"))
		holder := fmt.Sprintf("%s is in use by process %d (krops rehearse)", r.dir, first.cmd.Process.Pid)
		r.start().fail(holder)
		r.start("--discard").fail(holder)
		// The refused ones did it no harm.
		first.await("the bootstrap cluster", done("bootstrap-cluster"))
		first.kill()
		r.awaitNoProcess()
	})

	t.Run("a taken port", func(t *testing.T) {
		r := newRehearsal(t)
		r.start("--until", "bootstrap-cluster").succeed()
		for what, port := range map[string]int{
			"the simulated cloud": r.worldPort(),
			"the API server":      r.clusterPort(r.bootstrapCluster("cluster.json")),
		} {
			r.killAll()
			free := occupy(t, port)
			r.start("--until", "bootstrap-cluster").fail("port "+strconv.Itoa(port), what, "is taken", "run the command again")
			r.awaitNoProcess()
			free()
		}
		r.start("--until", "bootstrap-cluster").succeed()
		r.discard()
		r.leavesNothing()
	})

	t.Run("no disk space", func(t *testing.T) {
		r := newRehearsal(t)
		c := r.startOnDisk(64 << 20)
		c.fail(r.dir, "MiB of disk space left", "needs", "free some")
		r.awaitNoProcess()
	})
}

// damage gives the rehearsal an estate of its own with a change in a file.
func (r *rehearsal) damage(file, old, new string) {
	r.t.Helper()
	root := r.t.TempDir()
	if err := os.CopyFS(filepath.Join(root, "mgmt"), os.DirFS(filepath.Join(r.root, "mgmt"))); err != nil {
		r.t.Fatal(err)
	}
	declaration, err := os.ReadFile(filepath.Join(r.root, "bootstrap.toml"))
	if err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "bootstrap.toml"), declaration, 0o600); err != nil {
		r.t.Fatal(err)
	}
	r.root = root
	path := filepath.Join(root, file)
	text, err := os.ReadFile(path)
	if err != nil {
		r.t.Fatal(err)
	}
	if !strings.Contains(string(text), old) {
		r.t.Fatalf("%s does not contain %q", file, old)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(text), old, new, 1)), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// startOnDisk starts the rehearsal with its folder on a disk of a size, which
// only it sees and which is gone with its processes.
func (r *rehearsal) startOnDisk(size int) *command {
	r.t.Helper()
	krops, err := kropsBinary()
	if err != nil {
		r.t.Fatal(err)
	}
	args := []string{"--mount"}
	if os.Geteuid() != 0 {
		args = append(args, "--map-root-user")
	}
	const script = `mkdir -p "$1" && mount -t tmpfs -o "size=$2" tmpfs "$1" && shift 2 && exec "$@"`
	args = append(args, "sh", "-c", script, "sh", r.dir, fmt.Sprint(size), krops)
	c := startProgram(r.t, r.env(), "unshare", append(args, r.args()...)...)
	r.t.Cleanup(c.stop)
	return c
}
