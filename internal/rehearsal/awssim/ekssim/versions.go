package ekssim

import (
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// defaultVersion is what a cluster gets whose version was not asked for.
const defaultVersion = "1.35"

// kubernetesVersion is a minor that EKS offers.
type kubernetesVersion struct {
	Minor, Patch string
	Platform     string
	// Released, and the days on which standard and extended support end: 14
	// months of the one are followed by 12 of the other.
	Released, StandardEnd, ExtendedEnd time.Time
	// NodeRelease is the newest Amazon Linux 2023 image release.
	NodeRelease string
}

func day(year int, month time.Month, d int) time.Time {
	return time.Date(year, month, d, 0, 0, 0, 0, time.UTC)
}

// kubernetesVersions are oldest first. The dates of 1.36 are not published
// facts but follow the rule of 14 and 12 months.
func kubernetesVersions() []kubernetesVersion {
	return []kubernetesVersion{
		{"1.33", "1.33.13", "eks.1", day(2025, 5, 29), day(2026, 7, 29), day(2027, 7, 29), "1.33.13-20260714"},
		{"1.34", "1.34.9", "eks.1", day(2025, 10, 2), day(2026, 12, 2), day(2027, 12, 2), "1.34.9-20260714"},
		{"1.35", "1.35.6", "eks.1", day(2026, 1, 27), day(2027, 3, 27), day(2028, 3, 27), "1.35.6-20260714"},
		{"1.36", "1.36.2", "eks.1", day(2026, 6, 24), day(2027, 8, 24), day(2028, 8, 24), "1.36.2-20260714"},
	}
}

// versionIndex is the place of the minor in kubernetesVersions, or -1.
func versionIndex(minor string) int {
	return slices.IndexFunc(kubernetesVersions(), func(v kubernetesVersion) bool { return v.Minor == minor })
}

func lookupVersion(minor string) (kubernetesVersion, error) {
	if i := versionIndex(minor); i >= 0 {
		return kubernetesVersions()[i], nil
	}
	return kubernetesVersion{}, invalidParameter("unsupported Kubernetes version %s", minor)
}

func (v kubernetesVersion) status(now time.Time) (types.VersionStatus, types.ClusterVersionStatus) {
	switch {
	case now.Before(v.StandardEnd):
		return types.VersionStatusStandardSupport, types.ClusterVersionStatusStandardSupport
	case now.Before(v.ExtendedEnd):
		return types.VersionStatusExtendedSupport, types.ClusterVersionStatusExtendedSupport
	}
	return types.VersionStatusUnsupported, types.ClusterVersionStatusUnsupported
}

func (s *Service) describeClusterVersions(c *service.Call, in *eks.DescribeClusterVersionsInput) (*eks.DescribeClusterVersionsOutput, error) {
	if kind := aws.ToString(in.ClusterType); kind != "" && kind != "eks" {
		return nil, notModelled("clusterType " + kind)
	}
	found := map[string]types.ClusterVersionInformation{}
	var minors []string
	for _, v := range kubernetesVersions() {
		versionStatus, status := v.status(c.World.Now())
		switch {
		case len(in.ClusterVersions) > 0 && !slices.Contains(in.ClusterVersions, v.Minor),
			aws.ToBool(in.DefaultOnly) && v.Minor != defaultVersion,
			in.VersionStatus != "" && in.VersionStatus != versionStatus,
			versionStatus == types.VersionStatusUnsupported && !aws.ToBool(in.IncludeAll):
			continue
		}
		minors = append(minors, v.Minor)
		found[v.Minor] = types.ClusterVersionInformation{
			ClusterType: aws.String("eks"), ClusterVersion: aws.String(v.Minor), KubernetesPatchVersion: aws.String(v.Patch),
			DefaultPlatformVersion: aws.String(v.Platform), DefaultVersion: v.Minor == defaultVersion,
			ReleaseDate: aws.Time(v.Released), EndOfStandardSupportDate: aws.Time(v.StandardEnd), EndOfExtendedSupportDate: aws.Time(v.ExtendedEnd),
			Status: status, VersionStatus: versionStatus,
		}
	}
	part, next, err := page(minors, in.NextToken, in.MaxResults)
	if err != nil {
		return nil, err
	}
	out := &eks.DescribeClusterVersionsOutput{ClusterVersions: []types.ClusterVersionInformation{}, NextToken: next}
	for _, minor := range part {
		out.ClusterVersions = append(out.ClusterVersions, found[minor])
	}
	return out, nil
}
