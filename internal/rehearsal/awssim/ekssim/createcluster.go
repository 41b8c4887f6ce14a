package ekssim

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/ec2sim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

func (s *Service) createCluster(c *service.Call, in *eks.CreateClusterInput) (*eks.CreateClusterOutput, error) {
	name, err := checkName("name", in.Name, 100)
	if err != nil {
		return nil, err
	}
	id := ClusterID{Region: c.Region, Name: name}
	if cl := s.byID(id); cl != nil {
		if token := aws.ToString(in.ClientRequestToken); token != "" && token == aws.ToString(cl.View.ClientRequestToken) {
			view := cl.View
			return &eks.CreateClusterOutput{Cluster: &view}, nil
		}
		return nil, inUse("Cluster already exists with name: %s", name)
	}
	cl := &cluster{
		ID: id, Account: c.Account, Creator: subject(c.Caller),
		SelfManagedAddons: in.BootstrapSelfManagedAddons == nil || *in.BootstrapSelfManagedAddons,
		NodeGroups:        map[string]*nodeGroup{}, Addons: map[string]*addon{}, AccessEntries: map[string]*accessEntry{},
	}
	version, err := lookupVersion(withDefault(in.Version, defaultVersion))
	if err != nil {
		return nil, err
	}
	if err := s.checkRole(in.RoleArn, "eks.amazonaws.com"); err != nil {
		return nil, err
	}
	cl.View = types.Cluster{
		Name: aws.String(name), Arn: aws.String(cl.arn("cluster")), CreatedAt: aws.Time(c.World.Now().UTC()),
		Version: aws.String(version.Minor), PlatformVersion: aws.String(version.Platform), RoleArn: in.RoleArn,
		Status: types.ClusterStatusCreating, ClientRequestToken: in.ClientRequestToken,
		CertificateAuthority: &types.Certificate{}, Health: &types.ClusterHealth{Issues: []types.ClusterIssue{}},
		UpgradePolicy: &types.UpgradePolicyResponse{SupportType: types.SupportTypeExtended},
	}
	if cl.View.Tags, err = tagged(nil, in.Tags); err != nil {
		return nil, err
	}
	if cl.View.Logging, err = mergedLogging(nil, in.Logging); err != nil {
		return nil, err
	}
	if cl.View.AccessConfig, err = accessConfig(in.AccessConfig); err != nil {
		return nil, err
	}
	if cl.View.EncryptionConfig, err = encryption(in.EncryptionConfig); err != nil {
		return nil, err
	}
	if cl.View.KubernetesNetworkConfig, err = kubernetesNetwork(in.KubernetesNetworkConfig); err != nil {
		return nil, err
	}
	if p := in.UpgradePolicy; p != nil && p.SupportType != "" {
		cl.View.UpgradePolicy = &types.UpgradePolicyResponse{SupportType: p.SupportType}
	}
	subnets, err := s.clusterSubnets(c.Region, in.ResourcesVpcConfig)
	if err != nil {
		return nil, err
	}
	if cl.View.ResourcesVpcConfig, err = vpcConfig(in.ResourcesVpcConfig, subnets[0].VPC); err != nil {
		return nil, err
	}
	if err := s.connect(c.World, cl, subnets); err != nil {
		return nil, invalidParameter("%s", err)
	}
	if cl.apiMode() {
		cl.admitOwnPrincipals(c.World.Now())
	}
	if s.state.Regions[c.Region] == nil {
		s.state.Regions[c.Region] = map[string]*cluster{}
	}
	s.state.Regions[c.Region][name] = cl
	s.startNew(c.World, cl)
	view := cl.View
	return &eks.CreateClusterOutput{Cluster: &view}, nil
}

func withDefault(value *string, otherwise string) string {
	if value == nil {
		return otherwise
	}
	return *value
}

// checkRole refuses a role that does not exist or does not trust the service.
func (s *Service) checkRole(arn *string, servicePrincipal string) error {
	exists, trusted := s.roles.TrustsService(aws.ToString(arn), servicePrincipal)
	switch {
	case !exists:
		return invalidParameter("Role with arn: %s, could not be assumed because it does not exist or the trusted entity is not correct", aws.ToString(arn))
	case !trusted:
		return invalidParameter("Following required service principals [%s] were not found in the trust relationships of role arn %s", servicePrincipal, aws.ToString(arn))
	}
	return nil
}

func (s *Service) lookupSubnets(region string, ids []string) ([]ec2sim.Subnet, error) {
	var out []ec2sim.Subnet
	for _, id := range ids {
		subnet, ok := s.network.LookupSubnet(region, id)
		if !ok {
			return nil, invalidParameter("The subnet ID '%s' does not exist", id)
		}
		out = append(out, subnet)
	}
	return out, nil
}

func (s *Service) clusterSubnets(region string, in *types.VpcConfigRequest) ([]ec2sim.Subnet, error) {
	if in == nil {
		return nil, invalidParameter("resourcesVpcConfig must be given")
	}
	subnets, err := s.lookupSubnets(region, in.SubnetIds)
	if err != nil {
		return nil, err
	}
	if zones := zonesOf(subnets); len(zones) < 2 {
		return nil, invalidParameter("Subnets specified must be in at least two different AZs, not %s", zones)
	}
	for _, subnet := range subnets {
		if subnet.VPC != subnets[0].VPC {
			return nil, invalidParameter("Subnets %s and %s are in different VPCs", subnets[0].ID, subnet.ID)
		}
	}
	return subnets, nil
}

func zonesOf(subnets []ec2sim.Subnet) []string {
	zones := map[string]bool{}
	for _, subnet := range subnets {
		zones[subnet.Zone] = true
	}
	return slices.Sorted(maps.Keys(zones))
}

func vpcConfig(in *types.VpcConfigRequest, vpc string) (*types.VpcConfigResponse, error) {
	out := &types.VpcConfigResponse{
		VpcId: aws.String(vpc), SubnetIds: slices.Clone(in.SubnetIds), SecurityGroupIds: append([]string{}, in.SecurityGroupIds...),
		EndpointPublicAccess: true,
	}
	return withEndpoints(out, in)
}

// withEndpoints returns the configuration with the endpoint access asked for.
func withEndpoints(current *types.VpcConfigResponse, in *types.VpcConfigRequest) (*types.VpcConfigResponse, error) {
	out := *current
	if in.EndpointPublicAccess != nil {
		out.EndpointPublicAccess = *in.EndpointPublicAccess
	}
	if in.EndpointPrivateAccess != nil {
		out.EndpointPrivateAccess = *in.EndpointPrivateAccess
	}
	if len(in.PublicAccessCidrs) > 0 {
		out.PublicAccessCidrs = slices.Clone(in.PublicAccessCidrs)
	}
	for _, cidr := range out.PublicAccessCidrs {
		if _, err := netip.ParsePrefix(cidr); err != nil {
			return nil, invalidParameter("The following CIDRs are invalid in publicAccessCidrs: [%s]", cidr)
		}
	}
	switch {
	case !out.EndpointPublicAccess && !out.EndpointPrivateAccess:
		return nil, invalidParameter("Private and public endpoint access cannot both be false")
	case !out.EndpointPublicAccess:
		out.PublicAccessCidrs = []string{}
	case len(out.PublicAccessCidrs) == 0:
		out.PublicAccessCidrs = []string{"0.0.0.0/0"}
	}
	return &out, nil
}

func kubernetesNetwork(in *types.KubernetesNetworkConfigRequest) (*types.KubernetesNetworkConfigResponse, error) {
	out := &types.KubernetesNetworkConfigResponse{IpFamily: types.IpFamilyIpv4, ServiceIpv4Cidr: aws.String("172.20.0.0/16")}
	if in == nil {
		return out, nil
	}
	if in.ElasticLoadBalancing != nil {
		return nil, notModelled("kubernetesNetworkConfig.elasticLoadBalancing")
	}
	if in.IpFamily != "" && in.IpFamily != types.IpFamilyIpv4 {
		return nil, notModelled("kubernetesNetworkConfig.ipFamily " + string(in.IpFamily))
	}
	if in.ServiceIpv4Cidr != nil {
		prefix, err := netip.ParsePrefix(*in.ServiceIpv4Cidr)
		if err != nil || !prefix.Addr().IsPrivate() || prefix.Bits() < 12 || prefix.Bits() > 24 {
			return nil, invalidParameter("serviceIpv4Cidr %s must be a private block between /24 and /12", *in.ServiceIpv4Cidr)
		}
		out.ServiceIpv4Cidr = in.ServiceIpv4Cidr
	}
	return out, nil
}

func encryption(in []types.EncryptionConfig) ([]types.EncryptionConfig, error) {
	for _, e := range in {
		if e.Provider == nil || aws.ToString(e.Provider.KeyArn) == "" || !slices.Equal(e.Resources, []string{"secrets"}) {
			return nil, invalidParameter("encryptionConfig needs a provider with a keyArn and the resources [secrets]")
		}
	}
	if len(in) > 1 {
		return nil, invalidParameter("encryptionConfig has more than one entry")
	}
	return slices.Clone(in), nil
}

// connect makes the cluster's security group and its interfaces in two zones,
// or nothing at all.
func (s *Service) connect(w service.World, cl *cluster, subnets []ec2sim.Subnet) (err error) {
	number, err := strconv.ParseUint(w.NewID("", 8), 16, 32)
	if err != nil {
		return fmt.Errorf("numbering the security group of cluster %s: %w", cl.ID.Name, err)
	}
	groupName := fmt.Sprintf("eks-cluster-sg-%s-%d", cl.ID.Name, number)
	group, err := s.network.CreateOwnedSecurityGroup(cl.ID.Region, subnets[0].VPC, groupName,
		"Control plane and nodes of EKS cluster "+cl.ID.Name,
		map[string]string{
			"Name": groupName, "aws:eks:cluster-name": cl.ID.Name, "kubernetes.io/cluster/" + cl.ID.Name: "owned",
		})
	if err != nil {
		return err
	}
	cl.View.ResourcesVpcConfig.ClusterSecurityGroupId = aws.String(group)
	defer func() {
		if err != nil {
			for _, made := range cl.Interfaces {
				_ = s.network.DeleteOwnedInterface(cl.ID.Region, made)
			}
			_ = s.network.DeleteOwnedSecurityGroup(cl.ID.Region, group)
		}
	}()
	groups := append([]string{group}, cl.View.ResourcesVpcConfig.SecurityGroupIds...)
	second := slices.IndexFunc(subnets, func(subnet ec2sim.Subnet) bool { return subnet.Zone != subnets[0].Zone })
	for _, subnet := range []ec2sim.Subnet{subnets[0], subnets[second]} {
		made, err := s.network.CreateOwnedInterface(cl.ID.Region, subnet.ID, groups, "Amazon EKS "+cl.ID.Name)
		if err != nil {
			return err
		}
		cl.Interfaces = append(cl.Interfaces, made)
	}
	return nil
}
