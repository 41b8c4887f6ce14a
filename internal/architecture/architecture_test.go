package architecture_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/krops-go/krops/"

// rule forbids packages to reach others.
type rule struct {
	// who are the packages that the rule is for, by prefix below the module.
	who []string
	// except are exceptions from who, by prefix.
	except []string
	// never is what they must not reach, by prefix of the import path.
	never string
	// directly limits the rule to their own import statements.
	directly bool
	why      string
}

var rules = []rule{
	{
		who: []string{"cmd/", "internal/"}, except: []string{"cmd/krops-cluster", "internal/controlplane"},
		never: "k8s.io/kubernetes/",
		why:   "krops stays quick to build and to start; only the embedded cluster's program carries Kubernetes",
	},
	{
		who: []string{"cmd/", "internal/"}, except: []string{"cmd/krops-cluster", "internal/program/", "internal/controlplane"},
		never: "sigs.k8s.io/cluster-api-provider-aws/",
		why:   "the provider's controllers run as programs of a node; krops talks to them through the API server",
	},
	{
		who:   []string{"internal/aws", "internal/lifecycle", "internal/gitops", "internal/kube", "internal/environment", "internal/provider", "internal/cluster", "internal/node", "internal/program", "internal/controlplane"},
		never: module + "internal/rehearsal",
		why:   "a rehearsal is an environment, never a code path: it hands in endpoints and addresses, and nothing knows of it",
	},
	{
		who:   []string{"internal/lifecycle", "internal/gitops", "internal/kube", "internal/provider"},
		never: module + "internal/aws",
		why:   "the lifecycle is the same for all clouds; what differs is behind lifecycle.Cloud",
	},
	{
		who:   []string{"internal/rehearsal/awssim"},
		never: "k8s.io/client-go/",
		why:   "the simulated AWS starts clusters through an interface and is usable without any",
	},
	{
		who:   []string{"internal/rehearsal/awssim"},
		never: module + "internal/aws",
		why:   "simulator and client share the SDK's types only, or one could hide the other's mistakes",
	},
	{
		who: []string{"internal/"}, except: []string{"internal/bench"},
		never: "github.com/spf13/cobra", directly: true,
		why: "library packages know no command line",
	},
}

type pkg struct {
	ImportPath    string
	Imports, Deps []string
}

func TestRules(t *testing.T) {
	packages := list(t)
	for _, r := range rules {
		matched := false
		for _, p := range packages {
			name := strings.TrimPrefix(p.ImportPath, module)
			if !hasPrefix(name, r.who) || hasPrefix(name, r.except) {
				continue
			}
			matched = true
			reached := p.Deps
			if r.directly {
				reached = p.Imports
			}
			for _, dep := range reached {
				if strings.HasPrefix(dep, r.never) {
					t.Errorf("%s must not reach %s, and reaches %s: %s", name, r.never, dep, r.why)
					break
				}
			}
		}
		if !matched {
			t.Errorf("no package is under the rule about %s for %v: the rule is out of date", r.never, r.who)
		}
	}
}

func hasPrefix(name string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// list returns the packages of the module with all that they reach.
func list(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports,Deps", "./...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var packages []pkg
	decoder := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p pkg
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			return packages
		}
		if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}
