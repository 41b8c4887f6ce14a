package conformance_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/rds"
	"github.com/aws/aws-sdk-go-v2/service/rds/types"
	tagging "github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi"
	taggingtypes "github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi/types"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
)

// network makes a VPC with a subnet in each of two zones.
func (a *account) network() (vpc string, subnets []string) {
	a.t.Helper()
	client, ctx := ec2.NewFromConfig(a.Config()), a.t.Context()
	vpc = *must[*ec2.CreateVpcOutput](a.t)(client.CreateVpc(ctx, &ec2.CreateVpcInput{CidrBlock: aws.String("10.0.0.0/16")})).Vpc.VpcId
	for zone, cidr := range map[string]string{"a": "10.0.0.0/20", "b": "10.0.16.0/20"} {
		out := must[*ec2.CreateSubnetOutput](a.t)(client.CreateSubnet(ctx, &ec2.CreateSubnetInput{VpcId: &vpc, CidrBlock: &cidr, AvailabilityZone: aws.String(home + zone)}))
		subnets = append(subnets, *out.Subnet.SubnetId)
	}
	return vpc, subnets
}

func (a *account) removeNetwork(vpc string, subnets []string) {
	a.t.Helper()
	client, ctx := ec2.NewFromConfig(a.Config()), a.t.Context()
	for _, id := range subnets {
		must[*ec2.DeleteSubnetOutput](a.t)(client.DeleteSubnet(ctx, &ec2.DeleteSubnetInput{SubnetId: &id}))
	}
	must[*ec2.DeleteVpcOutput](a.t)(client.DeleteVpc(ctx, &ec2.DeleteVpcInput{VpcId: &vpc}))
}

// TestDatabase is the life of the estate's database: a subnet group in its own
// VPC, a password that RDS keeps, a protected instance, and everything that
// keeps the network from being taken away under it.
func TestDatabase(t *testing.T) {
	a := newAccount(t)
	ctx, client, network := t.Context(), rds.NewFromConfig(a.Config()), ec2.NewFromConfig(a.Config())
	vpc, subnets := a.network()
	group := &rds.CreateDBSubnetGroupInput{DBSubnetGroupName: aws.String("Workload"), DBSubnetGroupDescription: aws.String("of the workload"), SubnetIds: subnets[:1]}
	_, err := client.CreateDBSubnetGroup(ctx, group)
	refused(t, "DBSubnetGroupDoesNotCoverEnoughAZs", err)
	group.SubnetIds = []string{subnets[0], "subnet-00000000000000000"}
	_, err = client.CreateDBSubnetGroup(ctx, group)
	refused(t, "InvalidSubnet", err)
	group.SubnetIds = subnets
	if made := must[*rds.CreateDBSubnetGroupOutput](t)(client.CreateDBSubnetGroup(ctx, group)).DBSubnetGroup; *made.DBSubnetGroupName != "workload" ||
		*made.VpcId != vpc || len(made.Subnets) != 2 || *made.SubnetGroupStatus != "Complete" {
		t.Errorf("the group is %+v", made)
	}
	security := must[*ec2.CreateSecurityGroupOutput](t)(network.CreateSecurityGroup(ctx, &ec2.CreateSecurityGroupInput{
		GroupName: aws.String("db"), Description: aws.String("databases"), VpcId: &vpc,
	})).GroupId

	wanted := rds.CreateDBInstanceInput{
		DBInstanceIdentifier: aws.String("orders"), DBInstanceClass: aws.String("db.t4g.micro"), Engine: aws.String("postgres"), EngineVersion: aws.String("17"),
		AllocatedStorage: aws.Int32(20), StorageEncrypted: aws.Bool(true), MasterUsername: aws.String("krops"), ManageMasterUserPassword: aws.Bool(true),
		DBSubnetGroupName: aws.String("workload"), VpcSecurityGroupIds: []string{*security}, DeletionProtection: aws.Bool(true),
		Tags: []types.Tag{{Key: aws.String("krops/run"), Value: aws.String("17")}},
	}
	for code, change := range map[string]func(*rds.CreateDBInstanceInput){
		"InvalidParameterValue":       func(in *rds.CreateDBInstanceInput) { in.DBInstanceClass = aws.String("db.huge") },
		"InvalidParameterCombination": func(in *rds.CreateDBInstanceInput) { in.MasterUserPassword = aws.String("a password") },
		"DBSubnetGroupNotFoundFault":  func(in *rds.CreateDBInstanceInput) { in.DBSubnetGroupName = aws.String("none") },
		"InvalidSubnet":               func(in *rds.CreateDBInstanceInput) { in.DBSubnetGroupName = nil },
		"KMSKeyNotAccessibleFault":    func(in *rds.CreateDBInstanceInput) { in.KmsKeyId = aws.String("alias/none") },
	} {
		in := wanted
		change(&in)
		_, err := client.CreateDBInstance(ctx, &in)
		refused(t, code, err)
	}
	made := must[*rds.CreateDBInstanceOutput](t)(client.CreateDBInstance(ctx, &wanted)).DBInstance
	if *made.DBInstanceStatus != "creating" || made.Endpoint != nil || *made.MasterUserSecret.SecretStatus != "creating" {
		t.Errorf("at first the instance is %+v", made)
	}
	_, err = client.CreateDBInstance(ctx, &wanted)
	refused(t, "DBInstanceAlreadyExists", err)
	byID := &rds.DescribeDBInstancesInput{DBInstanceIdentifier: aws.String("orders")}
	if err := rds.NewDBInstanceAvailableWaiter(client).Wait(ctx, byID, firstPoll); err != nil {
		t.Fatal(err)
	}
	db := must[*rds.DescribeDBInstancesOutput](t)(client.DescribeDBInstances(ctx, byID)).DBInstances[0]
	if *db.Endpoint.Port != 5432 || !strings.HasPrefix(*db.Endpoint.Address, "orders.") || !strings.HasPrefix(*db.EngineVersion, "17.") ||
		!strings.HasPrefix(*db.KmsKeyId, "arn:aws:kms:"+home) || *db.DBSubnetGroup.VpcId != vpc || *db.VpcSecurityGroups[0].VpcSecurityGroupId != *security {
		t.Errorf("the instance is %+v", db)
	}
	secrets := secretsmanager.NewFromConfig(a.Config())
	secret := must[*secretsmanager.DescribeSecretOutput](t)(secrets.DescribeSecret(ctx, &secretsmanager.DescribeSecretInput{SecretId: db.MasterUserSecret.SecretArn}))
	if !strings.HasPrefix(*secret.Name, "rds!db-") || aws.ToString(secret.OwningService) != "rds" {
		t.Errorf("the secret is %+v", secret)
	}
	_, err = secrets.DeleteSecret(ctx, &secretsmanager.DeleteSecretInput{SecretId: secret.ARN})
	refused(t, "InvalidRequestException", err)

	found := must[*tagging.GetResourcesOutput](t)(tagging.NewFromConfig(a.Config()).GetResources(ctx, &tagging.GetResourcesInput{
		TagFilters: []taggingtypes.TagFilter{{Key: aws.String("krops/run"), Values: []string{"17"}}}, ResourceTypeFilters: []string{"rds:db"},
	})).ResourceTagMappingList
	if len(found) != 1 || *found[0].ResourceARN != *db.DBInstanceArn {
		t.Errorf("the search by tag found %v", found)
	}
	used := must[*ec2.DescribeNetworkInterfacesOutput](t)(network.DescribeNetworkInterfaces(ctx, &ec2.DescribeNetworkInterfacesInput{
		Filters: []ec2types.Filter{{Name: aws.String("requester-id"), Values: []string{"amazon-rds"}}},
	})).NetworkInterfaces
	if len(used) != 1 || used[0].Status != ec2types.NetworkInterfaceStatusInUse {
		t.Fatalf("interfaces: %+v", used)
	}
	_, err = network.DeleteSubnet(ctx, &ec2.DeleteSubnetInput{SubnetId: used[0].SubnetId})
	refused(t, "DependencyViolation", err)
	_, err = network.DeleteSecurityGroup(ctx, &ec2.DeleteSecurityGroupInput{GroupId: security})
	refused(t, "DependencyViolation", err)
	_, err = client.DeleteDBSubnetGroup(ctx, &rds.DeleteDBSubnetGroupInput{DBSubnetGroupName: aws.String("workload")})
	refused(t, "InvalidDBSubnetGroupStateFault", err)

	modified := must[*rds.ModifyDBInstanceOutput](t)(client.ModifyDBInstance(ctx, &rds.ModifyDBInstanceInput{
		DBInstanceIdentifier: aws.String("orders"), AllocatedStorage: aws.Int32(40), ApplyImmediately: aws.Bool(true),
	})).DBInstance
	if *modified.DBInstanceStatus != "modifying" || *modified.PendingModifiedValues.AllocatedStorage != 40 || *modified.AllocatedStorage != 20 {
		t.Errorf("while it is modified the instance is %s with %d, pending %+v", *modified.DBInstanceStatus, *modified.AllocatedStorage, modified.PendingModifiedValues)
	}
	_, err = client.ModifyDBInstance(ctx, &rds.ModifyDBInstanceInput{DBInstanceIdentifier: aws.String("orders"), AllocatedStorage: aws.Int32(60)})
	refused(t, "InvalidDBInstanceState", err)
	a.Restart()
	client, network = rds.NewFromConfig(a.Config()), ec2.NewFromConfig(a.Config())
	if err := rds.NewDBInstanceAvailableWaiter(client).Wait(ctx, byID, firstPoll); err != nil {
		t.Fatal(err)
	}
	if db := must[*rds.DescribeDBInstancesOutput](t)(client.DescribeDBInstances(ctx, byID)).DBInstances[0]; *db.AllocatedStorage != 40 {
		t.Errorf("the storage is %d", *db.AllocatedStorage)
	}

	end := &rds.DeleteDBInstanceInput{DBInstanceIdentifier: aws.String("orders"), SkipFinalSnapshot: aws.Bool(true), DeleteAutomatedBackups: aws.Bool(false)}
	_, err = client.DeleteDBInstance(ctx, end)
	refused(t, "InvalidParameterCombination", err)
	must[*rds.ModifyDBInstanceOutput](t)(client.ModifyDBInstance(ctx, &rds.ModifyDBInstanceInput{DBInstanceIdentifier: aws.String("orders"), DeletionProtection: aws.Bool(false)}))
	_, err = client.DeleteDBInstance(ctx, &rds.DeleteDBInstanceInput{DBInstanceIdentifier: aws.String("orders")})
	refused(t, "InvalidParameterCombination", err)
	must[*rds.DeleteDBInstanceOutput](t)(client.DeleteDBInstance(ctx, end))
	_, err = client.DeleteDBInstance(ctx, end)
	refused(t, "InvalidDBInstanceState", err)
	if err := rds.NewDBInstanceDeletedWaiter(client).Wait(ctx, byID, firstPoll); err != nil {
		t.Fatal(err)
	}
	_, err = client.DescribeDBInstances(ctx, byID)
	refused(t, "DBInstanceNotFound", err)
	kept := must[*rds.DescribeDBInstanceAutomatedBackupsOutput](t)(client.DescribeDBInstanceAutomatedBackups(ctx, &rds.DescribeDBInstanceAutomatedBackupsInput{})).DBInstanceAutomatedBackups
	if len(kept) != 1 || *kept[0].Status != "retained" {
		t.Fatalf("backups: %+v", kept)
	}
	must[*rds.DeleteDBInstanceAutomatedBackupOutput](t)(client.DeleteDBInstanceAutomatedBackup(ctx, &rds.DeleteDBInstanceAutomatedBackupInput{DbiResourceId: kept[0].DbiResourceId}))
	must[*rds.DeleteDBSubnetGroupOutput](t)(client.DeleteDBSubnetGroup(ctx, &rds.DeleteDBSubnetGroupInput{DBSubnetGroupName: aws.String("workload")}))
	must[*ec2.DeleteSecurityGroupOutput](t)(network.DeleteSecurityGroup(ctx, &ec2.DeleteSecurityGroupInput{GroupId: security}))
	a.removeNetwork(vpc, subnets)
	a.NothingLeft()
}

func TestFinalSnapshot(t *testing.T) {
	a := newAccount(t)
	ctx, client := t.Context(), rds.NewFromConfig(a.Config())
	vpc, subnets := a.network()
	must[*rds.CreateDBSubnetGroupOutput](t)(client.CreateDBSubnetGroup(ctx, &rds.CreateDBSubnetGroupInput{
		DBSubnetGroupName: aws.String("g"), DBSubnetGroupDescription: aws.String("d"), SubnetIds: subnets,
	}))
	must[*rds.CreateDBInstanceOutput](t)(client.CreateDBInstance(ctx, &rds.CreateDBInstanceInput{
		DBInstanceIdentifier: aws.String("two"), DBInstanceClass: aws.String("db.t4g.small"), Engine: aws.String("mysql"), AllocatedStorage: aws.Int32(20),
		MasterUsername: aws.String("krops"), MasterUserPassword: aws.String("not a secret"), DBSubnetGroupName: aws.String("g"), MultiAZ: aws.Bool(true),
	}))
	byID := &rds.DescribeDBInstancesInput{DBInstanceIdentifier: aws.String("two")}
	_, err := client.DeleteDBInstance(ctx, &rds.DeleteDBInstanceInput{DBInstanceIdentifier: aws.String("two"), SkipFinalSnapshot: aws.Bool(true)})
	refused(t, "InvalidDBInstanceState", err)
	if err := rds.NewDBInstanceAvailableWaiter(client).Wait(ctx, byID, firstPoll); err != nil {
		t.Fatal(err)
	}
	db := must[*rds.DescribeDBInstancesOutput](t)(client.DescribeDBInstances(ctx, byID)).DBInstances[0]
	if aws.ToString(db.SecondaryAvailabilityZone) == "" || *db.SecondaryAvailabilityZone == *db.AvailabilityZone {
		t.Errorf("the instance is in %s and %s", *db.AvailabilityZone, aws.ToString(db.SecondaryAvailabilityZone))
	}
	must[*rds.DeleteDBInstanceOutput](t)(client.DeleteDBInstance(ctx, &rds.DeleteDBInstanceInput{DBInstanceIdentifier: aws.String("two"), FinalDBSnapshotIdentifier: aws.String("last")}))
	if err := rds.NewDBInstanceDeletedWaiter(client).Wait(ctx, byID, firstPoll); err != nil {
		t.Fatal(err)
	}
	left := must[*rds.DescribeDBSnapshotsOutput](t)(client.DescribeDBSnapshots(ctx, &rds.DescribeDBSnapshotsInput{DBInstanceIdentifier: aws.String("two")})).DBSnapshots
	if len(left) != 1 || *left[0].DBSnapshotIdentifier != "last" || *left[0].VpcId != vpc {
		t.Fatalf("snapshots: %+v", left)
	}
	must[*rds.DeleteDBSnapshotOutput](t)(client.DeleteDBSnapshot(ctx, &rds.DeleteDBSnapshotInput{DBSnapshotIdentifier: aws.String("last")}))
	must[*rds.DeleteDBSubnetGroupOutput](t)(client.DeleteDBSubnetGroup(ctx, &rds.DeleteDBSubnetGroupInput{DBSubnetGroupName: aws.String("g")}))
	a.removeNetwork(vpc, subnets)
	a.NothingLeft()
}
