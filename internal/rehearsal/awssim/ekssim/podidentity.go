package ekssim

import (
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// podIdentity gives the pods of a service account a role. The agent that hands
// out the credentials is not modelled.
type podIdentity struct {
	View  types.PodIdentityAssociation
	Token string
}

// podService is who assumes the roles of pods.
const podService = "pods.eks.amazonaws.com"

func (s *Service) podIdentityOperations() []service.Operation {
	return []service.Operation{
		service.Write("CreatePodIdentityAssociation", s.createPodIdentity, "ClusterName", "Namespace", "ServiceAccount", "RoleArn",
			"ClientRequestToken", "Tags"),
		service.Read("DescribePodIdentityAssociation", s.describePodIdentity, "ClusterName", "AssociationId"),
		service.Read("ListPodIdentityAssociations", s.listPodIdentities, "ClusterName", "MaxResults", "Namespace", "NextToken", "ServiceAccount"),
		service.Write("UpdatePodIdentityAssociation", s.updatePodIdentity, "ClusterName", "AssociationId", "RoleArn", "ClientRequestToken"),
		service.Write("DeletePodIdentityAssociation", s.deletePodIdentity, "ClusterName", "AssociationId"),
	}
}

func (s *Service) lookupPodIdentity(region string, name, id *string) (*cluster, *podIdentity, error) {
	cl, err := s.lookup(region, name)
	if err != nil {
		return nil, nil, err
	}
	if p := cl.PodIdentities[aws.ToString(id)]; p != nil {
		return cl, p, nil
	}
	return nil, nil, notFound("No association found for association-id: %s", aws.ToString(id))
}

// createPodIdentity allows one association for each service account.
func (s *Service) createPodIdentity(c *service.Call, in *eks.CreatePodIdentityAssociationInput) (*eks.CreatePodIdentityAssociationOutput, error) {
	cl, err := s.lookup(c.Region, in.ClusterName)
	if err != nil {
		return nil, err
	}
	if aws.ToString(in.Namespace) == "" || aws.ToString(in.ServiceAccount) == "" {
		return nil, invalidParameter("namespace and serviceAccount must be given")
	}
	token := aws.ToString(in.ClientRequestToken)
	for _, p := range cl.PodIdentities {
		if *p.View.Namespace != *in.Namespace || *p.View.ServiceAccount != *in.ServiceAccount {
			continue
		}
		if token != "" && p.Token == token {
			view := p.View
			return &eks.CreatePodIdentityAssociationOutput{Association: &view}, nil
		}
		return nil, inUse("Association already exists: %s", *p.View.AssociationId)
	}
	if err := s.checkRole(in.RoleArn, podService); err != nil {
		return nil, err
	}
	tags, err := tagged(nil, in.Tags)
	if err != nil {
		return nil, err
	}
	id, now := "a-"+strings.ToLower(c.World.NewID("", 17)), c.World.Now().UTC()
	p := &podIdentity{Token: token, View: types.PodIdentityAssociation{
		AssociationId: aws.String(id), AssociationArn: aws.String(cl.arn("podidentityassociation", id)), ClusterName: cl.View.Name,
		Namespace: in.Namespace, ServiceAccount: in.ServiceAccount, RoleArn: in.RoleArn, Tags: tags,
		CreatedAt: aws.Time(now), ModifiedAt: aws.Time(now),
	}}
	if cl.PodIdentities == nil {
		cl.PodIdentities = map[string]*podIdentity{}
	}
	cl.PodIdentities[id] = p
	view := p.View
	return &eks.CreatePodIdentityAssociationOutput{Association: &view}, nil
}

func (s *Service) describePodIdentity(c *service.Call, in *eks.DescribePodIdentityAssociationInput) (*eks.DescribePodIdentityAssociationOutput, error) {
	_, p, err := s.lookupPodIdentity(c.Region, in.ClusterName, in.AssociationId)
	if err != nil {
		return nil, err
	}
	view := p.View
	return &eks.DescribePodIdentityAssociationOutput{Association: &view}, nil
}

func (s *Service) listPodIdentities(c *service.Call, in *eks.ListPodIdentityAssociationsInput) (*eks.ListPodIdentityAssociationsOutput, error) {
	cl, err := s.lookup(c.Region, in.ClusterName)
	if err != nil {
		return nil, err
	}
	ids := slices.DeleteFunc(slices.Sorted(maps.Keys(cl.PodIdentities)), func(id string) bool {
		view := cl.PodIdentities[id].View
		return in.Namespace != nil && *in.Namespace != *view.Namespace ||
			in.ServiceAccount != nil && *in.ServiceAccount != *view.ServiceAccount
	})
	part, next, err := page(ids, in.NextToken, in.MaxResults)
	if err != nil {
		return nil, err
	}
	out := &eks.ListPodIdentityAssociationsOutput{Associations: []types.PodIdentityAssociationSummary{}, NextToken: next}
	for _, id := range part {
		view := cl.PodIdentities[id].View
		out.Associations = append(out.Associations, types.PodIdentityAssociationSummary{
			AssociationArn: view.AssociationArn, AssociationId: view.AssociationId, ClusterName: view.ClusterName,
			Namespace: view.Namespace, ServiceAccount: view.ServiceAccount,
		})
	}
	return out, nil
}

func (s *Service) updatePodIdentity(c *service.Call, in *eks.UpdatePodIdentityAssociationInput) (*eks.UpdatePodIdentityAssociationOutput, error) {
	_, p, err := s.lookupPodIdentity(c.Region, in.ClusterName, in.AssociationId)
	if err != nil {
		return nil, err
	}
	if in.RoleArn != nil {
		if err := s.checkRole(in.RoleArn, podService); err != nil {
			return nil, err
		}
		p.View.RoleArn = in.RoleArn
	}
	p.View.ModifiedAt = aws.Time(c.World.Now().UTC())
	view := p.View
	return &eks.UpdatePodIdentityAssociationOutput{Association: &view}, nil
}

func (s *Service) deletePodIdentity(c *service.Call, in *eks.DeletePodIdentityAssociationInput) (*eks.DeletePodIdentityAssociationOutput, error) {
	cl, p, err := s.lookupPodIdentity(c.Region, in.ClusterName, in.AssociationId)
	if err != nil {
		return nil, err
	}
	delete(cl.PodIdentities, *p.View.AssociationId)
	view := p.View
	return &eks.DeletePodIdentityAssociationOutput{Association: &view}, nil
}
