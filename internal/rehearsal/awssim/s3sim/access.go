package s3sim

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

func (s *Service) accessOperations() []service.Operation {
	return []service.Operation{
		read(s, "GetBucketAcl", s.getBucketACL),
		write(s, "PutBucketAcl", s.putBucketACL, "ACL", "AccessControlPolicy"),
		read(s, "GetBucketPolicy", s.getBucketPolicy),
		read(s, "GetBucketPolicyStatus", s.getBucketPolicyStatus),
		write(s, "PutBucketPolicy", s.putBucketPolicy, "Policy", "ConfirmRemoveSelfBucketAccess"),
		write(s, "DeleteBucketPolicy", s.deleteBucketPolicy),
		read(s, "GetPublicAccessBlock", s.getPublicAccessBlock),
		write(s, "PutPublicAccessBlock", s.putPublicAccessBlock, "PublicAccessBlockConfiguration"),
		write(s, "DeletePublicAccessBlock", s.deletePublicAccessBlock),
		read(s, "GetBucketOwnershipControls", s.getBucketOwnershipControls),
		write(s, "PutBucketOwnershipControls", s.putBucketOwnershipControls, "OwnershipControls"),
		write(s, "DeleteBucketOwnershipControls", s.deleteBucketOwnershipControls),
	}
}

const (
	allUsers           = "http://acs.amazonaws.com/groups/global/AllUsers"
	authenticatedUsers = "http://acs.amazonaws.com/groups/global/AuthenticatedUsers"
	logDelivery        = "http://acs.amazonaws.com/groups/s3/LogDelivery"
)

func (s *Service) ownerGrant() types.Grant {
	return types.Grant{
		Permission: types.PermissionFullControl,
		Grantee:    &types.Grantee{Type: types.TypeCanonicalUser, ID: aws.String(s.canonicalID())},
	}
}

func group(uri string, permissions ...types.Permission) []types.Grant {
	var grants []types.Grant
	for _, p := range permissions {
		grants = append(grants, types.Grant{Permission: p, Grantee: &types.Grantee{Type: types.TypeGroup, URI: aws.String(uri)}})
	}
	return grants
}

// grants are what a canned list stands for beside the owner's full control.
func grants(canned string) []types.Grant {
	switch canned {
	case "public-read":
		return group(allUsers, types.PermissionRead)
	case "public-read-write":
		return group(allUsers, types.PermissionRead, types.PermissionWrite)
	case "authenticated-read":
		return group(authenticatedUsers, types.PermissionRead)
	case "log-delivery-write":
		return group(logDelivery, types.PermissionWrite, types.PermissionReadAcp)
	}
	return nil
}

func (s *Service) getBucketACL(_ *service.Call, b *bucket, _ *s3.GetBucketAclInput) (*s3.GetBucketAclOutput, error) {
	out := &s3.GetBucketAclOutput{Owner: &types.Owner{ID: aws.String(s.canonicalID())}, Grants: b.Grants}
	if b.Grants == nil {
		out.Grants = append([]types.Grant{s.ownerGrant()}, grants(b.CannedACL)...)
	}
	return out, nil
}

func (s *Service) putBucketACL(_ *service.Call, b *bucket, in *s3.PutBucketAclInput) (*s3.PutBucketAclOutput, error) {
	if b.Ownership == types.ObjectOwnershipBucketOwnerEnforced {
		return nil, service.Refuse("AccessControlListNotSupported", "The bucket does not allow ACLs")
	}
	var wanted []types.Grant
	switch {
	case (in.ACL != "") == (in.AccessControlPolicy != nil):
		return nil, invalidRequest("Exactly one of a canned ACL and an access control policy must be given")
	case in.ACL != "":
		wanted = grants(string(in.ACL))
	default:
		wanted = in.AccessControlPolicy.Grants
	}
	open := slices.ContainsFunc(wanted, func(g types.Grant) bool {
		return g.Grantee != nil && slices.Contains([]string{allUsers, authenticatedUsers}, aws.ToString(g.Grantee.URI))
	})
	if open && b.PublicAccess != nil && aws.ToBool(b.PublicAccess.BlockPublicAcls) {
		return nil, accessDenied("Access Denied")
	}
	b.CannedACL, b.Grants = string(in.ACL), nil
	if in.ACL == "" {
		b.Grants = wanted
	}
	return &s3.PutBucketAclOutput{}, nil
}

func (s *Service) getBucketPolicy(_ *service.Call, b *bucket, _ *s3.GetBucketPolicyInput) (*s3.GetBucketPolicyOutput, error) {
	if b.Policy == "" {
		return nil, unset("NoSuchBucketPolicy", "The bucket policy does not exist")
	}
	return &s3.GetBucketPolicyOutput{Policy: aws.String(b.Policy)}, nil
}

func (s *Service) getBucketPolicyStatus(_ *service.Call, b *bucket, _ *s3.GetBucketPolicyStatusInput) (*s3.GetBucketPolicyStatusOutput, error) {
	if b.Policy == "" {
		return nil, unset("NoSuchBucketPolicy", "The bucket policy does not exist")
	}
	document, err := parsePolicy(b.Policy)
	if err != nil {
		return nil, err
	}
	return &s3.GetBucketPolicyStatusOutput{PolicyStatus: &types.PolicyStatus{IsPublic: aws.Bool(document.public())}}, nil
}

// bucketPolicy is as much of a policy as S3 checks when it is put.
type bucketPolicy struct {
	Version   string
	Statement []struct {
		Effect       string
		Principal    any
		NotPrincipal any
		Action       any
		NotAction    any
		Resource     any
		NotResource  any
		Condition    map[string]any
	}
}

func malformedPolicy(format string, args ...any) error {
	return service.Refuse("MalformedPolicy", format, args...)
}

func parsePolicy(text string) (*bucketPolicy, error) {
	var p bucketPolicy
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		return nil, malformedPolicy("This policy contains invalid Json")
	}
	if len(p.Statement) == 0 {
		return nil, malformedPolicy("Missing required field Statement")
	}
	for _, st := range p.Statement {
		switch {
		case st.Effect != "Allow" && st.Effect != "Deny":
			return nil, malformedPolicy("Invalid effect: %s", st.Effect)
		case st.Principal == nil && st.NotPrincipal == nil:
			return nil, malformedPolicy("Missing required field Principal")
		case st.Action == nil && st.NotAction == nil:
			return nil, malformedPolicy("Missing required field Action")
		case st.Resource == nil && st.NotResource == nil:
			return nil, malformedPolicy("Missing required field Resource")
		}
	}
	return &p, nil
}

// public reports whether a statement without a condition allows everyone
// something ("The meaning of public", S3 User Guide).
func (p *bucketPolicy) public() bool {
	for _, st := range p.Statement {
		if st.Effect != "Allow" || len(st.Condition) > 0 {
			continue
		}
		principal := st.Principal
		if object, ok := principal.(map[string]any); ok {
			principal = object["AWS"]
		}
		if principal == "*" || slices.Contains(texts(principal), "*") {
			return true
		}
	}
	return false
}

// texts are the strings of what policy grammar allows as one or a list.
func texts(value any) []string {
	switch v := value.(type) {
	case string:
		return []string{v}
	case []any:
		var all []string
		for _, one := range v {
			if text, ok := one.(string); ok {
				all = append(all, text)
			}
		}
		return all
	}
	return nil
}

func (s *Service) putBucketPolicy(_ *service.Call, b *bucket, in *s3.PutBucketPolicyInput) (*s3.PutBucketPolicyOutput, error) {
	document, err := parsePolicy(aws.ToString(in.Policy))
	if err != nil {
		return nil, err
	}
	for _, st := range document.Statement {
		for _, resource := range texts(st.Resource) {
			if resource != arn(b.Name) && !strings.HasPrefix(resource, arn(b.Name)+"/") {
				return nil, malformedPolicy("Policy has invalid resource")
			}
		}
	}
	if document.public() && b.PublicAccess != nil && aws.ToBool(b.PublicAccess.BlockPublicPolicy) {
		return nil, accessDenied("Access Denied: public policies are prevented by the BlockPublicPolicy setting in S3 Block Public Access.")
	}
	b.Policy = *in.Policy
	return &s3.PutBucketPolicyOutput{}, nil
}

func (s *Service) deleteBucketPolicy(_ *service.Call, b *bucket, _ *s3.DeleteBucketPolicyInput) (*s3.DeleteBucketPolicyOutput, error) {
	b.Policy = ""
	return &s3.DeleteBucketPolicyOutput{}, nil
}

func (s *Service) getPublicAccessBlock(_ *service.Call, b *bucket, _ *s3.GetPublicAccessBlockInput) (*s3.GetPublicAccessBlockOutput, error) {
	if b.PublicAccess == nil {
		return nil, unset("NoSuchPublicAccessBlockConfiguration", "The public access block configuration was not found")
	}
	return &s3.GetPublicAccessBlockOutput{PublicAccessBlockConfiguration: b.PublicAccess}, nil
}

func (s *Service) putPublicAccessBlock(_ *service.Call, b *bucket, in *s3.PutPublicAccessBlockInput) (*s3.PutPublicAccessBlockOutput, error) {
	wanted := in.PublicAccessBlockConfiguration
	if wanted == nil {
		return nil, malformedXML()
	}
	for _, set := range []**bool{&wanted.BlockPublicAcls, &wanted.BlockPublicPolicy, &wanted.IgnorePublicAcls, &wanted.RestrictPublicBuckets} {
		*set = aws.Bool(aws.ToBool(*set))
	}
	b.PublicAccess = wanted
	return &s3.PutPublicAccessBlockOutput{}, nil
}

func (s *Service) deletePublicAccessBlock(_ *service.Call, b *bucket, _ *s3.DeletePublicAccessBlockInput) (*s3.DeletePublicAccessBlockOutput, error) {
	b.PublicAccess = nil
	return &s3.DeletePublicAccessBlockOutput{}, nil
}

func (s *Service) getBucketOwnershipControls(_ *service.Call, b *bucket, _ *s3.GetBucketOwnershipControlsInput) (*s3.GetBucketOwnershipControlsOutput, error) {
	if b.Ownership == "" {
		return nil, unset("OwnershipControlsNotFoundError", "The bucket ownership controls were not found")
	}
	return &s3.GetBucketOwnershipControlsOutput{OwnershipControls: &types.OwnershipControls{
		Rules: []types.OwnershipControlsRule{{ObjectOwnership: b.Ownership}},
	}}, nil
}

func (s *Service) putBucketOwnershipControls(_ *service.Call, b *bucket, in *s3.PutBucketOwnershipControlsInput) (*s3.PutBucketOwnershipControlsOutput, error) {
	if in.OwnershipControls == nil || len(in.OwnershipControls.Rules) != 1 {
		return nil, malformedXML()
	}
	wanted := in.OwnershipControls.Rules[0].ObjectOwnership
	if !slices.Contains(wanted.Values(), wanted) {
		return nil, malformedXML()
	}
	if wanted == types.ObjectOwnershipBucketOwnerEnforced && (len(b.Grants) > 1 || len(grants(b.CannedACL)) > 0) {
		return nil, service.Refuse("InvalidBucketAclWithObjectOwnership", "Bucket cannot have ACLs set with ObjectOwnership's BucketOwnerEnforced setting")
	}
	b.Ownership = wanted
	return &s3.PutBucketOwnershipControlsOutput{}, nil
}

func (s *Service) deleteBucketOwnershipControls(_ *service.Call, b *bucket, _ *s3.DeleteBucketOwnershipControlsInput) (*s3.DeleteBucketOwnershipControlsOutput, error) {
	b.Ownership = ""
	return &s3.DeleteBucketOwnershipControlsOutput{}, nil
}
