package ekssim

import (
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/ec2sim"
)

const (
	x86 = "x86_64" // as EC2 spells architectures
	arm = "arm64"

	bottlerocketRelease = "1.51.0-47438798"
)

// imageArchitecture is the architecture of a node image type that is
// modelled, or a refusal.
func imageArchitecture(image types.AMITypes, minor string) (string, error) {
	switch {
	case !slices.Contains(image.Values(), image):
		return "", invalidParameter("unknown amiType %s", image)
	case strings.HasPrefix(string(image), "AL2_"):
		// Amazon Linux 2 images ended with 1.32 ("EKS user guide, EKS AL2 & AL2
		// accelerated AMIs transition guide").
		return "", invalidParameter("AMI Type %s is only supported for kubernetes versions 1.32 or earlier, not for %s", image, minor)
	case image == types.AMITypesCustom, strings.HasPrefix(string(image), "WINDOWS_"):
		return "", notModelled("amiType " + string(image))
	case strings.Contains(string(image), "ARM_64"):
		return arm, nil
	}
	return x86, nil
}

// chooseImage returns the image type and instance types of a node group. What
// was not asked for follows from the other, as EKS does it.
func (s *Service) chooseImage(region, minor string, image types.AMITypes, names []string) (types.AMITypes, []string, error) {
	if len(names) == 0 {
		names = []string{"t3.medium"}
		if strings.Contains(string(image), "ARM_64") {
			names = []string{"t4g.medium"}
		}
	}
	var shapes []ec2sim.InstanceType
	var unknown []string
	for _, name := range names {
		shape, ok := s.network.LookupInstanceType(region, name)
		if !ok {
			unknown = append(unknown, name)
		}
		shapes = append(shapes, shape)
	}
	if len(unknown) > 0 {
		return "", nil, invalidParameter("The following supplied instance types do not exist: %s", unknown)
	}
	if image == "" {
		image = types.AMITypesAl2023X8664Standard
		if shapes[0].Architecture == arm {
			image = types.AMITypesAl2023Arm64Standard
		}
	}
	architecture, err := imageArchitecture(image, minor)
	if err != nil {
		return "", nil, err
	}
	for _, shape := range shapes {
		if shape.Architecture != architecture {
			return "", nil, invalidParameter("[%s] is not a valid instance type for requested amiType %s", shape.Name, image)
		}
	}
	return image, slices.Clone(names), nil
}

// release returns the image release: the one asked for, which must be for the
// Kubernetes minor, or the newest.
func release(image types.AMITypes, version kubernetesVersion, asked *string) (string, error) {
	newest, pattern := version.NodeRelease, `^`+regexp.QuoteMeta(version.Minor)+`\.\d+-\d{8}$`
	if strings.HasPrefix(string(image), "BOTTLEROCKET_") {
		newest, pattern = bottlerocketRelease, `^\d+\.\d+\.\d+-[0-9a-f]{8}$`
	}
	if asked == nil {
		return newest, nil
	}
	if !regexp.MustCompile(pattern).MatchString(*asked) {
		return "", invalidParameter("Requested release version %s is not valid for kubernetes version %s", aws.ToString(asked), version.Minor)
	}
	return *asked, nil
}
