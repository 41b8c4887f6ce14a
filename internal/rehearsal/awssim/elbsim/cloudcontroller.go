package elbsim

import (
	"strings"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// ServiceBalancer is what a cluster's cloud controller is asked for by a
// Service of type LoadBalancer.
type ServiceBalancer struct {
	Region, Account string
	Cluster         string // name of the EKS cluster
	Namespace, Name string // of the Service
	UID             string
	VPC             string
	Subnets         []string
	NodeGroup       string // security group of the nodes; empty to leave it alone
	Ports           []Port
	Instances       []string
}

// tags are by which a cloud controller knows its own.
func (b ServiceBalancer) tags() map[string]string {
	return map[string]string{
		"kubernetes.io/cluster/" + b.Cluster: "owned",
		"kubernetes.io/service-name":         b.Namespace + "/" + b.Name,
	}
}

// balancerName is the name that a cloud controller derives from the Service's UID.
func (b ServiceBalancer) balancerName() string {
	name := "a" + strings.ReplaceAll(b.UID, "-", "")
	return name[:min(len(name), longestName)]
}

func (b ServiceBalancer) balancer() Balancer {
	return Balancer{
		Region: b.Region, Account: b.Account, Name: b.balancerName(), Subnets: b.Subnets, Ports: b.Ports, Instances: b.Instances, Tags: b.tags(),
	}
}

// Groups makes security groups; EC2 does. Errors are *service.Error.
type Groups interface {
	CreateOwnedSecurityGroup(region, vpc, name, description string, tags map[string]string) (string, error)
	LetIn(region, group, from string) error
}

// ExposeClassic makes what a cloud controller makes for a Service by default: a
// Classic Load Balancer in a security group of its own, which the nodes' group
// lets in. It returns the load balancer's name and the group's id. The
// account's lock is held.
func (s *Classic) ExposeClassic(w service.World, groups Groups, b ServiceBalancer) (name, group string, err error) {
	name = b.balancerName()
	group, err = groups.CreateOwnedSecurityGroup(b.Region, b.VPC, "k8s-elb-"+name,
		"Security group for Kubernetes ELB "+name+" ("+b.Namespace+"/"+b.Name+")",
		map[string]string{"kubernetes.io/cluster/" + b.Cluster: "owned"})
	if err != nil {
		return "", "", err
	}
	if b.NodeGroup != "" {
		if err := groups.LetIn(b.Region, b.NodeGroup, group); err != nil {
			return "", "", err
		}
	}
	wanted := b.balancer()
	wanted.SecurityGroups = []string{group}
	return name, group, s.Create(w, wanted)
}

// ExposeNetwork makes what a cloud controller makes for a Service that asks
// for a Network Load Balancer, and returns its ARN. The account's lock is held.
func (s *V2) ExposeNetwork(w service.World, b ServiceBalancer) (string, error) {
	return s.Create(w, b.balancer())
}
