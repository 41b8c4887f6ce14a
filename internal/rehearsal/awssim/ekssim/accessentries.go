package ekssim

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// Types of access entries ("EKS API, CreateAccessEntry"). Those for Fargate,
// hybrid nodes and Auto Mode are not modelled.
const (
	standardEntry = "STANDARD"
	linuxEntry    = "EC2_LINUX"
	windowsEntry  = "EC2_WINDOWS"
)

func (s *Service) accessOperations() []service.Operation {
	return []service.Operation{
		service.Write("CreateAccessEntry", s.createAccessEntry, "ClusterName", "PrincipalArn", "ClientRequestToken",
			"KubernetesGroups", "Tags", "Type", "Username"),
		service.Read("DescribeAccessEntry", s.describeAccessEntry, "ClusterName", "PrincipalArn"),
		service.Read("ListAccessEntries", s.listAccessEntries, "ClusterName", "AssociatedPolicyArn", "MaxResults", "NextToken"),
		service.Write("UpdateAccessEntry", s.updateAccessEntry, "ClusterName", "PrincipalArn", "ClientRequestToken",
			"KubernetesGroups", "Username"),
		service.Write("DeleteAccessEntry", s.deleteAccessEntry, "ClusterName", "PrincipalArn"),
		service.Write("AssociateAccessPolicy", s.associateAccessPolicy, "ClusterName", "PrincipalArn", "PolicyArn", "AccessScope"),
		service.Write("DisassociateAccessPolicy", s.disassociateAccessPolicy, "ClusterName", "PrincipalArn", "PolicyArn"),
		service.Read("ListAssociatedAccessPolicies", s.listAssociatedAccessPolicies, "ClusterName", "PrincipalArn", "MaxResults", "NextToken"),
		service.Read("ListAccessPolicies", s.listAccessPolicies, "MaxResults", "NextToken"),
	}
}

func accessConfig(in *types.CreateAccessConfigRequest) (*types.AccessConfigResponse, error) {
	out := &types.AccessConfigResponse{
		AuthenticationMode: types.AuthenticationModeConfigMap, BootstrapClusterCreatorAdminPermissions: aws.Bool(true),
	}
	if in == nil {
		return out, nil
	}
	if in.AuthenticationMode != "" {
		if !slices.Contains(in.AuthenticationMode.Values(), in.AuthenticationMode) {
			return nil, invalidParameter("unknown authenticationMode %s", in.AuthenticationMode)
		}
		out.AuthenticationMode = in.AuthenticationMode
	}
	if in.BootstrapClusterCreatorAdminPermissions != nil {
		out.BootstrapClusterCreatorAdminPermissions = in.BootstrapClusterCreatorAdminPermissions
	}
	if out.AuthenticationMode == types.AuthenticationModeConfigMap && !*out.BootstrapClusterCreatorAdminPermissions {
		return nil, invalidParameter("bootstrapClusterCreatorAdminPermissions must be true if cluster authentication mode is set to CONFIG_MAP")
	}
	return out, nil
}

// apiCluster is the cluster if it has access entries at all.
func (s *Service) apiCluster(region string, name *string) (*cluster, error) {
	cl, err := s.lookup(region, name)
	if err != nil {
		return nil, err
	}
	if !cl.apiMode() {
		return nil, invalidRequest("The cluster's authentication mode must be set to one of [API, API_AND_CONFIG_MAP] to perform this operation.")
	}
	return cl, nil
}

func (s *Service) lookupEntry(region string, name, principal *string) (*cluster, *accessEntry, error) {
	cl, err := s.apiCluster(region, name)
	if err != nil {
		return nil, nil, err
	}
	if e := cl.AccessEntries[aws.ToString(principal)]; e != nil {
		return cl, e, nil
	}
	return nil, nil, notFound("The specified principalArn could not be found: %s", aws.ToString(principal))
}

// admitOwnPrincipals makes the entries that EKS makes by itself: for the
// creator, unless it was asked not to, and for the roles of node groups.
func (cl *cluster) admitOwnPrincipals(now time.Time) {
	if aws.ToBool(cl.View.AccessConfig.BootstrapClusterCreatorAdminPermissions) {
		if e := cl.admit(now, cl.Creator, standardEntry); e != nil {
			e.Policies[clusterAdminPolicy] = types.AssociatedAccessPolicy{
				PolicyArn: aws.String(clusterAdminPolicy), AccessScope: &types.AccessScope{Type: types.AccessScopeTypeCluster, Namespaces: []string{}},
				AssociatedAt: aws.Time(now.UTC()), ModifiedAt: aws.Time(now.UTC()),
			}
		}
	}
	for _, ng := range cl.NodeGroups {
		cl.admit(now, *ng.View.NodeRole, linuxEntry)
	}
}

// admit makes an entry with what EKS fills in, or returns nil when the
// principal has one already.
func (cl *cluster) admit(now time.Time, principal, kind string) *accessEntry {
	if cl.AccessEntries[principal] != nil {
		return nil
	}
	m := principalARN.FindStringSubmatch(principal)
	if m == nil { // the account's root, which has no entry
		return nil
	}
	account, principalKind, name := m[2], m[3], m[4]
	e := &accessEntry{
		View: types.AccessEntry{
			ClusterName: cl.View.Name, PrincipalArn: aws.String(principal), Type: aws.String(kind),
			AccessEntryArn: aws.String(cl.arn("access-entry", principalKind, account, name, uuidOf(*cl.View.Arn+principal))),
			CreatedAt:      aws.Time(now.UTC()), ModifiedAt: aws.Time(now.UTC()),
			KubernetesGroups: []string{}, Tags: map[string]string{},
		},
		Policies: map[string]types.AssociatedAccessPolicy{},
	}
	switch {
	case kind == linuxEntry || kind == windowsEntry:
		e.View.Username = aws.String("system:node:{{EC2PrivateDNSName}}")
		e.View.KubernetesGroups = []string{"system:nodes"}
		if kind == windowsEntry {
			e.View.KubernetesGroups = append(e.View.KubernetesGroups, "eks:kube-proxy-windows")
		}
	case principalKind == "role":
		e.View.Username = aws.String("arn:aws:sts::" + account + ":assumed-role/" + name + "/{{SessionName}}")
	default:
		e.View.Username = aws.String(principal)
	}
	cl.AccessEntries[principal] = e
	return e
}

// checkIdentity refuses Kubernetes names that only the cluster itself may give.
func checkIdentity(username *string, groups []string) error {
	names := slices.Clone(groups)
	if username != nil {
		names = append(names, *username)
	}
	for _, name := range names {
		for _, reserved := range []string{"system:", "eks:", "aws:", "amazon:", "iam:"} {
			if strings.HasPrefix(name, reserved) {
				return invalidParameter("The name %s must not begin with %s", name, reserved)
			}
		}
	}
	return nil
}

func (s *Service) createAccessEntry(c *service.Call, in *eks.CreateAccessEntryInput) (*eks.CreateAccessEntryOutput, error) {
	cl, err := s.apiCluster(c.Region, in.ClusterName)
	if err != nil {
		return nil, err
	}
	principal := aws.ToString(in.PrincipalArn)
	if !principalARN.MatchString(principal) {
		return nil, invalidParameter("The specified principalArn is invalid: %q is not the ARN of an IAM role or user", principal)
	}
	kind := withDefault(in.Type, standardEntry)
	switch kind {
	case standardEntry:
	case linuxEntry, windowsEntry:
		if len(in.KubernetesGroups) > 0 || in.Username != nil {
			return nil, invalidParameter("An access entry of type %s cannot have a username or groups of its own", kind)
		}
	default:
		return nil, notModelled("access entry type " + kind)
	}
	if err := checkIdentity(in.Username, in.KubernetesGroups); err != nil {
		return nil, err
	}
	tags, err := tagged(nil, in.Tags)
	if err != nil {
		return nil, err
	}
	token := aws.ToString(in.ClientRequestToken)
	if e := cl.AccessEntries[principal]; e != nil {
		if token == "" || token != e.Token {
			return nil, inUse("The specified access entry resource is already in use on this cluster: %s", principal)
		}
		view := e.View
		return &eks.CreateAccessEntryOutput{AccessEntry: &view}, nil
	}
	e := cl.admit(c.World.Now(), principal, kind)
	e.Token, e.View.Tags = token, tags
	e.set(in.Username, in.KubernetesGroups)
	view := e.View
	return &eks.CreateAccessEntryOutput{AccessEntry: &view}, nil
}

func (e *accessEntry) set(username *string, groups []string) {
	if username != nil {
		e.View.Username = username
	}
	if groups != nil {
		e.View.KubernetesGroups = append([]string{}, groups...)
	}
}

func (s *Service) describeAccessEntry(c *service.Call, in *eks.DescribeAccessEntryInput) (*eks.DescribeAccessEntryOutput, error) {
	_, e, err := s.lookupEntry(c.Region, in.ClusterName, in.PrincipalArn)
	if err != nil {
		return nil, err
	}
	view := e.View
	return &eks.DescribeAccessEntryOutput{AccessEntry: &view}, nil
}

func (s *Service) listAccessEntries(c *service.Call, in *eks.ListAccessEntriesInput) (*eks.ListAccessEntriesOutput, error) {
	cl, err := s.apiCluster(c.Region, in.ClusterName)
	if err != nil {
		return nil, err
	}
	principals := slices.Sorted(maps.Keys(cl.AccessEntries))
	if in.AssociatedPolicyArn != nil {
		principals = slices.DeleteFunc(principals, func(p string) bool {
			_, has := cl.AccessEntries[p].Policies[*in.AssociatedPolicyArn]
			return !has
		})
	}
	part, next, err := page(principals, in.NextToken, in.MaxResults)
	if err != nil {
		return nil, err
	}
	return &eks.ListAccessEntriesOutput{AccessEntries: part, NextToken: next}, nil
}

func (s *Service) updateAccessEntry(c *service.Call, in *eks.UpdateAccessEntryInput) (*eks.UpdateAccessEntryOutput, error) {
	_, e, err := s.lookupEntry(c.Region, in.ClusterName, in.PrincipalArn)
	if err != nil {
		return nil, err
	}
	if *e.View.Type != standardEntry {
		return nil, invalidRequest("An access entry of type %s cannot be updated", *e.View.Type)
	}
	if err := checkIdentity(in.Username, in.KubernetesGroups); err != nil {
		return nil, err
	}
	e.set(in.Username, in.KubernetesGroups)
	e.View.ModifiedAt = aws.Time(c.World.Now().UTC())
	view := e.View
	return &eks.UpdateAccessEntryOutput{AccessEntry: &view}, nil
}

func (s *Service) deleteAccessEntry(c *service.Call, in *eks.DeleteAccessEntryInput) (*eks.DeleteAccessEntryOutput, error) {
	cl, e, err := s.lookupEntry(c.Region, in.ClusterName, in.PrincipalArn)
	if err != nil {
		return nil, err
	}
	delete(cl.AccessEntries, *e.View.PrincipalArn)
	return &eks.DeleteAccessEntryOutput{}, nil
}
