package elbsim

import (
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/ec2sim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
	"github.com/krops-go/krops/internal/rehearsal/awssim/taggingsim"
)

type classicState struct {
	Regions  map[string]map[string]*classicBalancer // by region, then by name
	Releases []release
}

type classicBalancer struct {
	ARN, Name, DNSName, VPC string
	Internal                bool
	Subnets, Zones, Groups  []string
	Ports                   []Port
	Instances               []string
	Interfaces              []string
	CreatedAt               time.Time
	Tags                    map[string]string
}

// Port is a port of a load balancer and the one of the nodes it leads to.
type Port struct{ Front, Node int32 }

// Balancer is a load balancer to make.
type Balancer struct {
	Region, Account, Name string
	Internal              bool
	Subnets               []string
	SecurityGroups        []string
	Ports                 []Port
	Instances             []string
	Tags                  map[string]string
}

// Create makes a Classic Load Balancer. The account's lock is held; the error
// is a *service.Error.
func (s *Classic) Create(w service.World, b Balancer) error {
	if s.state.Regions[b.Region][b.Name] != nil {
		return service.Refuse("DuplicateLoadBalancerName", "The load balancer %s already exists", b.Name)
	}
	interfaces, first, err := s.connect(b.Region, b.Subnets, ec2sim.ManagedInterface{
		Groups: b.SecurityGroups, Description: "ELB " + b.Name, Requester: requester, Public: !b.Internal,
	})
	if err != nil {
		return err
	}
	made := &classicBalancer{
		ARN:  "arn:aws:elasticloadbalancing:" + b.Region + ":" + b.Account + ":loadbalancer/" + b.Name,
		Name: b.Name, Internal: b.Internal, VPC: first.VPC, Subnets: slices.Clone(b.Subnets), Groups: slices.Clone(b.SecurityGroups),
		Ports: slices.Clone(b.Ports), Instances: slices.Clone(b.Instances), Interfaces: interfaces, CreatedAt: w.Now().UTC(),
		Tags: maps.Clone(b.Tags), DNSName: b.Name + "-" + w.NewID("", 10) + "." + b.Region + ".elb.amazonaws.com",
	}
	for _, id := range b.Subnets {
		subnet, _ := s.network.LookupSubnet(b.Region, id) // connect has found it
		made.Zones = append(made.Zones, subnet.Zone)
	}
	if s.state.Regions[b.Region] == nil {
		s.state.Regions[b.Region] = map[string]*classicBalancer{}
	}
	s.state.Regions[b.Region][b.Name] = made
	return nil
}

// requester is the service that load balancers' interfaces are managed by.
const requester = "amazon-elb"

func (b *classicBalancer) show() types.LoadBalancerDescription {
	scheme := "internet-facing"
	if b.Internal {
		scheme = "internal"
	}
	shown := types.LoadBalancerDescription{
		LoadBalancerName: aws.String(b.Name), DNSName: aws.String(b.DNSName), CreatedTime: aws.Time(b.CreatedAt), Scheme: aws.String(scheme),
		VPCId: aws.String(b.VPC), Subnets: b.Subnets, AvailabilityZones: b.Zones, SecurityGroups: b.Groups,
		Instances: []types.Instance{}, ListenerDescriptions: []types.ListenerDescription{},
	}
	for _, id := range b.Instances {
		shown.Instances = append(shown.Instances, types.Instance{InstanceId: aws.String(id)})
	}
	for _, p := range b.Ports {
		shown.ListenerDescriptions = append(shown.ListenerDescriptions, types.ListenerDescription{Listener: &types.Listener{
			Protocol: aws.String("TCP"), LoadBalancerPort: p.Front, InstanceProtocol: aws.String("TCP"), InstancePort: aws.Int32(p.Node),
		}})
	}
	return shown
}

// Settle implements service.Service: interfaces of deleted load balancers go.
func (s *Classic) Settle(now time.Time) time.Time {
	var next time.Time
	s.state.Releases, next = s.settleReleases(s.state.Releases, now)
	return next
}

// State implements service.Service.
func (s *Classic) State() any { return &s.state }

// Objects implements service.Service.
func (s *Classic) Objects() []service.Object {
	var all []service.Object
	for _, region := range slices.Sorted(maps.Keys(s.state.Regions)) {
		for _, name := range slices.Sorted(maps.Keys(s.state.Regions[region])) {
			all = append(all, service.Object{Kind: "classic-loadbalancer", Region: region, ID: name, Name: name})
		}
	}
	return all
}

// TaggedResources implements taggingsim.Taggable.
func (s *Classic) TaggedResources(region string) []taggingsim.TaggedResource {
	var all []taggingsim.TaggedResource
	for _, name := range slices.Sorted(maps.Keys(s.state.Regions[region])) {
		if b := s.state.Regions[region][name]; len(b.Tags) > 0 {
			all = append(all, taggingsim.TaggedResource{ARN: b.ARN, Tags: maps.Clone(b.Tags)})
		}
	}
	return all
}
