package ekssim_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/krops-go/krops/internal/rehearsal/awssim/ec2sim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/ekssim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// clusters stands in for real API servers.
type clusters struct {
	calls  []string
	starts int
	specs  map[string]ekssim.ClusterSpec
	nodes  map[string]ekssim.Node // by name
	fail   map[string]error       // by call, such as "start", once
}

func newClusters() *clusters {
	return &clusters{specs: map[string]ekssim.ClusterSpec{}, nodes: map[string]ekssim.Node{}, fail: map[string]error{}}
}

func (c *clusters) did(call, what string) error {
	c.calls = append(c.calls, call+" "+what)
	err := c.fail[call]
	delete(c.fail, call)
	return err
}

func (c *clusters) Start(_ context.Context, spec ekssim.ClusterSpec) (ekssim.ControlPlane, error) {
	if err := c.did("start", spec.ID.Name); err != nil {
		return ekssim.ControlPlane{}, err
	}
	c.starts++
	c.specs[spec.ID.Name] = spec
	return ekssim.ControlPlane{
		Endpoint: fmt.Sprintf("https://127.0.0.1:%d", 6000+c.starts), CA: []byte("pem"), Issuer: "https://issuer.test/" + spec.ID.Name,
	}, nil
}

func (c *clusters) Delete(_ context.Context, id ekssim.ClusterID) error {
	if err := c.did("delete", id.Name); err != nil {
		return err
	}
	delete(c.specs, id.Name)
	return nil
}

func (c *clusters) AddNode(_ context.Context, _ ekssim.ClusterID, node ekssim.Node) error {
	if err := c.did("add", node.Name); err != nil {
		return err
	}
	if _, exists := c.nodes[node.Name]; !exists {
		c.nodes[node.Name] = node
	}
	return nil
}

func (c *clusters) RemoveNode(_ context.Context, _ ekssim.ClusterID, name string) error {
	if err := c.did("remove", name); err != nil {
		return err
	}
	delete(c.nodes, name)
	return nil
}

func (c *clusters) nodeNames() []string { return slices.Sorted(maps.Keys(c.nodes)) }

// network stands in for EC2 with one VPC of three zones and one subnet of
// another VPC.
type network struct {
	made       int
	subnets    map[string]ec2sim.Subnet
	groups     map[string]map[string]string // tags by id
	interfaces map[string]string            // subnet by id
	instances  map[string]ec2sim.Instance
	templates  map[string]ec2sim.LaunchTemplate // by name/version
	launched   []string                         // types and groups of instances
	launchErr  error
	groupErr   error
}

func newNetwork() *network {
	n := &network{
		subnets: map[string]ec2sim.Subnet{}, groups: map[string]map[string]string{},
		interfaces: map[string]string{}, instances: map[string]ec2sim.Instance{},
	}
	for _, zone := range []string{"a", "b", "c"} {
		id := "subnet-" + zone
		n.subnets[id] = ec2sim.Subnet{ID: id, VPC: "vpc-1", Zone: region + zone}
	}
	n.subnets["subnet-other"] = ec2sim.Subnet{ID: "subnet-other", VPC: "vpc-2", Zone: region + "b"}
	return n
}

func (n *network) id(prefix string) string {
	n.made++
	return fmt.Sprintf("%s%d", prefix, n.made)
}

func (n *network) LookupSubnet(_, id string) (ec2sim.Subnet, bool) {
	subnet, ok := n.subnets[id]
	return subnet, ok
}

func (n *network) LookupInstanceType(_, name string) (ec2sim.InstanceType, bool) {
	switch name {
	case "t3.medium":
		return ec2sim.InstanceType{Name: name, VCPUs: 2, MemoryMiB: 4096, Architecture: "x86_64"}, true
	case "t4g.medium":
		return ec2sim.InstanceType{Name: name, VCPUs: 2, MemoryMiB: 4096, Architecture: "arm64"}, true
	}
	return ec2sim.InstanceType{}, false
}

func (n *network) CreateOwnedSecurityGroup(_, _, name, _ string, tags map[string]string) (string, error) {
	id := n.id("sg-")
	n.groups[id] = tags
	return id, nil
}

func (n *network) DeleteOwnedSecurityGroup(_, id string) error {
	if n.groupErr != nil {
		return n.groupErr
	}
	delete(n.groups, id)
	return nil
}

func (n *network) CreateOwnedInterface(_, subnet string, groups []string, _ string) (string, error) {
	if slices.Contains(groups, "sg-missing") {
		return "", service.Refuse("InvalidGroup.NotFound", "The security group 'sg-missing' does not exist")
	}
	id := n.id("eni-")
	n.interfaces[id] = subnet
	return id, nil
}

func (n *network) DeleteOwnedInterface(_, id string) error {
	delete(n.interfaces, id)
	return nil
}

func (n *network) LookupLaunchTemplate(_, _, name, version string) (ec2sim.LaunchTemplate, error) {
	if t, ok := n.templates[name+"/"+version]; ok {
		return t, nil
	}
	return ec2sim.LaunchTemplate{}, service.Refuse("InvalidLaunchTemplateName.NotFoundException", "no template %s", name)
}

func (n *network) LaunchOwned(_, subnet, instanceType string, groups []string, _ map[string]string) (ec2sim.Instance, error) {
	n.launched = append(n.launched, fmt.Sprint(instanceType, groups))
	if n.launchErr != nil {
		return ec2sim.Instance{}, n.launchErr
	}
	id := n.id("i-")
	i := ec2sim.Instance{ID: id, PrivateDNSName: "ip-" + id[2:] + ".internal", Zone: n.subnets[subnet].Zone, Type: instanceType}
	n.instances[id] = i
	return i, nil
}

func (n *network) TerminateOwned(_, id string) error {
	delete(n.instances, id)
	return nil
}

var errBoom = errors.New("boom")
