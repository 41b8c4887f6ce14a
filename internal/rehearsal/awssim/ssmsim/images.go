package ssmsim

import (
	"regexp"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"
)

// Images knows the images that EKS nodes start from.
type Images interface {
	NodeImage(region, minor, architecture string) (id, name string, ok bool)
}

// published stands in for the date of every public parameter.
var published = time.Date(2026, time.July, 14, 18, 0, 0, 0, time.UTC)

// nodeImage are the public parameters of node images ("Retrieve recommended
// Amazon Linux AMI IDs", EKS user guide).
var nodeImage = regexp.MustCompile(`^/aws/service/eks/optimized-ami/(1\.\d\d)/amazon-linux-2023/(x86_64|arm64)/standard/recommended/(image_id|image_name)$`)

// public returns a parameter that AWS publishes in every region.
func (s *Service) public(region, name string) (*types.Parameter, bool) {
	m := nodeImage.FindStringSubmatch(name)
	if m == nil {
		return nil, false
	}
	value, image, ok := s.images.NodeImage(region, m[1], m[2])
	if !ok {
		return nil, false
	}
	dataType := "text"
	switch m[3] {
	case "image_id":
		dataType = "aws:ec2:image"
	case "image_name":
		value = image
	}
	return &types.Parameter{
		Name: aws.String(name), ARN: aws.String("arn:aws:ssm:" + region + "::parameter" + name), Type: types.ParameterTypeString, DataType: aws.String(dataType),
		Value: aws.String(value), Version: 1, LastModifiedDate: aws.Time(published),
	}, true
}
