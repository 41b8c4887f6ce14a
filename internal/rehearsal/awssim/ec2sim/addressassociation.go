package ec2sim

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// notYours is EC2's answer to whoever touches what a NAT gateway holds.
func notYours() error {
	return service.Refuse("AuthFailure", "You do not have permission to access the specified resource.")
}

// associateAddress moves the address from where it is, unless told not to, and
// takes the place of one that the interface has (EC2 API, AssociateAddress).
func (p *place) associateAddress(in *ec2.AssociateAddressInput) (*ec2.AssociateAddressOutput, error) {
	e, err := get(elasticIPKind, p.ElasticIPs, in.AllocationId)
	if err != nil {
		return nil, err
	}
	i, err := p.associable(in)
	if err != nil {
		return nil, err
	}
	switch {
	case e.Interface == i.ID:
		return &ec2.AssociateAddressOutput{AssociationId: aws.String(e.Association)}, nil
	case i.Requester != "" || p.holder(e).Requester != "":
		return nil, notYours()
	case e.Association != "" && in.AllowReassociation != nil && !*in.AllowReassociation:
		return nil, service.Refuse("Resource.AlreadyAssociated", "resource %s is already associated with associate-id %s", e.ID, e.Association)
	case p.gatewayOf(i.VPC) == nil:
		return nil, service.Refuse("Gateway.NotAttached", "Network %s is not attached to any internet gateway", i.VPC)
	}
	if old := p.elasticIPOf(i); old != nil {
		old.free()
	}
	e.Association, e.Interface = p.newID("eipassoc-"), i.ID
	return &ec2.AssociateAddressOutput{AssociationId: aws.String(e.Association)}, nil
}

// associable returns the interface that is to have an address: the one named,
// or that of an instance.
func (p *place) associable(in *ec2.AssociateAddressInput) (*networkInterface, error) {
	if in.InstanceId == nil {
		return get(networkInterfaceKind, p.Interfaces, in.NetworkInterfaceId)
	}
	if in.NetworkInterfaceId != nil {
		return nil, service.Refuse("InvalidParameterCombination", "You may specify either instanceId or networkInterfaceId, not both")
	}
	i, err := get(instanceKind, p.Instances, in.InstanceId)
	if err != nil {
		return nil, err
	}
	if i.terminated() {
		return nil, service.Refuse("IncorrectInstanceState", "The instance '%s' is not in a valid state for this operation.", i.ID)
	}
	return get(networkInterfaceKind, p.Interfaces, &i.Interface)
}

func (p *place) disassociateAddress(in *ec2.DisassociateAddressInput) (*ec2.DisassociateAddressOutput, error) {
	if in.AssociationId == nil {
		return nil, missing("associationId")
	}
	for _, e := range p.ElasticIPs {
		if e.Association == "" || e.Association != *in.AssociationId {
			continue
		}
		if p.holder(e).Requester != "" {
			return nil, notYours()
		}
		e.free()
		return &ec2.DisassociateAddressOutput{}, nil
	}
	return nil, service.Refuse("InvalidAssociationID.NotFound", "The association ID '%s' does not exist", *in.AssociationId)
}

// releaseAddress refuses an address in use. While a NAT gateway is being
// deleted, EC2 does so with AuthFailure instead.
func (p *place) releaseAddress(in *ec2.ReleaseAddressInput) (*ec2.ReleaseAddressOutput, error) {
	e, err := get(elasticIPKind, p.ElasticIPs, in.AllocationId)
	if err != nil {
		return nil, err
	}
	if err := p.borderGroup(in.NetworkBorderGroup); err != nil {
		return nil, err
	}
	if e.Association != "" {
		if n := p.natGatewayOf(e); n != nil && n.State == types.NatGatewayStateDeleting {
			return nil, notYours()
		}
		return nil, service.Refuse("InvalidIPAddress.InUse", "Address %s is in use.", e.PublicIP)
	}
	delete(p.ElasticIPs, e.ID)
	return &ec2.ReleaseAddressOutput{}, nil
}
