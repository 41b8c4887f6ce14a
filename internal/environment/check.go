package environment

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// checker collects what is wrong in one environment's section.
type checker struct {
	prefix   string
	root     *os.Root
	problems Problems
}

func (c *checker) add(field, cause, fix string) {
	c.problems = append(c.problems, Problem{File: File, Field: c.prefix + field, Cause: cause, Fix: fix})
}

// check looks at everything that can be judged without reading a manifest.
func check(env *Environment) Problems {
	root, err := os.OpenRoot(env.Root)
	if err != nil {
		return Problems{{File: File, Cause: "lies in a folder that cannot be opened", Fix: err.Error()}}
	}
	defer root.Close()
	c := &checker{prefix: "environments." + env.Name + ".", root: root}

	if len(validation.IsDNS1123Label(env.Name)) > 0 {
		c.problems = append(c.problems, Problem{File: File, Field: "environments." + env.Name,
			Cause: "is not a name that Kubernetes accepts", Fix: "use lower-case letters, digits and dashes"})
	}
	c.folder("sync-path", env.SyncPath)
	c.regions(env.Regions)
	c.managementCluster(env)
	c.providers(env.Providers)
	c.kubeconfig(env.Kubeconfig)
	return c.problems
}

func (c *checker) regions(regions []string) {
	if len(regions) == 0 {
		c.add("regions", "is empty", "list each region that a cluster of this environment uses")
	}
	for i, region := range regions {
		if len(validation.IsDNS1123Label(region)) > 0 {
			c.add(fmt.Sprintf("regions[%d]", i), fmt.Sprintf("%q is not the name of a region", region), `write it like "eu-north-1"`)
		}
		if slices.Contains(regions[:i], region) {
			c.add(fmt.Sprintf("regions[%d]", i), fmt.Sprintf("repeats %q", region), "remove it")
		}
	}
}

func (c *checker) managementCluster(env *Environment) {
	cluster := env.ManagementCluster
	c.label("management-cluster.name", cluster.Name)
	c.label("management-cluster.namespace", cluster.Namespace)
	if !slices.Contains(env.Regions, cluster.Region) {
		c.add("management-cluster.region", fmt.Sprintf("%q is not one of the environment's regions", cluster.Region),
			"correct it, or add it to "+c.prefix+"regions")
	}
	c.folder("management-cluster.path", cluster.Path)
}

func (c *checker) providers(providers []Provider) {
	if len(providers) == 0 {
		c.add("providers", "is empty", "declare Cluster API's core and infrastructure provider as [["+c.prefix+"providers]]")
	}
	seen := map[string]bool{}
	for i, provider := range providers {
		field := fmt.Sprintf("providers[%d].", i)
		c.label(field+"name", provider.Name)
		if seen[provider.Name] {
			c.add(field+"name", fmt.Sprintf("repeats %q", provider.Name), "give each provider its own name")
		}
		seen[provider.Name] = true
		c.label(field+"namespace", provider.Namespace)
		c.folder(field+"path", provider.Path)
		if len(provider.Deployments) == 0 {
			c.add(field+"deployments", "is empty", "list what must be available before the provider counts as installed")
		}
		for j, name := range provider.Deployments {
			c.label(fmt.Sprintf("%sdeployments[%d]", field, j), name)
		}
	}
}

func (c *checker) kubeconfig(k Kubeconfig) {
	if k.Context == "" || strings.TrimSpace(k.Context) != k.Context {
		c.add("kubeconfig.context", fmt.Sprintf("%q is not a context's name", k.Context), `write it like "krops-mgmt"`)
	}
	if !local(k.Path) {
		c.add("kubeconfig.path", fmt.Sprintf("%q is not a path inside the repository", k.Path), `write it like ".kube/krops-mgmt.yaml"`)
	}
}

func (c *checker) label(field, name string) {
	if name == "" {
		c.add(field, "is missing", "set it")
		return
	}
	if len(validation.IsDNS1123Label(name)) > 0 {
		c.add(field, fmt.Sprintf("%q is not a name that Kubernetes accepts", name), "use lower-case letters, digits and dashes, 63 at most")
	}
}

// folder requires an existing folder below the repository; a symbolic link that leads out of it does not count.
func (c *checker) folder(field, path string) {
	if path == "" {
		c.add(field, "is missing", "name a folder of the repository")
		return
	}
	if !local(path) {
		c.add(field, fmt.Sprintf("%q is not a path inside the repository", path), "write it relative to "+File)
		return
	}
	info, err := c.root.Stat(filepath.FromSlash(path))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c.add(field, fmt.Sprintf("names %q, which does not exist", path), "correct the path or create the folder")
	case err != nil:
		c.add(field, fmt.Sprintf("names %q, which cannot be read", path), err.Error())
	case !info.IsDir():
		c.add(field, fmt.Sprintf("names %q, which is a file", path), "name the folder that holds it")
	}
}

func local(path string) bool {
	return filepath.IsLocal(filepath.FromSlash(path)) && filepath.Clean(filepath.FromSlash(path)) != "."
}
