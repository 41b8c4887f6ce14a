package sweep_test

import (
	"os/exec"
	"strings"
	"testing"
)

// TestDependencies keeps the parts that deal with the account alone free of
// what they have no need for.
func TestDependencies(t *testing.T) {
	const parts = "github.com/krops-go/krops/internal/aws/"
	forbidden := map[string]string{
		"github.com/krops-go/krops/internal/rehearsal": "a rehearsal is an environment, never a code path",
		"github.com/spf13/":                            "commands adapt the library, not the other way round",
		"k8s.io/api":                                   "AWS is swept without a cluster",
		"k8s.io/client-go":                             "AWS is swept without a cluster",
		"sigs.k8s.io/":                                 "AWS is swept without a cluster",
	}
	for _, part := range []string{"awserr", "session", "ekscluster", "inventory", "sweep"} {
		out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", parts+part).Output()
		if err != nil {
			t.Fatalf("list what %s depends on: %v", part, err)
		}
		for _, dependency := range strings.Fields(string(out)) {
			for prefix, reason := range forbidden {
				if strings.HasPrefix(dependency, prefix) {
					t.Errorf("%s depends on %s: %s", part, dependency, reason)
				}
			}
		}
	}
}
