package ec2sim

import (
	"maps"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

func (s *Service) accountOperations() []service.Operation {
	return []service.Operation{
		read(s, "DescribeAccountAttributes", (*place).describeAccountAttributes, "AttributeNames"),
	}
}

func (p *place) describeAccountAttributes(in *ec2.DescribeAccountAttributesInput) (*ec2.DescribeAccountAttributesOutput, error) {
	addresses := strconv.Itoa(p.quota(AddressQuota))
	attributes := map[string]string{
		"default-vpc":                           "none",
		"max-elastic-ips":                       addresses,
		"max-instances":                         "20",
		"supported-platforms":                   "VPC",
		"vpc-max-elastic-ips":                   addresses,
		"vpc-max-security-groups-per-interface": "5",
	}
	for _, name := range in.AttributeNames {
		if _, known := attributes[string(name)]; !known {
			return nil, invalid("Value (%s) for parameter attributeName is invalid.", name)
		}
	}
	out := &ec2.DescribeAccountAttributesOutput{}
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		if len(in.AttributeNames) > 0 && !slices.Contains(in.AttributeNames, types.AccountAttributeName(name)) {
			continue
		}
		out.AccountAttributes = append(out.AccountAttributes, types.AccountAttribute{
			AttributeName:   aws.String(name),
			AttributeValues: []types.AccountAttributeValue{{AttributeValue: aws.String(attributes[name])}},
		})
	}
	return out, nil
}
