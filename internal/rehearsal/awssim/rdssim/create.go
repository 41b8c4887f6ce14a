package rdssim

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/rds"
	"github.com/aws/aws-sdk-go-v2/service/rds/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

var createFields = []string{
	"DBInstanceIdentifier", "DBInstanceClass", "Engine", "EngineVersion", "EngineLifecycleSupport", "LicenseModel", "DBName", "Port",
	"AllocatedStorage", "MaxAllocatedStorage", "StorageType", "Iops", "StorageThroughput", "StorageEncrypted", "KmsKeyId",
	"MasterUsername", "MasterUserPassword", "ManageMasterUserPassword", "MasterUserSecretKmsKeyId",
	"DBSubnetGroupName", "VpcSecurityGroupIds", "AvailabilityZone", "MultiAZ", "PubliclyAccessible", "NetworkType",
	"BackupRetentionPeriod", "BackupTarget", "PreferredBackupWindow", "PreferredMaintenanceWindow", "AutoMinorVersionUpgrade",
	"CopyTagsToSnapshot", "DeletionProtection", "EnableIAMDatabaseAuthentication", "CACertificateIdentifier",
	"EnablePerformanceInsights", "PerformanceInsightsRetentionPeriod", "MonitoringInterval", "DatabaseInsightsMode", "DedicatedLogVolume",
	"PromotionTier", "Tags",
}

// "Quotas and constraints for Amazon RDS" and "CreateDBInstance".
const (
	mostInstances  = 40
	leastStorage   = 20
	mostStorage    = 65536
	leastPassword  = 8
	mostRetention  = 35
	standardWindow = "02:19-02:49"
	standardDay    = "sun:03:21-sun:03:51"
	certificate    = "rds-ca-rsa2048-g1"
)

// or is the value of a pointer, or what stands for none.
func or[T any](value *T, standard T) *T {
	if value == nil {
		return &standard
	}
	return value
}

func (s *Service) createInstance(c *service.Call, in *rds.CreateDBInstanceInput) (*rds.CreateDBInstanceOutput, error) {
	id, err := identifier("DBInstanceIdentifier", in.DBInstanceIdentifier, 63)
	if err != nil {
		return nil, err
	}
	e, err := engineNamed(aws.ToString(in.Engine))
	if err != nil {
		return nil, err
	}
	version, err := e.version(aws.ToString(in.EngineVersion))
	if err != nil {
		return nil, err
	}
	tags, err := tagged(nil, in.Tags)
	if err != nil {
		return nil, err
	}
	if err := checkNew(in, e); err != nil {
		return nil, err
	}
	r := s.in(c.Region)
	switch {
	case r.Instances[id] != nil:
		return nil, service.Refuse("DBInstanceAlreadyExists", "DB instance already exists")
	case len(r.Instances) >= mostInstances:
		return nil, service.Refuse("InstanceQuotaExceeded", "DB Instance quota exceeded")
	}
	key, err := s.keyFor(c, in)
	if err != nil {
		return nil, err
	}
	g, err := s.groupFor(c, in)
	if err != nil {
		return nil, err
	}
	now := c.World.Now().UTC()
	i := &instance{Status: creating, ChangeAt: now.Add(s.timing.Create), Group: g.Name, Tags: tags}
	if i.Places, err = s.takePlaces(c, id, g, in); err != nil {
		return nil, err
	}
	port := *or(in.Port, e.port)
	i.Shown = types.DBInstance{
		DBInstanceIdentifier: aws.String(id), DBInstanceArn: aws.String(s.arn(c.Region, "db", id)), DBInstanceClass: in.DBInstanceClass,
		DbiResourceId: aws.String("db-" + strings.ToUpper(c.World.NewID("", 26))),
		Engine:        aws.String(e.name), EngineVersion: aws.String(version), LicenseModel: or(in.LicenseModel, e.license),
		EngineLifecycleSupport: or(in.EngineLifecycleSupport, "open-source-rds-extended-support"),
		DBName:                 in.DBName, MasterUsername: in.MasterUsername, DbInstancePort: aws.Int32(0),
		Endpoint: &types.Endpoint{
			Address: aws.String(fmt.Sprintf("%s.%s.%s.rds.amazonaws.com", id, c.World.NewID("c", 11), c.Region)), Port: aws.Int32(port), HostedZoneId: aws.String("Z1TTGA775OQIYO"),
		},
		AllocatedStorage: in.AllocatedStorage, MaxAllocatedStorage: in.MaxAllocatedStorage,
		StorageEncrypted: or(in.StorageEncrypted, false), KmsKeyId: key,
		MultiAZ: or(in.MultiAZ, false), PubliclyAccessible: or(in.PubliclyAccessible, false), NetworkType: or(in.NetworkType, "IPV4"),
		BackupRetentionPeriod: or(in.BackupRetentionPeriod, 1), BackupTarget: or(in.BackupTarget, "region"),
		PreferredBackupWindow:      aws.String(strings.ToLower(*or(in.PreferredBackupWindow, standardWindow))),
		PreferredMaintenanceWindow: aws.String(strings.ToLower(*or(in.PreferredMaintenanceWindow, standardDay))),
		AutoMinorVersionUpgrade:    or(in.AutoMinorVersionUpgrade, true), CopyTagsToSnapshot: or(in.CopyTagsToSnapshot, false),
		DeletionProtection: or(in.DeletionProtection, false), IAMDatabaseAuthenticationEnabled: or(in.EnableIAMDatabaseAuthentication, false),
		CACertificateIdentifier:    or(in.CACertificateIdentifier, certificate),
		PerformanceInsightsEnabled: or(in.EnablePerformanceInsights, false), PerformanceInsightsRetentionPeriod: in.PerformanceInsightsRetentionPeriod,
		MonitoringInterval: or(in.MonitoringInterval, 0), DatabaseInsightsMode: cmp.Or(in.DatabaseInsightsMode, types.DatabaseInsightsModeStandard),
		DedicatedLogVolume: or(in.DedicatedLogVolume, false), PromotionTier: or(in.PromotionTier, 1), CustomerOwnedIpEnabled: aws.Bool(false),
		DBParameterGroups: []types.DBParameterGroupStatus{{
			DBParameterGroupName: aws.String("default." + e.name + e.major(version)), ParameterApplyStatus: aws.String("in-sync"),
		}},
		OptionGroupMemberships: []types.OptionGroupMembership{{
			OptionGroupName: aws.String("default:" + e.name + "-" + strings.ReplaceAll(e.major(version), ".", "-")), Status: aws.String("in-sync"),
		}},
	}
	setStorage(&i.Shown, in.StorageType, in.Iops, in.StorageThroughput)
	s.keepPassword(c, in, i, now)
	r.Instances[id] = i
	return &rds.CreateDBInstanceOutput{DBInstance: s.show(c.Region, i)}, nil
}

func setStorage(shown *types.DBInstance, kind *string, iops, throughput *int32) {
	if kind == nil {
		kind = aws.String("gp3")
		if iops != nil {
			kind = aws.String("io1")
		}
	}
	shown.StorageType, shown.Iops, shown.StorageThroughput = kind, iops, throughput
	if *kind == "gp3" { // "Amazon RDS DB instance storage"
		shown.Iops, shown.StorageThroughput = or(iops, 3000), or(throughput, 125)
	}
}

// checkNew refuses what no instance can be made with.
func checkNew(in *rds.CreateDBInstanceInput, e engine) error {
	if err := checkClass(aws.ToString(in.DBInstanceClass)); err != nil {
		return err
	}
	storage, managed := aws.ToInt32(in.AllocatedStorage), aws.ToBool(in.ManageMasterUserPassword)
	kind := aws.ToString(or(in.StorageType, "gp3"))
	user := aws.ToString(in.MasterUsername)
	switch {
	case !slices.Contains([]string{"gp2", "gp3", "io1", "io2", "standard"}, kind):
		return invalidValue("Invalid storage type: %s", kind)
	case storage < leastStorage || storage > mostStorage:
		return invalidValue("Invalid storage size for engine name %s and storage type %s: %d", e.name, kind, storage)
	case user == "":
		return invalidValue("The parameter MasterUsername must be provided and must not be blank.")
	case slices.Contains(e.reserved, user):
		return invalidValue("MasterUsername %s cannot be used as it is a reserved word used by the engine", user)
	case managed && in.MasterUserPassword != nil:
		return invalidCombination("You can't specify MasterUserPassword when ManageMasterUserPassword is enabled.")
	case !managed && in.MasterUserSecretKmsKeyId != nil:
		return invalidCombination("You can't specify MasterUserSecretKmsKeyId when ManageMasterUserPassword is disabled.")
	case !managed && aws.ToString(in.MasterUserPassword) == "":
		return invalidValue("The parameter MasterUserPassword must be provided and must not be blank.")
	case !managed && len(*in.MasterUserPassword) < leastPassword:
		return invalidValue("The parameter MasterUserPassword is not a valid password because it is shorter than %d characters.", leastPassword)
	case aws.ToInt32(in.BackupRetentionPeriod) < 0 || aws.ToInt32(in.BackupRetentionPeriod) > mostRetention:
		return invalidValue("Invalid backup retention period: %d. Must be between 0 and %d", *in.BackupRetentionPeriod, mostRetention)
	case aws.ToBool(in.MultiAZ) && in.AvailabilityZone != nil:
		return invalidCombination("Requesting a specific availability zone is not valid for Multi-AZ instances.")
	case in.KmsKeyId != nil && !aws.ToBool(in.StorageEncrypted):
		return invalidCombination("KmsKeyId can only be specified if StorageEncrypted is true.")
	}
	return nil
}

// keyFor returns the key that the storage is encrypted with, or nil.
func (s *Service) keyFor(c *service.Call, in *rds.CreateDBInstanceInput) (*string, error) {
	now := c.World.Now().UTC()
	if !aws.ToBool(in.StorageEncrypted) {
		return nil, nil
	}
	if in.KmsKeyId == nil {
		return aws.String(s.keys.ManagedKey(now, c.Region, "rds")), nil
	}
	arn, ok := s.keys.LookupKey(now, c.Region, *in.KmsKeyId)
	if !ok {
		return nil, service.Refuse("KMSKeyNotAccessibleFault", "The specified KMS key [%s] does not exist, is not enabled or you do not have permissions to access it.", *in.KmsKeyId)
	}
	return &arn, nil
}

// groupFor finds the subnet group. Without one, instances go to the default
// VPC, which the account has in no region.
func (s *Service) groupFor(c *service.Call, in *rds.CreateDBInstanceInput) (*subnetGroup, error) {
	if in.DBSubnetGroupName == nil {
		return nil, service.Refuse("InvalidSubnet", "No default subnet detected in VPC. Please contact AWS Support to recreate the default Subnets.")
	}
	return s.group(c, in.DBSubnetGroupName)
}

// takePlaces makes the interfaces of an instance in its group's subnets.
func (s *Service) takePlaces(c *service.Call, id string, g *subnetGroup, in *rds.CreateDBInstanceInput) ([]place, error) {
	subnets, err := s.placed(c.Region, g, aws.ToString(in.AvailabilityZone), aws.ToBool(in.MultiAZ))
	if err != nil {
		return nil, err
	}
	var places []place
	for _, subnet := range subnets {
		made, err := s.network.CreateInterfaceFor(c.Region, requester, subnet.ID, in.VpcSecurityGroupIds, "RDSNetworkInterface")
		if err != nil {
			for _, p := range places {
				_ = s.network.DeleteOwnedInterface(c.Region, p.Interface) // it was just made
			}
			return nil, invalidCombination("The DB instance %s cannot be placed in subnet %s: %v", id, subnet.ID, err)
		}
		places = append(places, place{Interface: made, Subnet: subnet.ID, Zone: subnet.Zone})
	}
	return places, nil
}

// keepPassword puts a password that RDS manages into Secrets Manager.
func (s *Service) keepPassword(c *service.Call, in *rds.CreateDBInstanceInput, i *instance, now time.Time) {
	if !aws.ToBool(in.ManageMasterUserPassword) {
		return
	}
	key := s.keys.ManagedKey(now, c.Region, "secretsmanager")
	if in.MasterUserSecretKmsKeyId != nil {
		if own, ok := s.keys.LookupKey(now, c.Region, *in.MasterUserSecretKmsKeyId); ok {
			key = own
		}
	}
	digits := c.World.NewID("", 32)
	name := "rds!db-" + strings.Join([]string{digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]}, "-")
	value := fmt.Sprintf(`{"username":%q,"password":%q}`, *in.MasterUsername, c.World.NewID("", 28))
	arn := s.secrets.CreateOwned(c.World, c.Region, "rds", name, "Secret associated with primary RDS DB instance: "+*i.Shown.DBInstanceArn, key, value,
		map[string]string{"aws:rds:primaryDBInstanceArn": *i.Shown.DBInstanceArn, "aws:secretsmanager:owningService": "rds"})
	i.Shown.MasterUserSecret = &types.MasterUserSecret{SecretArn: aws.String(arn), SecretStatus: aws.String("creating"), KmsKeyId: aws.String(key)}
}
