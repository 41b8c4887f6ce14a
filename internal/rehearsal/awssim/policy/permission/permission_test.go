package permission_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/krops-go/krops/internal/rehearsal/awssim/policy/permission"
)

func TestActions(t *testing.T) {
	for _, c := range []struct{ api, operation, want string }{
		{"ec2", "CreateVpc", "ec2:CreateVpc"},
		{"elasticloadbalancingv2", "DescribeLoadBalancers", "elasticloadbalancing:DescribeLoadBalancers"},
		{"resourcegroupstaggingapi", "GetResources", "tag:GetResources"},
		{"s3", "ListBuckets", "s3:ListAllMyBuckets"},
		{"s3", "HeadBucket", "s3:ListBucket"},
		{"s3", "ListObjectsV2", "s3:ListBucket"},
		{"s3", "ListObjectVersions", "s3:ListBucketVersions"},
		{"s3", "DeleteObjects", "s3:DeleteObject"},
		{"s3", "PutPublicAccessBlock", "s3:PutBucketPublicAccessBlock"},
		{"s3", "PutBucketEncryption", "s3:PutEncryptionConfiguration"},
		{"s3", "GetObject", "s3:GetObject"},
	} {
		if got := permission.Of(c.api, c.operation).Action; got != c.want {
			t.Errorf("%s %s: got %s, want %s", c.api, c.operation, got, c.want)
		}
	}
}

func TestResources(t *testing.T) {
	for _, c := range []struct {
		api, operation string
		want           []string
	}{
		{"ec2", "DescribeVpcs", nil},
		{"ec2", "CreateSubnet", []string{"arn:aws:ec2:{region}:{account}:subnet/*", "arn:aws:ec2:{region}:{account}:vpc/{VpcId}"}},
		{"ec2", "CreateTags", []string{"{Resources}"}},
		{"eks", "ListClusters", nil},
		{"eks", "CreateNodegroup", []string{"arn:aws:eks:{region}:{account}:cluster/{ClusterName}"}},
		{"eks", "DeleteNodegroup", []string{"arn:aws:eks:{region}:{account}:nodegroup/{ClusterName}/{NodegroupName}/*"}},
		{"iam", "ListRoles", nil},
		{"iam", "ListUsers", nil},
		{"iam", "AttachRolePolicy", []string{"{role:RoleName}"}},
		{"iam", "ListAttachedRolePolicies", []string{"{role:RoleName}"}},
		{"iam", "ListInstanceProfilesForRole", []string{"{role:RoleName}"}},
		{"iam", "AddRoleToInstanceProfile", []string{"{instance-profile:InstanceProfileName}"}},
		{"iam", "CreateAccessKey", []string{"{user:UserName}"}},
		{"iam", "GetPolicy", []string{"{PolicyArn}"}},
		{"iam", "DeleteOpenIDConnectProvider", []string{"{OpenIDConnectProviderArn}"}},
		{"s3", "ListBuckets", nil},
		{"s3", "PutBucketVersioning", []string{"arn:aws:s3:::{Bucket}"}},
		{"s3", "PutObject", []string{"arn:aws:s3:::{Bucket}/{Key}"}},
		{"sts", "AssumeRole", []string{"{RoleArn}"}},
		{"rds", "DeleteDBInstance", []string{"arn:aws:rds:{region}:{account}:db:{DBInstanceIdentifier}"}},
		{"rds", "CreateDBSubnetGroup", []string{"arn:aws:rds:{region}:{account}:subgrp:{DBSubnetGroupName}"}},
		{"cloudformation", "CreateStack", []string{"arn:aws:cloudformation:{region}:{account}:stack/{StackName}/*"}},
		{"ssm", "GetParameter", []string{"arn:aws:ssm:{region}:{account}:parameter/{Name}"}},
	} {
		if diff := cmp.Diff(c.want, permission.Of(c.api, c.operation).Resources); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", c.api, c.operation, diff)
		}
	}
}

func TestWhatElseACallNeeds(t *testing.T) {
	for _, c := range []struct{ api, operation, field, want string }{
		{"ec2", "CreateVpc", "TagSpecifications", "ec2:CreateTags"},
		{"eks", "CreateCluster", "Tags", "eks:TagResource"},
		{"iam", "CreateRole", "Tags", "iam:TagRole"},
		{"s3", "CreateBucket", "CreateBucketConfiguration.Tags", "s3:TagResource"},
		{"s3", "GetObject", "VersionId", "s3:GetObjectVersion"},
		{"s3", "GetObjectTagging", "VersionId", "s3:GetObjectVersionTagging"},
		{"rds", "CreateDBInstance", "Tags", "rds:AddTagsToResource"},
		{"rds", "CreateDBInstance", "ManageMasterUserPassword", "secretsmanager:CreateSecret"},
	} {
		found := false
		for _, also := range permission.Of(c.api, c.operation).Also {
			found = found || also.Field == c.field && also.Action == c.want
		}
		if !found {
			t.Errorf("%s %s with %s does not need %s", c.api, c.operation, c.field, c.want)
		}
	}
	want := []permission.Pass{{Field: "RoleArn", Service: "eks.amazonaws.com"}}
	if diff := cmp.Diff(want, permission.Of("eks", "CreateCluster").Passes); diff != "" {
		t.Errorf("passes (-want +got):\n%s", diff)
	}
	for _, operation := range []string{"GetCallerIdentity", "GetSessionToken", "AssumeRoleWithWebIdentity"} {
		if !permission.Of("sts", operation).Everyone {
			t.Errorf("%s needs a permission", operation)
		}
	}
}

func TestTypesOfIDs(t *testing.T) {
	for id, want := range map[string]string{"vpc-1": "vpc", "eipalloc-1": "elastic-ip", "sgr-1": "security-group-rule", "nat-1": "natgateway", "x": "*"} {
		if got := permission.EC2ResourceType(id); got != want {
			t.Errorf("%s: got %s, want %s", id, got, want)
		}
	}
}
