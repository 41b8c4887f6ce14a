package ec2sim

import (
	"net/netip"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// instance is an EC2 instance. It runs nothing.
type instance struct {
	header
	Type         string
	Architecture string
	Zone, ZoneID string
	VPC, Subnet  string
	Interface    string
	PrivateIP    netip.Addr
	Reservation  string
	LaunchedAt   time.Time
	ReadyAt      time.Time
	GoneAt       time.Time // when a terminated instance is forgotten; zero before
}

var instanceKind = kind{
	typ: "instance", prefix: "i-", param: "instanceId", absent: "The instance ID '%s' does not exist",
	notFound: "InvalidInstanceID.NotFound", malformed: "InvalidInstanceID.Malformed",
}

var instances = family[*instance]{kind: instanceKind, maxPage: largePage, fields: fields[*instance]{
	tags: tagged[*instance],
	by: map[string]func(*place, *instance) []string{
		"architecture":         one(func(i *instance) string { return i.Architecture }),
		"availability-zone":    one(func(i *instance) string { return i.Zone }),
		"availability-zone-id": one(func(i *instance) string { return i.ZoneID }),
		"instance-id":          one(func(i *instance) string { return i.ID }),
		"instance-state-code": func(p *place, i *instance) []string {
			return []string{strconv.Itoa(int(*p.instanceState(i).Code))}
		},
		"instance-state-name": func(p *place, i *instance) []string { return []string{string(p.instanceState(i).Name)} },
		"instance-type":       one(func(i *instance) string { return i.Type }),
		"instance.group-id":   func(p *place, i *instance) []string { return slices.Clone(p.interfaceOf(i).Groups) },
		"ip-address": func(p *place, i *instance) []string {
			if ip := p.publicIPOf(p.interfaceOf(i)); ip.IsValid() {
				return []string{ip.String()}
			}
			return nil
		},
		"network-interface.network-interface-id": func(p *place, i *instance) []string { return []string{p.interfaceOf(i).ID} },
		"owner-id":                               owner[*instance],
		"private-dns-name": func(p *place, i *instance) []string {
			if i.terminated() {
				return nil
			}
			return []string{p.region.privateName(i.PrivateIP.String())}
		},
		"private-ip-address": one(func(i *instance) string {
			if i.terminated() {
				return ""
			}
			return i.PrivateIP.String()
		}),
		"reservation-id": one(func(i *instance) string { return i.Reservation }),
		"subnet-id":      one(func(i *instance) string { return i.network(i.Subnet) }),
		"tag-key":        tagKeys[*instance],
		"vpc-id":         one(func(i *instance) string { return i.network(i.VPC) }),
	},
}}

func (s *Service) instanceOperations() []service.Operation {
	return []service.Operation{
		read(s, "DescribeInstances", (*place).describeInstances, "InstanceIds", "Filters", "MaxResults", "NextToken"),
	}
}

func (i *instance) terminated() bool { return !i.GoneAt.IsZero() }

// network returns a member that only instances with a network have.
func (i *instance) network(value string) string {
	if i.terminated() {
		return ""
	}
	return value
}

// settleInstance forgets a terminated instance when its time has come.
func (r *RegionState) settleInstance(i *instance, next *earliest) {
	switch {
	case !i.terminated():
		next.due(i.ReadyAt)
	case next.due(i.GoneAt):
		delete(r.Instances, i.ID)
	}
}

// EC2 API, InstanceState.
func (p *place) instanceState(i *instance) types.InstanceState {
	switch {
	case i.terminated():
		return types.InstanceState{Code: aws.Int32(48), Name: types.InstanceStateNameTerminated}
	case p.now().Before(i.ReadyAt):
		return types.InstanceState{Code: aws.Int32(0), Name: types.InstanceStateNamePending}
	}
	return types.InstanceState{Code: aws.Int32(16), Name: types.InstanceStateNameRunning}
}

// interfaceOf returns the instance's interface, or an empty one.
func (p *place) interfaceOf(i *instance) *networkInterface {
	if eni := p.Interfaces[i.Interface]; eni != nil {
		return eni
	}
	return &networkInterface{}
}

// describeInstances lists every instance in a reservation of its own, as
// instances are launched one by one.
func (p *place) describeInstances(in *ec2.DescribeInstancesInput) (*ec2.DescribeInstancesOutput, error) {
	if len(in.InstanceIds) > 0 && in.MaxResults != nil {
		return nil, service.Refuse("InvalidParameterCombination", "The parameter instancesSet cannot be used with the parameter maxResults")
	}
	underWay := func(i *instance) bool {
		return p.call.Waiter && p.instanceState(i).Name == types.InstanceStateNamePending
	}
	found, next, err := settled(p, underWay, func() ([]*instance, *string, error) {
		return instances.list(p, p.Instances, selection{in.InstanceIds, in.Filters, in.MaxResults, in.NextToken})
	})
	if err != nil {
		return nil, err
	}
	out := &ec2.DescribeInstancesOutput{NextToken: next}
	for _, i := range found {
		out.Reservations = append(out.Reservations, types.Reservation{
			ReservationId: aws.String(i.Reservation), OwnerId: aws.String(p.account()),
			Instances: []types.Instance{p.showInstance(i)},
		})
	}
	return out, nil
}

func (p *place) showInstance(i *instance) types.Instance {
	shown := types.Instance{
		InstanceId: aws.String(i.ID), InstanceType: types.InstanceType(i.Type), Architecture: types.ArchitectureValues(i.Architecture),
		State: new(p.instanceState(i)), LaunchTime: aws.Time(i.LaunchedAt), AmiLaunchIndex: aws.Int32(0),
		Placement: &types.Placement{
			AvailabilityZone: aws.String(i.Zone), AvailabilityZoneId: aws.String(i.ZoneID), Tenancy: types.TenancyDefault,
		},
		Monitoring: &types.Monitoring{State: types.MonitoringStateDisabled}, EnaSupport: aws.Bool(true),
		Hypervisor: types.HypervisorTypeXen, VirtualizationType: types.VirtualizationTypeHvm, RootDeviceType: types.DeviceTypeEbs,
		PlatformDetails: aws.String("Linux/UNIX"), Tags: i.Tags.list(),
	}
	eni := p.Interfaces[i.Interface]
	if eni == nil {
		return shown
	}
	attached := p.showInterface(eni)
	shown.VpcId, shown.SubnetId = attached.VpcId, attached.SubnetId
	shown.PrivateIpAddress, shown.PrivateDnsName = attached.PrivateIpAddress, attached.PrivateDnsName
	shown.SecurityGroups, shown.SourceDestCheck = attached.Groups, attached.SourceDestCheck
	var public *types.InstanceNetworkInterfaceAssociation
	if a := attached.Association; a != nil {
		shown.PublicIpAddress, shown.PublicDnsName = a.PublicIp, a.PublicDnsName
		public = &types.InstanceNetworkInterfaceAssociation{IpOwnerId: a.IpOwnerId, PublicIp: a.PublicIp, PublicDnsName: a.PublicDnsName}
	}
	shown.NetworkInterfaces = []types.InstanceNetworkInterface{{
		NetworkInterfaceId: attached.NetworkInterfaceId, VpcId: attached.VpcId, SubnetId: attached.SubnetId,
		PrivateIpAddress: attached.PrivateIpAddress, PrivateDnsName: attached.PrivateDnsName, MacAddress: attached.MacAddress,
		Groups: attached.Groups, Status: attached.Status, Description: attached.Description, OwnerId: attached.OwnerId,
		InterfaceType: aws.String(eni.Type), SourceDestCheck: attached.SourceDestCheck, Association: public,
		Attachment: &types.InstanceNetworkInterfaceAttachment{
			AttachmentId: attached.Attachment.AttachmentId, AttachTime: attached.Attachment.AttachTime,
			DeviceIndex: aws.Int32(0), DeleteOnTermination: aws.Bool(true), Status: types.AttachmentStatusAttached,
		},
		PrivateIpAddresses: []types.InstancePrivateIpAddress{{
			Primary: aws.Bool(true), PrivateIpAddress: attached.PrivateIpAddress, PrivateDnsName: attached.PrivateDnsName, Association: public,
		}},
	}}
	return shown
}

// launch runs an instance in the subnet.
func (p *place) launch(s *subnet, t InstanceType, groups []string, tags tags) (*instance, error) {
	groups, err := p.groupsIn(s.VPC, groups)
	if err != nil {
		return nil, err
	}
	var public netip.Addr
	if s.MapPublicIP {
		if public, err = p.nextPublicIP(); err != nil {
			return nil, err
		}
	}
	id := p.newID("i-")
	eni, err := p.addInterface(s, networkInterface{
		Groups: groups, Type: plainInterface, Instance: id, Attachment: p.newID("eni-attach-"), PublicIP: public,
	})
	if err != nil {
		return nil, err
	}
	i := &instance{
		header: header{ID: id, Tags: tags}, Type: t.Name, Architecture: t.Architecture, Zone: s.Zone, ZoneID: s.ZoneID,
		VPC: s.VPC, Subnet: s.ID, Interface: eni.ID, PrivateIP: eni.PrivateIP, Reservation: p.newID("r-"),
		LaunchedAt: p.now(), ReadyAt: p.now().Add(p.sim.timing.Instance),
	}
	p.Instances[i.ID] = i
	return i, nil
}

// terminate ends the instance, and its interface with it.
func (p *place) terminate(i *instance) {
	if i.terminated() {
		return
	}
	if eni := p.Interfaces[i.Interface]; eni != nil {
		p.removeInterface(eni)
	}
	i.GoneAt = p.now().Add(p.sim.timing.Remembered)
}
