package ekssim

import (
	"net/url"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// identityProvider is an OpenID Connect provider whose tokens the cluster is
// to accept. The API server that runs is not told of it.
type identityProvider struct {
	View types.OidcIdentityProviderConfig
}

// oidcType is the only type of identity provider configs.
const oidcType = "oidc"

func (s *Service) identityProviderOperations() []service.Operation {
	return []service.Operation{
		service.Write("AssociateIdentityProviderConfig", s.associateIdentityProvider, "ClusterName", "Oidc", "ClientRequestToken", "Tags"),
		service.Read("DescribeIdentityProviderConfig", s.describeIdentityProvider, "ClusterName", "IdentityProviderConfig"),
		service.Read("ListIdentityProviderConfigs", s.listIdentityProviders, "ClusterName", "MaxResults", "NextToken"),
		service.Write("DisassociateIdentityProviderConfig", s.disassociateIdentityProvider, "ClusterName", "IdentityProviderConfig", "ClientRequestToken"),
	}
}

func (s *Service) lookupIdentityProvider(region string, name *string, asked *types.IdentityProviderConfig) (*cluster, *identityProvider, error) {
	cl, err := s.lookup(region, name)
	if err != nil {
		return nil, nil, err
	}
	if asked == nil || aws.ToString(asked.Type) != oidcType {
		return nil, nil, invalidParameter("identityProviderConfig.type must be %s", oidcType)
	}
	if p := cl.IdentityProvider; p != nil && *p.View.IdentityProviderConfigName == aws.ToString(asked.Name) {
		return cl, p, nil
	}
	return nil, nil, notFound("IdentityProviderConfig not found: %s", aws.ToString(asked.Name))
}

// associateIdentityProvider allows one per cluster (EKS User Guide, "Grant
// users access to Kubernetes with an external OIDC provider").
func (s *Service) associateIdentityProvider(c *service.Call, in *eks.AssociateIdentityProviderConfigInput) (*eks.AssociateIdentityProviderConfigOutput, error) {
	cl, err := s.lookup(c.Region, in.ClusterName)
	if err != nil {
		return nil, err
	}
	if u := cl.replayed(in.ClientRequestToken, "", ""); u != nil {
		return &eks.AssociateIdentityProviderConfigOutput{Update: u}, nil
	}
	if in.Oidc == nil {
		return nil, invalidParameter("oidc must be given")
	}
	name, err := checkName("identityProviderConfigName", in.Oidc.IdentityProviderConfigName, 63)
	if err != nil {
		return nil, err
	}
	issuer, err := url.Parse(aws.ToString(in.Oidc.IssuerUrl))
	if err != nil || issuer.Scheme != "https" || issuer.Host == "" || issuer.RawQuery != "" {
		return nil, invalidParameter("issuerUrl %q must begin with https:// and have no query", aws.ToString(in.Oidc.IssuerUrl))
	}
	if aws.ToString(in.Oidc.ClientId) == "" {
		return nil, invalidParameter("clientId must be given")
	}
	if cl.IdentityProvider != nil {
		return nil, inUse("Identity provider config already exists: %s", *cl.IdentityProvider.View.IdentityProviderConfigName)
	}
	tags, err := tagged(nil, in.Tags)
	if err != nil {
		return nil, err
	}
	if err := cl.requireActive(string(types.UpdateTypeAssociateIdentityProviderConfig)); err != nil {
		return nil, err
	}
	cl.IdentityProvider = &identityProvider{View: types.OidcIdentityProviderConfig{
		IdentityProviderConfigName: aws.String(name), IdentityProviderConfigArn: aws.String(cl.arn("identityproviderconfig", oidcType, name, newUUID(c.World))),
		ClusterName: cl.View.Name, IssuerUrl: in.Oidc.IssuerUrl, ClientId: in.Oidc.ClientId, UsernameClaim: in.Oidc.UsernameClaim,
		UsernamePrefix: in.Oidc.UsernamePrefix, GroupsClaim: in.Oidc.GroupsClaim, GroupsPrefix: in.Oidc.GroupsPrefix,
		RequiredClaims: in.Oidc.RequiredClaims, Status: types.ConfigStatusCreating, Tags: tags,
	}}
	s.change(c, cl, cl.View, false)
	u := cl.begin(c.World, update{Token: aws.ToString(in.ClientRequestToken)}, types.UpdateTypeAssociateIdentityProviderConfig,
		param(types.UpdateParamTypeIdentityProviderConfig, name))
	return &eks.AssociateIdentityProviderConfigOutput{Update: u, Tags: tags}, nil
}

// describeIdentityProvider holds the answer while the config comes or goes:
// clients poll for it without an SDK waiter.
func (s *Service) describeIdentityProvider(c *service.Call, in *eks.DescribeIdentityProviderConfigInput) (*eks.DescribeIdentityProviderConfigOutput, error) {
	_, p, err := s.lookupIdentityProvider(c.Region, in.ClusterName, in.IdentityProviderConfig)
	if err != nil {
		return nil, err
	}
	if p.View.Status != types.ConfigStatusActive {
		c.Hold(func() bool {
			_, p, err := s.lookupIdentityProvider(c.Region, in.ClusterName, in.IdentityProviderConfig)
			return err != nil || p.View.Status == types.ConfigStatusActive
		})
		if _, p, err = s.lookupIdentityProvider(c.Region, in.ClusterName, in.IdentityProviderConfig); err != nil {
			return nil, err
		}
	}
	view := p.View
	return &eks.DescribeIdentityProviderConfigOutput{IdentityProviderConfig: &types.IdentityProviderConfigResponse{Oidc: &view}}, nil
}

func (s *Service) listIdentityProviders(c *service.Call, in *eks.ListIdentityProviderConfigsInput) (*eks.ListIdentityProviderConfigsOutput, error) {
	cl, err := s.lookup(c.Region, in.ClusterName)
	if err != nil {
		return nil, err
	}
	var names []string
	if cl.IdentityProvider != nil {
		names = append(names, *cl.IdentityProvider.View.IdentityProviderConfigName)
	}
	part, next, err := page(names, in.NextToken, in.MaxResults)
	if err != nil {
		return nil, err
	}
	out := &eks.ListIdentityProviderConfigsOutput{IdentityProviderConfigs: []types.IdentityProviderConfig{}, NextToken: next}
	for _, name := range part {
		out.IdentityProviderConfigs = append(out.IdentityProviderConfigs, types.IdentityProviderConfig{Name: aws.String(name), Type: aws.String(oidcType)})
	}
	return out, nil
}

func (s *Service) disassociateIdentityProvider(c *service.Call, in *eks.DisassociateIdentityProviderConfigInput) (*eks.DisassociateIdentityProviderConfigOutput, error) {
	cl, p, err := s.lookupIdentityProvider(c.Region, in.ClusterName, in.IdentityProviderConfig)
	if err != nil {
		return nil, err
	}
	if u := cl.replayed(in.ClientRequestToken, "", ""); u != nil {
		return &eks.DisassociateIdentityProviderConfigOutput{Update: u}, nil
	}
	if err := cl.requireActive(string(types.UpdateTypeDisassociateIdentityProviderConfig)); err != nil {
		return nil, err
	}
	p.View.Status = types.ConfigStatusDeleting
	s.change(c, cl, cl.View, false)
	u := cl.begin(c.World, update{Token: aws.ToString(in.ClientRequestToken)}, types.UpdateTypeDisassociateIdentityProviderConfig,
		param(types.UpdateParamTypeIdentityProviderConfig, *p.View.IdentityProviderConfigName))
	return &eks.DisassociateIdentityProviderConfigOutput{Update: u}, nil
}

// settleIdentityProvider ends the config's coming or going with the update.
func (cl *cluster) settleIdentityProvider() {
	p := cl.IdentityProvider
	switch {
	case p == nil:
	case p.View.Status == types.ConfigStatusCreating:
		p.View.Status = types.ConfigStatusActive
	case p.View.Status == types.ConfigStatusDeleting:
		cl.IdentityProvider = nil
	}
}
