package ec2sim

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// image is a machine image of Amazon's. There are those for EKS nodes, in each
// region with ids of its own; instances run nothing of them.
type image struct {
	header
	Name, Description, Architecture, CreatedAt string
}

// eksImages is the account that owns the images of EKS in most regions.
const eksImages = "602401143452"

var imageKind = kind{
	typ: "image", prefix: "ami-", param: "imageId", absent: "The image id '[%s]' does not exist",
	notFound: "InvalidAMIID.NotFound", malformed: "InvalidAMIID.Malformed",
}

var images = family[*image]{kind: imageKind, maxPage: largePage, fields: fields[*image]{
	tags: tagged[*image],
	by: map[string]func(*place, *image) []string{
		"architecture":        one(func(i *image) string { return i.Architecture }),
		"description":         one(func(i *image) string { return i.Description }),
		"image-id":            one(func(i *image) string { return i.ID }),
		"image-type":          always[*image](string(types.ImageTypeValuesMachine)),
		"is-public":           always[*image]("true"),
		"name":                one(func(i *image) string { return i.Name }),
		"owner-alias":         always[*image]("amazon"),
		"owner-id":            always[*image](eksImages),
		"state":               always[*image](string(types.ImageStateAvailable)),
		"tag-key":             tagKeys[*image],
		"virtualization-type": always[*image](string(types.VirtualizationTypeHvm)),
	},
}}

func (s *Service) imageOperations() []service.Operation {
	return []service.Operation{
		read(s, "DescribeImages", (*place).describeImages, "ImageIds", "Owners", "Filters", "MaxResults", "NextToken"),
	}
}

// imagesOf are the images in the region: those of the newest release for each
// Kubernetes minor and architecture.
func (r region) imagesOf() map[string]*image {
	all := map[string]*image{}
	for _, minor := range []string{"1.33", "1.34", "1.35", "1.36"} {
		for _, architecture := range []string{amd, string(types.ArchitectureTypeArm64)} {
			name := "amazon-eks-node-al2023-" + architecture + "-standard-" + minor + "-v20260714"
			sum := sha256.Sum256([]byte(r.name + "/" + name))
			i := &image{
				header: header{ID: "ami-" + hex.EncodeToString(sum[:])[:17]}, Name: name, Architecture: architecture,
				Description: "EKS-optimized Kubernetes node based on Amazon Linux 2023, (k8s: " + minor + ", containerd: 2.*)",
				CreatedAt:   "2026-07-14T00:00:00.000Z",
			}
			all[i.ID] = i
		}
	}
	return all
}

func (p *place) describeImages(in *ec2.DescribeImagesInput) (*ec2.DescribeImagesOutput, error) {
	all := p.region.imagesOf()
	for id := range all {
		ours := slices.ContainsFunc(in.Owners, func(o string) bool { return strings.EqualFold(o, "amazon") || o == eksImages })
		if len(in.Owners) > 0 && !ours {
			delete(all, id)
		}
	}
	found, next, err := images.list(p, all, selection{in.ImageIds, in.Filters, in.MaxResults, in.NextToken})
	if err != nil {
		return nil, err
	}
	out := &ec2.DescribeImagesOutput{Images: []types.Image{}, NextToken: next}
	for _, i := range found {
		out.Images = append(out.Images, types.Image{
			ImageId: aws.String(i.ID), Name: aws.String(i.Name), Description: aws.String(i.Description),
			Architecture: types.ArchitectureValues(i.Architecture), CreationDate: aws.String(i.CreatedAt),
			ImageType: types.ImageTypeValuesMachine, OwnerId: aws.String(eksImages), ImageOwnerAlias: aws.String("amazon"),
			ImageLocation: aws.String("amazon/" + i.Name), Public: aws.Bool(true), State: types.ImageStateAvailable,
			RootDeviceType: types.DeviceTypeEbs, RootDeviceName: aws.String("/dev/xvda"), VirtualizationType: types.VirtualizationTypeHvm,
			Hypervisor: types.HypervisorTypeXen, EnaSupport: aws.Bool(true),
		})
	}
	return out, nil
}
