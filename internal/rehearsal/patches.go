package rehearsal

import (
	"fmt"

	"github.com/krops-go/krops/internal/gitops"
	"github.com/krops-go/krops/internal/rehearsal/world"
)

// patches are what the providers' manifests need to run in the world: where
// AWS is, and how soon to look again at infrastructure that is being made. The
// provider's own minute suits a cloud that takes many.
func patches(s world.Settings) map[string][]gitops.Patch {
	return map[string][]gitops.Patch{
		"infrastructure-aws": {{
			Target: &gitops.Selector{Kind: "Deployment", Name: "capa-controller-manager"},
			Patch: fmt.Sprintf(`
- op: add
  path: /spec/template/spec/containers/0/env/-
  value: {name: AWS_ENDPOINT_URL, value: %q}
- op: add
  path: /spec/template/spec/containers/0/env/-
  value: {name: AWS_EC2_METADATA_DISABLED, value: "true"}
- op: add
  path: /spec/template/spec/containers/0/args/-
  value: --wait-infra-period=100ms
`, s.Endpoint()),
		}},
	}
}
