package ekssim

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

const addonOwner = "aws"

type offeredAddon struct {
	Name, Type string
	NeedsIAM   bool
	Versions   []addonVersion // newest first
}

type addonVersion struct {
	Version string
	Minors  []string // Kubernetes versions that it runs on
}

// offeredAddons are sorted by name. The builds of kube-proxy and of the
// pod identity agent for 1.36 are not published facts but follow the pattern
// of their predecessors.
func offeredAddons() []offeredAddon {
	all := []string{"1.33", "1.34", "1.35", "1.36"}
	return []offeredAddon{
		{Name: "aws-ebs-csi-driver", Type: "storage", NeedsIAM: true, Versions: []addonVersion{
			{"v1.54.0-eksbuild.1", all}, {"v1.53.0-eksbuild.1", all},
		}},
		{Name: "coredns", Type: "networking", Versions: []addonVersion{
			{"v1.14.3-eksbuild.11", []string{"1.35", "1.36"}},
			{"v1.13.2-eksbuild.19", []string{"1.33", "1.34", "1.35"}},
			{"v1.12.4-eksbuild.6", []string{"1.33", "1.34"}},
		}},
		{Name: "eks-pod-identity-agent", Type: "security", Versions: []addonVersion{
			{"v1.3.10-eksbuild.2", all}, {"v1.3.10-eksbuild.1", all},
		}},
		{Name: "kube-proxy", Type: "networking", Versions: []addonVersion{
			{"v1.36.0-eksbuild.2", []string{"1.36"}},
			{"v1.35.3-eksbuild.13", []string{"1.35", "1.36"}},
			{"v1.35.0-eksbuild.2", []string{"1.35"}},
			{"v1.34.1-eksbuild.2", []string{"1.34", "1.35"}},
			{"v1.33.10-eksbuild.13", []string{"1.33", "1.34"}},
			{"v1.33.5-eksbuild.2", []string{"1.33"}},
		}},
		{Name: "vpc-cni", Type: "networking", NeedsIAM: true, Versions: []addonVersion{
			{"v1.22.3-eksbuild.1", all}, {"v1.21.1-eksbuild.3", all},
		}},
	}
}

func lookupOffered(name string) (offeredAddon, error) {
	for _, a := range offeredAddons() {
		if a.Name == name {
			return a, nil
		}
	}
	return offeredAddon{}, invalidParameter("Addon %s specified is not supported", name)
}

// version returns what runs on the Kubernetes minor: the one asked for or,
// without one, the newest.
func (a offeredAddon) version(asked *string, minor string) (string, error) {
	for _, v := range a.Versions {
		if slices.Contains(v.Minors, minor) && (asked == nil || *asked == v.Version) {
			return v.Version, nil
		}
	}
	return "", invalidParameter("Addon version specified is not supported: %s %s on Kubernetes %s", a.Name, aws.ToString(asked), minor)
}

func (s *Service) describeAddonVersions(_ *service.Call, in *eks.DescribeAddonVersionsInput) (*eks.DescribeAddonVersionsOutput, error) {
	if in.KubernetesVersion != nil {
		if _, err := lookupVersion(*in.KubernetesVersion); err != nil {
			return nil, err
		}
	}
	found := map[string]types.AddonInfo{}
	var names []string
	for _, a := range offeredAddons() {
		switch {
		case in.AddonName != nil && *in.AddonName != a.Name,
			len(in.Types) > 0 && !slices.Contains(in.Types, a.Type),
			len(in.Owners) > 0 && !slices.Contains(in.Owners, addonOwner),
			len(in.Publishers) > 0 && !slices.Contains(in.Publishers, "eks"):
			continue
		}
		info := a.info(in.KubernetesVersion)
		if len(info.AddonVersions) == 0 {
			continue
		}
		names = append(names, a.Name)
		found[a.Name] = info
	}
	part, next, err := page(names, in.NextToken, in.MaxResults)
	if err != nil {
		return nil, err
	}
	out := &eks.DescribeAddonVersionsOutput{Addons: []types.AddonInfo{}, NextToken: next}
	for _, name := range part {
		out.Addons = append(out.Addons, found[name])
	}
	return out, nil
}

// info lists the versions for the Kubernetes minor, or for all without one.
func (a offeredAddon) info(minor *string) types.AddonInfo {
	out := types.AddonInfo{
		AddonName: aws.String(a.Name), Type: aws.String(a.Type), Owner: aws.String(addonOwner), Publisher: aws.String("eks"),
		AddonVersions: []types.AddonVersionInfo{},
	}
	for _, v := range a.Versions {
		var fits []types.Compatibility
		for _, m := range v.Minors {
			if minor != nil && *minor != m {
				continue
			}
			newest, err := a.version(nil, m)
			fits = append(fits, types.Compatibility{
				ClusterVersion: aws.String(m), DefaultVersion: err == nil && newest == v.Version, PlatformVersions: []string{"*"},
			})
		}
		if len(fits) > 0 {
			out.AddonVersions = append(out.AddonVersions, types.AddonVersionInfo{
				AddonVersion: aws.String(v.Version), Architecture: []string{"amd64", "arm64"}, ComputeTypes: []string{"ec2"},
				Compatibilities: fits, RequiresIamPermissions: a.NeedsIAM,
			})
		}
	}
	return out
}
