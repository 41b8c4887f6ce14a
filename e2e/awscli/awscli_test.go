// Package awscli tests the simulated AWS through AWS's official command line,
// which has to be installed.
package awscli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/krops-go/krops/internal/rehearsal/awssim/awssimtest"
)

// As clusterawsadm names its stack and the roles in it.
const (
	stackName  = "cluster-api-provider-aws-sigs-k8s-io"
	roleSuffix = ".cluster-api-provider-aws.sigs.k8s.io"
)

// cli is AWS's official command line, pointed at an account.
type cli struct {
	t   *testing.T
	bin string
	env []string
	dir string
}

// newCLI finds the program aws, which these tests are for and which has to be
// installed (Debian package awscli).
func newCLI(t *testing.T, a *awssimtest.Account) *cli {
	t.Helper()
	bin, err := exec.LookPath("aws")
	if err != nil {
		t.Fatalf("these tests need AWS's command line: apt-get install awscli (%v)", err)
	}
	dir := t.TempDir()
	env := slices.DeleteFunc(os.Environ(), func(e string) bool {
		return strings.HasPrefix(e, "AWS_") || strings.HasPrefix(strings.ToLower(e), "http_proxy=") || strings.HasPrefix(strings.ToLower(e), "https_proxy=")
	})
	return &cli{t: t, bin: bin, dir: dir, env: append(env,
		"AWS_ACCESS_KEY_ID="+awssimtest.Admin.AccessKeyID, "AWS_SECRET_ACCESS_KEY="+awssimtest.Admin.SecretAccessKey, "AWS_DEFAULT_REGION="+awssimtest.Home,
		"AWS_ENDPOINT_URL="+a.URL, "AWS_EC2_METADATA_DISABLED=true", "AWS_PAGER=", "AWS_MAX_ATTEMPTS=1", "AWS_DEFAULT_OUTPUT=json",
		"AWS_CONFIG_FILE="+filepath.Join(dir, "config"), "AWS_SHARED_CREDENTIALS_FILE="+filepath.Join(dir, "credentials"),
	)}
}

// try runs aws with the arguments and returns what it printed.
func (c *cli) try(args ...string) (string, error) {
	c.t.Helper()
	cmd := exec.CommandContext(c.t.Context(), c.bin, args...)
	var out, said bytes.Buffer
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = c.env, c.dir, &out, &said
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("aws %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(said.String()))
	}
	return strings.TrimSpace(out.String()), nil
}

func (c *cli) run(args ...string) string {
	c.t.Helper()
	out, err := c.try(args...)
	if err != nil {
		c.t.Fatal(err)
	}
	return out
}

// text runs aws and returns what the query selects.
func (c *cli) text(query string, args ...string) string {
	c.t.Helper()
	return c.run(append(args, "--query", query, "--output", "text")...)
}

// refused runs aws, which has to fail with an error of the code.
func (c *cli) refused(code string, args ...string) {
	c.t.Helper()
	out, err := c.try(args...)
	if err == nil || !strings.Contains(err.Error(), "("+code+")") {
		c.t.Errorf("aws %s: got %q, %v, want %s", strings.Join(args, " "), out, err, code)
	}
}

func (c *cli) file(name, content string) string {
	c.t.Helper()
	path := filepath.Join(c.dir, name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		c.t.Fatal(err)
	}
	return path
}

// TestNetwork makes a VPC with everything, is refused when it takes it down
// in the wrong order, and is done in the right one.
func TestNetwork(t *testing.T) {
	t.Parallel()
	a := awssimtest.New(t)
	c := newCLI(t, a)
	if who := c.text("Arn", "sts", "get-caller-identity"); who != awssimtest.Admin.ARN {
		t.Errorf("the caller is %s", who)
	}
	vpc := c.text("Vpc.VpcId", "ec2", "create-vpc", "--cidr-block", "10.0.0.0/16", "--tag-specifications", "ResourceType=vpc,Tags=[{Key=Name,Value=c-vpc}]")
	c.run("ec2", "wait", "vpc-available", "--vpc-ids", vpc)
	subnet := c.text("Subnet.SubnetId", "ec2", "create-subnet", "--vpc-id", vpc, "--cidr-block", "10.0.0.0/20", "--availability-zone", awssimtest.Home+"a")
	gateway := c.text("InternetGateway.InternetGatewayId", "ec2", "create-internet-gateway")
	c.run("ec2", "attach-internet-gateway", "--internet-gateway-id", gateway, "--vpc-id", vpc)
	address := c.text("AllocationId", "ec2", "allocate-address", "--domain", "vpc")
	nat := c.text("NatGateway.NatGatewayId", "ec2", "create-nat-gateway", "--subnet-id", subnet, "--allocation-id", address)
	c.run("ec2", "wait", "nat-gateway-available", "--nat-gateway-ids", nat)
	table := c.text("RouteTable.RouteTableId", "ec2", "create-route-table", "--vpc-id", vpc)
	c.run("ec2", "create-route", "--route-table-id", table, "--destination-cidr-block", "0.0.0.0/0", "--nat-gateway-id", nat)
	association := c.text("AssociationId", "ec2", "associate-route-table", "--route-table-id", table, "--subnet-id", subnet)
	group := c.text("GroupId", "ec2", "create-security-group", "--group-name", "g", "--description", "d", "--vpc-id", vpc)
	c.run("ec2", "authorize-security-group-ingress", "--group-id", group, "--protocol", "tcp", "--port", "443", "--cidr", "0.0.0.0/0")
	card := c.text("NetworkInterface.NetworkInterfaceId", "ec2", "create-network-interface", "--subnet-id", subnet, "--groups", group)

	if found := c.text("length(Vpcs)", "ec2", "describe-vpcs", "--filters", "Name=tag:Name,Values=foreign"); found != "0" {
		t.Errorf("a foreign name finds %s VPCs", found)
	}
	c.refused("InvalidParameterValue", "ec2", "describe-vpcs", "--filters", "Name=colour,Values=red")
	c.refused("DependencyViolation", "ec2", "delete-vpc", "--vpc-id", vpc)
	c.refused("DependencyViolation", "ec2", "delete-subnet", "--subnet-id", subnet)
	c.refused("DependencyViolation", "ec2", "delete-security-group", "--group-id", group)
	c.refused("DependencyViolation", "ec2", "delete-route-table", "--route-table-id", table)
	c.refused("DependencyViolation", "ec2", "detach-internet-gateway", "--internet-gateway-id", gateway, "--vpc-id", vpc)
	c.refused("DependencyViolation", "ec2", "delete-internet-gateway", "--internet-gateway-id", gateway)
	c.refused("InvalidIPAddress.InUse", "ec2", "release-address", "--allocation-id", address)

	c.run("ec2", "delete-network-interface", "--network-interface-id", card)
	c.run("ec2", "delete-security-group", "--group-id", group)
	c.run("ec2", "disassociate-route-table", "--association-id", association)
	c.run("ec2", "delete-route-table", "--route-table-id", table)
	c.run("ec2", "delete-nat-gateway", "--nat-gateway-id", nat)
	if state := c.text("NatGateways[0].State", "ec2", "describe-nat-gateways", "--nat-gateway-ids", nat); state != "deleted" {
		t.Errorf("the NAT gateway is %s when asked for by id", state)
	}
	c.run("ec2", "release-address", "--allocation-id", address)
	c.run("ec2", "detach-internet-gateway", "--internet-gateway-id", gateway, "--vpc-id", vpc)
	c.run("ec2", "delete-internet-gateway", "--internet-gateway-id", gateway)
	c.run("ec2", "delete-subnet", "--subnet-id", subnet)
	c.run("ec2", "delete-vpc", "--vpc-id", vpc)
	a.NothingLeft()
}

// TestBucket is the life of a versioned bucket, with an object that the
// command line uploads in parts.
func TestBucket(t *testing.T) {
	t.Parallel()
	a := awssimtest.New(t)
	c := newCLI(t, a)
	c.run("s3", "mb", "s3://acme-x")
	c.run("s3api", "put-bucket-versioning", "--bucket", "acme-x", "--versioning-configuration", "Status=Enabled")
	c.run("s3api", "put-bucket-encryption", "--bucket", "acme-x", "--server-side-encryption-configuration",
		`{"Rules":[{"ApplyServerSideEncryptionByDefault":{"SSEAlgorithm":"AES256"},"BucketKeyEnabled":true}]}`)
	c.run("s3api", "put-bucket-tagging", "--bucket", "acme-x", "--tagging", "TagSet=[{Key=krops/run,Value=17}]")
	c.run("s3api", "put-bucket-policy", "--bucket", "acme-x", "--policy",
		`{"Version":"2012-10-17","Statement":[{"Effect":"Deny","Principal":"*","Action":"s3:GetObject","Resource":"arn:aws:s3:::acme-x/*"}]}`)
	if blocked := c.text("PublicAccessBlockConfiguration.BlockPublicPolicy", "s3api", "get-public-access-block", "--bucket", "acme-x"); blocked != "True" {
		t.Errorf("BlockPublicPolicy is %s", blocked)
	}
	if where := c.text("LocationConstraint", "s3api", "get-bucket-location", "--bucket", "acme-x"); where != awssimtest.Home {
		t.Errorf("the bucket is in %s", where)
	}
	c.refused("AccessDenied", "s3api", "get-object", "--bucket", "acme-x", "--key", "a", filepath.Join(c.dir, "out"))
	c.run("s3api", "delete-bucket-policy", "--bucket", "acme-x")

	small := c.file("small.txt", "first")
	c.run("s3", "cp", small, "s3://acme-x/folder/a b+c.txt")
	c.file("small.txt", "second")
	c.run("s3", "cp", small, "s3://acme-x/folder/a b+c.txt")
	large := c.file("large.bin", strings.Repeat("0123456789abcdef", 1<<20))
	c.run("s3", "cp", large, "s3://acme-x/large.bin")
	c.run("s3", "cp", "s3://acme-x/large.bin", "copy.bin")
	sent, err := os.ReadFile(large)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(c.dir, "copy.bin")); err != nil || !bytes.Equal(got, sent) {
		t.Errorf("%d bytes came back, %v", len(got), err)
	}
	if tag := c.text("ETag", "s3api", "head-object", "--bucket", "acme-x", "--key", "large.bin"); !strings.HasSuffix(tag, `-2"`) {
		t.Errorf("the large object's tag is %s, want one of two parts", tag)
	}
	if got := c.run("s3", "cp", "s3://acme-x/folder/a b+c.txt", "-"); got != "second" {
		t.Errorf("read %q", got)
	}
	if listed := c.run("s3", "ls", "s3://acme-x/"); !strings.Contains(listed, "PRE folder/") || !strings.Contains(listed, "16777216 large.bin") {
		t.Errorf("listed:\n%s", listed)
	}
	c.run("s3", "rm", "s3://acme-x/large.bin")
	c.refused("NoSuchKey", "s3api", "get-object", "--bucket", "acme-x", "--key", "large.bin", filepath.Join(c.dir, "out"))
	c.refused("BucketNotEmpty", "s3api", "delete-bucket", "--bucket", "acme-x")
	c.run("s3", "rm", "s3://acme-x", "--recursive") // leaves versions and delete markers
	c.refused("BucketNotEmpty", "s3api", "delete-bucket", "--bucket", "acme-x")
	for _, kind := range []string{"Versions", "DeleteMarkers"} {
		batch := c.run("s3api", "list-object-versions", "--bucket", "acme-x", "--query", "{Objects: "+kind+"[].{Key: Key, VersionId: VersionId}}")
		var listed struct{ Objects []any }
		if err := json.Unmarshal([]byte(batch), &listed); err != nil || len(listed.Objects) == 0 {
			t.Fatalf("%s: %s, %v", kind, batch, err)
		}
		if failed := c.text("Errors", "s3api", "delete-objects", "--bucket", "acme-x", "--delete", batch); failed != "None" {
			t.Errorf("the batch failed with %s", failed)
		}
	}
	c.run("s3", "rb", "s3://acme-x")
	c.refused("NoSuchBucket", "s3api", "list-objects-v2", "--bucket", "acme-x")
	a.NothingLeft()
}

// TestStack makes and removes the provider's stack, with a role in use in
// between.
func TestStack(t *testing.T) {
	t.Parallel()
	a := awssimtest.New(t)
	c := newCLI(t, a)
	template := "file://" + c.file("provider-iam.yaml", awssimtest.ProviderIAM)
	c.run("cloudformation", "validate-template", "--template-body", template)
	c.refused("InsufficientCapabilitiesException", "cloudformation", "create-stack", "--stack-name", stackName, "--template-body", template)
	c.run("cloudformation", "create-stack", "--stack-name", stackName, "--template-body", template, "--capabilities", "CAPABILITY_NAMED_IAM")
	c.run("cloudformation", "wait", "stack-create-complete", "--stack-name", stackName)
	if n := c.text("length(StackResources)", "cloudformation", "describe-stack-resources", "--stack-name", stackName); n != "11" {
		t.Errorf("the stack has %s resources", n)
	}
	role := "nodes" + roleSuffix
	c.refused("DeleteConflict", "iam", "delete-role", "--role-name", role)
	c.run("iam", "attach-role-policy", "--role-name", role, "--policy-arn", "arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore")
	c.run("cloudformation", "delete-stack", "--stack-name", stackName)
	if status := c.text("Stacks[0].StackStatus", "cloudformation", "describe-stacks", "--stack-name", stackName); status != "DELETE_FAILED" {
		t.Errorf("the stack is %s", status)
	}
	c.run("iam", "detach-role-policy", "--role-name", role, "--policy-arn", "arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore")
	c.run("cloudformation", "delete-stack", "--stack-name", stackName)
	c.run("cloudformation", "wait", "stack-delete-complete", "--stack-name", stackName)
	c.refused("ValidationError", "cloudformation", "describe-stacks", "--stack-name", stackName)
	a.NothingLeft()
}

// TestDatabase makes and removes a database with what belongs to it, and a
// few things of the services beside it.
func TestDatabase(t *testing.T) {
	t.Parallel()
	a := awssimtest.New(t)
	c := newCLI(t, a)
	vpc := c.text("Vpc.VpcId", "ec2", "create-vpc", "--cidr-block", "10.0.0.0/16")
	var subnets []string
	for zone, cidr := range map[string]string{"a": "10.0.0.0/20", "b": "10.0.16.0/20"} {
		subnets = append(subnets, c.text("Subnet.SubnetId", "ec2", "create-subnet", "--vpc-id", vpc, "--cidr-block", cidr, "--availability-zone", awssimtest.Home+zone))
	}
	c.run("rds", "create-db-subnet-group", "--db-subnet-group-name", "g", "--db-subnet-group-description", "d", "--subnet-ids", subnets[0], subnets[1])
	c.run("rds", "create-db-instance", "--db-instance-identifier", "orders", "--db-instance-class", "db.t4g.micro", "--engine", "postgres",
		"--allocated-storage", "20", "--master-username", "krops", "--manage-master-user-password", "--db-subnet-group-name", "g",
		"--storage-encrypted", "--deletion-protection")
	c.run("rds", "wait", "db-instance-available", "--db-instance-identifier", "orders")
	secret := c.text("DBInstances[0].MasterUserSecret.SecretArn", "rds", "describe-db-instances", "--db-instance-identifier", "orders")
	if value := c.text("SecretString", "secretsmanager", "get-secret-value", "--secret-id", secret); !strings.Contains(value, `"username":"krops"`) {
		t.Errorf("the secret does not hold the user's name")
	}
	c.refused("InvalidParameterCombination", "rds", "delete-db-instance", "--db-instance-identifier", "orders", "--skip-final-snapshot")
	c.run("rds", "modify-db-instance", "--db-instance-identifier", "orders", "--no-deletion-protection", "--apply-immediately")
	c.run("rds", "delete-db-instance", "--db-instance-identifier", "orders", "--skip-final-snapshot")
	c.run("rds", "wait", "db-instance-deleted", "--db-instance-identifier", "orders")
	c.refused("ResourceNotFoundException", "secretsmanager", "describe-secret", "--secret-id", secret)
	c.run("rds", "delete-db-subnet-group", "--db-subnet-group-name", "g")
	for _, id := range subnets {
		c.run("ec2", "delete-subnet", "--subnet-id", id)
	}
	c.run("ec2", "delete-vpc", "--vpc-id", vpc)

	if value := c.text("Quota.Value", "service-quotas", "get-service-quota", "--service-code", "ec2", "--quota-code", "L-0263D0A3"); value != "5" && value != "5.0" {
		t.Errorf("the quota of elastic IPs is %s", value)
	}
	c.run("ssm", "put-parameter", "--name", "/krops/a", "--value", "v", "--type", "String")
	if value := c.text("Parameter.Value", "ssm", "get-parameter", "--name", "/krops/a"); value != "v" {
		t.Errorf("the parameter is %s", value)
	}
	c.run("ssm", "delete-parameter", "--name", "/krops/a")
	if manager := c.text("KeyMetadata.KeyManager", "kms", "describe-key", "--key-id", "alias/aws/rds"); manager != "AWS" {
		t.Errorf("the key is managed by %s", manager)
	}
	a.NothingLeft()
}
