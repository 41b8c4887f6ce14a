package sweep

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/krops-go/krops/internal/aws/awserr"
	"github.com/krops-go/krops/internal/aws/inventory"
)

// NewCloud returns AWS itself, reached with the credentials, endpoint and
// retries of one configuration in every region.
func NewCloud(cfg aws.Config) Cloud { return &account{cfg: cfg} }

// account is an AWS account. The SDK's clients are cheap to make and share the
// configuration's HTTP client, so they are made per call.
type account struct{ cfg aws.Config }

// remover knows one kind of item.
type remover struct {
	state  func(*account, context.Context, inventory.Item) (State, error)
	delete func(*account, context.Context, inventory.Item) error
}

func removers() map[inventory.Kind]remover {
	return map[inventory.Kind]remover{
		inventory.NodeGroup:           {(*account).nodeGroupState, (*account).deleteNodeGroup},
		inventory.Addon:               {(*account).addonState, (*account).deleteAddon},
		inventory.Cluster:             {(*account).clusterState, (*account).deleteCluster},
		inventory.Role:                {(*account).roleState, (*account).deleteRole},
		inventory.OIDCProvider:        {(*account).oidcProviderState, (*account).deleteOIDCProvider},
		inventory.AutoScalingGroup:    {(*account).autoScalingGroupState, (*account).deleteAutoScalingGroup},
		inventory.Instance:            {(*account).instanceState, (*account).terminateInstance},
		inventory.ClassicLoadBalancer: {(*account).classicLoadBalancerState, (*account).deleteClassicLoadBalancer},
		inventory.LoadBalancer:        {(*account).loadBalancerState, (*account).deleteLoadBalancer},
		inventory.TargetGroup:         {(*account).targetGroupState, (*account).deleteTargetGroup},
		inventory.NATGateway:          {(*account).natGatewayState, (*account).deleteNATGateway},
		inventory.ElasticIP:           {(*account).addressState, (*account).releaseAddress},
		inventory.VPCEndpoint:         {(*account).vpcEndpointState, (*account).deleteVPCEndpoint},
		inventory.NetworkInterface:    {(*account).interfaceState, (*account).deleteInterface},
		inventory.InternetGateway:     {(*account).internetGatewayState, (*account).deleteInternetGateway},
		inventory.RouteTable:          {(*account).routeTableState, (*account).deleteRouteTable},
		inventory.SecurityGroup:       {(*account).securityGroupState, (*account).deleteSecurityGroup},
		inventory.Subnet:              {(*account).subnetState, (*account).deleteSubnet},
		inventory.VPC:                 {(*account).vpcState, (*account).deleteVPC},
	}
}

// State implements Cloud.
func (a *account) State(ctx context.Context, item inventory.Item) (State, error) {
	r, ok := removers()[item.Kind]
	if !ok {
		return State{}, fmt.Errorf("%s: a sweep cannot look at this kind", item.Ref())
	}
	state, err := r.state(a, ctx, item)
	if awserr.NotFound(err) {
		return State{Phase: Absent}, nil
	}
	return state, err
}

// Delete implements Cloud.
func (a *account) Delete(ctx context.Context, item inventory.Item) error {
	r, ok := removers()[item.Kind]
	if !ok {
		return fmt.Errorf("%s: a sweep cannot delete this kind", item.Ref())
	}
	return r.delete(a, ctx, item)
}

func (a *account) in(region string) aws.Config {
	cfg := a.cfg.Copy()
	cfg.Region = region
	return cfg
}

func (a *account) ec2(i inventory.Item) *ec2.Client { return ec2.NewFromConfig(a.in(i.Region)) }
func (a *account) eks(i inventory.Item) *eks.Client { return eks.NewFromConfig(a.in(i.Region)) }
func (a *account) elb(i inventory.Item) *elb.Client { return elb.NewFromConfig(a.in(i.Region)) }
func (a *account) elbv2(i inventory.Item) *elbv2.Client {
	return elbv2.NewFromConfig(a.in(i.Region))
}
func (a *account) autoScaling(i inventory.Item) *autoscaling.Client {
	return autoscaling.NewFromConfig(a.in(i.Region))
}
func (a *account) iam() *iam.Client { return iam.NewFromConfig(a.cfg) }

// listed is the state of an item of which AWS tells only whether it exists: a
// look that names it and finds none has found it absent.
func listed(found int) State {
	if found == 0 {
		return State{Phase: Absent}
	}
	return State{Phase: Present}
}
