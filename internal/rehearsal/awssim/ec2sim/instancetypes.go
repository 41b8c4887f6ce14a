package ec2sim

import (
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// InstanceType is the shape of an instance type.
type InstanceType struct {
	Name         string
	VCPUs        int
	MemoryMiB    int
	Architecture string // "x86_64" or "arm64", as EC2 spells them
}

const (
	amd = string(types.ArchitectureTypeX8664)
	arm = string(types.ArchitectureTypeArm64)
)

// instanceTypeTable holds the modelled types by name, with the shapes of the
// EC2 Instance Types Guide.
var instanceTypeTable = []InstanceType{
	{"c5.large", 2, 4096, amd},
	{"c6g.large", 2, 4096, arm},
	{"c6i.large", 2, 4096, amd},
	{"m5.large", 2, 8192, amd},
	{"m5.xlarge", 4, 16384, amd},
	{"m6g.large", 2, 8192, arm},
	{"m6g.xlarge", 4, 16384, arm},
	{"m6i.large", 2, 8192, amd},
	{"t3.large", 2, 8192, amd},
	{"t3.medium", 2, 4096, amd},
	{"t3.micro", 2, 1024, amd},
	{"t3.small", 2, 2048, amd},
	{"t3.xlarge", 4, 16384, amd},
	{"t3a.large", 2, 8192, amd},
	{"t3a.medium", 2, 4096, amd},
	{"t3a.small", 2, 2048, amd},
	{"t4g.large", 2, 8192, arm},
	{"t4g.medium", 2, 4096, arm},
	{"t4g.small", 2, 2048, arm},
	{"t4g.xlarge", 4, 16384, arm},
}

// offered lists the types that the region has. Stockholm has no t3a.
func (r region) offered() []InstanceType {
	return slices.DeleteFunc(slices.Clone(instanceTypeTable), func(t InstanceType) bool {
		return r.name == "eu-north-1" && t.family() == "t3a"
	})
}

func (t InstanceType) family() string {
	family, _, _ := strings.Cut(t.Name, ".")
	return family
}

func (t InstanceType) burstable() bool { return strings.HasPrefix(t.Name, "t") }

// cores is the number of physical cores: Graviton runs one thread on each.
func (t InstanceType) cores() int {
	if t.Architecture == arm {
		return t.VCPUs
	}
	return t.VCPUs / 2
}

func (s *Service) instanceTypeOperations() []service.Operation {
	return []service.Operation{
		read(s, "DescribeInstanceTypes", (*place).describeInstanceTypes, "InstanceTypes", "Filters", "MaxResults", "NextToken"),
		read(s, "DescribeInstanceTypeOfferings", (*place).describeOfferings, "LocationType", "Filters", "MaxResults", "NextToken"),
	}
}

var instanceTypeFields = fields[InstanceType]{by: map[string]func(*place, InstanceType) []string{
	"bare-metal":                            always[InstanceType]("false"),
	"burstable-performance-supported":       boolean(InstanceType.burstable),
	"current-generation":                    always[InstanceType]("true"),
	"instance-type":                         one(func(t InstanceType) string { return t.Name }),
	"memory-info.size-in-mib":               one(func(t InstanceType) string { return strconv.Itoa(t.MemoryMiB) }),
	"processor-info.supported-architecture": one(func(t InstanceType) string { return t.Architecture }),
	"supported-virtualization-type":         always[InstanceType](string(types.VirtualizationTypeHvm)),
	"vcpu-info.default-vcpus":               one(func(t InstanceType) string { return strconv.Itoa(t.VCPUs) }),
}}

func (p *place) describeInstanceTypes(in *ec2.DescribeInstanceTypesInput) (*ec2.DescribeInstanceTypesOutput, error) {
	if err := instanceTypeFields.check(in.Filters); err != nil {
		return nil, err
	}
	offered := p.region.offered()
	for _, name := range in.InstanceTypes {
		if !slices.ContainsFunc(offered, func(t InstanceType) bool { return t.Name == string(name) }) {
			return nil, service.Refuse("InvalidInstanceType", "The following supplied instance types do not exist: [%s]", name)
		}
	}
	offered = slices.DeleteFunc(offered, func(t InstanceType) bool {
		unwanted := len(in.InstanceTypes) > 0 && !slices.Contains(in.InstanceTypes, types.InstanceType(t.Name))
		return unwanted || !instanceTypeFields.match(p, t, in.Filters)
	})
	offered, next, err := page(offered, func(t InstanceType) string { return t.Name }, smallPage,
		selection{max: in.MaxResults, token: in.NextToken})
	if err != nil {
		return nil, err
	}
	out := &ec2.DescribeInstanceTypesOutput{NextToken: next}
	for _, t := range offered {
		out.InstanceTypes = append(out.InstanceTypes, t.info())
	}
	return out, nil
}

func (t InstanceType) info() types.InstanceTypeInfo {
	return types.InstanceTypeInfo{
		InstanceType: types.InstanceType(t.Name), CurrentGeneration: aws.Bool(true), BareMetal: aws.Bool(false),
		BurstablePerformanceSupported: aws.Bool(t.burstable()), Hypervisor: types.InstanceTypeHypervisorNitro,
		SupportedVirtualizationTypes: []types.VirtualizationType{types.VirtualizationTypeHvm},
		SupportedRootDeviceTypes:     []types.RootDeviceType{types.RootDeviceTypeEbs},
		SupportedUsageClasses:        []types.UsageClassType{types.UsageClassTypeOnDemand, types.UsageClassTypeSpot},
		MemoryInfo:                   &types.MemoryInfo{SizeInMiB: aws.Int64(int64(t.MemoryMiB))},
		ProcessorInfo: &types.ProcessorInfo{
			SupportedArchitectures: []types.ArchitectureType{types.ArchitectureType(t.Architecture)},
		},
		VCpuInfo: &types.VCpuInfo{
			DefaultVCpus: aws.Int32(int32(t.VCPUs)), DefaultCores: aws.Int32(int32(t.cores())),
			DefaultThreadsPerCore: aws.Int32(int32(t.VCPUs / t.cores())),
		},
	}
}

// offering is an instance type in one location.
type offering struct {
	location, typ string
}

var offeringFields = fields[offering]{by: map[string]func(*place, offering) []string{
	"instance-type": one(func(o offering) string { return o.typ }),
	"location":      one(func(o offering) string { return o.location }),
}}

func (p *place) describeOfferings(in *ec2.DescribeInstanceTypeOfferingsInput) (*ec2.DescribeInstanceTypeOfferingsOutput, error) {
	if err := offeringFields.check(in.Filters); err != nil {
		return nil, err
	}
	by := in.LocationType
	var locations []string
	switch by {
	case types.LocationTypeRegion, "":
		by = types.LocationTypeRegion
		locations = []string{p.region.name}
	case types.LocationTypeAvailabilityZone:
		for _, z := range p.region.zoneList() {
			locations = append(locations, z.name)
		}
	case types.LocationTypeAvailabilityZoneId:
		for _, z := range p.region.zoneList() {
			locations = append(locations, z.id)
		}
	default:
		return nil, invalid("Value (%s) for parameter locationType is invalid.", by)
	}
	var found []offering
	for _, location := range locations {
		for _, t := range p.region.offered() {
			if o := (offering{location, t.Name}); offeringFields.match(p, o, in.Filters) {
				found = append(found, o)
			}
		}
	}
	found, next, err := page(found, func(o offering) string { return o.location + "\x00" + o.typ }, largePage,
		selection{max: in.MaxResults, token: in.NextToken})
	if err != nil {
		return nil, err
	}
	out := &ec2.DescribeInstanceTypeOfferingsOutput{NextToken: next}
	for _, o := range found {
		out.InstanceTypeOfferings = append(out.InstanceTypeOfferings, types.InstanceTypeOffering{
			InstanceType: types.InstanceType(o.typ), Location: aws.String(o.location), LocationType: by,
		})
	}
	return out, nil
}
