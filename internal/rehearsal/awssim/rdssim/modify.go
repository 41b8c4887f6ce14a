package rdssim

import (
	"reflect"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/rds"
	"github.com/aws/aws-sdk-go-v2/service/rds/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// pendingFields change the instance itself: with ApplyImmediately at once, and
// otherwise in the maintenance window, which is too far away to come.
var pendingFields = []string{
	"AllocatedStorage", "CACertificateIdentifier", "DBInstanceClass", "Iops", "LicenseModel", "MasterUserPassword", "MultiAZ",
	"StorageThroughput", "StorageType", "DedicatedLogVolume",
}

// settingFields are in force at once, by the name they have in answers.
var settingFields = map[string]string{
	"AutoMinorVersionUpgrade": "AutoMinorVersionUpgrade", "BackupRetentionPeriod": "BackupRetentionPeriod", "CopyTagsToSnapshot": "CopyTagsToSnapshot",
	"DeletionProtection": "DeletionProtection", "MaxAllocatedStorage": "MaxAllocatedStorage", "MonitoringInterval": "MonitoringInterval",
	"EnablePerformanceInsights": "PerformanceInsightsEnabled", "PerformanceInsightsRetentionPeriod": "PerformanceInsightsRetentionPeriod",
	"EnableIAMDatabaseAuthentication": "IAMDatabaseAuthenticationEnabled", "PromotionTier": "PromotionTier", "PubliclyAccessible": "PubliclyAccessible",
	"NetworkType": "NetworkType",
}

var modifyFields = slices.Concat(pendingFields, settingNames(), []string{
	"DBInstanceIdentifier", "ApplyImmediately", "AllowMajorVersionUpgrade", "EngineVersion", "DBPortNumber", "VpcSecurityGroupIds",
	"PreferredBackupWindow", "PreferredMaintenanceWindow", "DatabaseInsightsMode",
})

func settingNames() []string {
	var names []string
	for name := range settingFields {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (s *Service) modifyInstance(c *service.Call, in *rds.ModifyDBInstanceInput) (*rds.ModifyDBInstanceOutput, error) {
	i, err := s.lookup(c.Region, in.DBInstanceIdentifier)
	if err != nil {
		return nil, err
	}
	if i.Status != available {
		return nil, service.Refuse("InvalidDBInstanceState", "Database instance is not in available state.")
	}
	version, err := i.upgrade(in)
	if err != nil {
		return nil, err
	}
	if err := i.checkChange(in); err != nil {
		return nil, err
	}
	if in.VpcSecurityGroupIds != nil {
		for _, p := range i.Places {
			if err := s.network.SetInterfaceGroups(c.Region, p.Interface, in.VpcSecurityGroupIds); err != nil {
				return nil, invalidCombination("The security groups cannot be used: %v", err)
			}
		}
	}
	i.set(in)
	pending := i.pending(in, version)
	if reflect.ValueOf(*pending).IsZero() {
		return &rds.ModifyDBInstanceOutput{DBInstance: s.show(c.Region, i)}, nil
	}
	i.Pending, i.Waits = pending, !aws.ToBool(in.ApplyImmediately)
	if !i.Waits {
		i.Status, i.ChangeAt = modifying, c.World.Now().UTC().Add(s.timing.Modify)
	}
	return &rds.ModifyDBInstanceOutput{DBInstance: s.show(c.Region, i)}, nil
}

// upgrade resolves the version that is asked for.
func (i *instance) upgrade(in *rds.ModifyDBInstanceInput) (string, error) {
	if in.EngineVersion == nil {
		return *i.Shown.EngineVersion, nil
	}
	e, err := engineNamed(*i.Shown.Engine)
	if err != nil {
		return "", err
	}
	has := *i.Shown.EngineVersion
	if *in.EngineVersion == has || strings.HasPrefix(has, *in.EngineVersion+".") {
		return has, nil
	}
	wanted, err := e.version(*in.EngineVersion)
	if err != nil {
		return "", err
	}
	switch {
	case slices.Index(e.versions, wanted) < slices.Index(e.versions, has):
		return "", invalidCombination("Cannot upgrade %s from %s to %s", e.name, has, wanted)
	case e.major(wanted) != e.major(has) && !aws.ToBool(in.AllowMajorVersionUpgrade):
		return "", invalidCombination("The AllowMajorVersionUpgrade flag must be present when upgrading to a new major version.")
	}
	return wanted, nil
}

func (i *instance) checkChange(in *rds.ModifyDBInstanceInput) error {
	if in.DBInstanceClass != nil {
		if err := checkClass(*in.DBInstanceClass); err != nil {
			return err
		}
	}
	has := *i.Shown.AllocatedStorage
	switch {
	case in.AllocatedStorage != nil && *in.AllocatedStorage < has:
		return invalidCombination("Invalid storage size for engine name %s: %d. It can't be reduced from %d.", *i.Shown.Engine, *in.AllocatedStorage, has)
	case in.AllocatedStorage != nil && *in.AllocatedStorage > has && *in.AllocatedStorage*10 < has*11:
		return invalidCombination("Invalid max storage size: storage must be increased by at least 10%%.")
	case in.MasterUserPassword != nil && i.Shown.MasterUserSecret != nil:
		return invalidCombination("You can't specify MasterUserPassword for an instance with ManageMasterUserPassword enabled.")
	case in.MasterUserPassword != nil && len(*in.MasterUserPassword) < leastPassword:
		return invalidValue("The parameter MasterUserPassword is not a valid password because it is shorter than %d characters.", leastPassword)
	case in.BackupRetentionPeriod != nil && (*in.BackupRetentionPeriod < 0 || *in.BackupRetentionPeriod > mostRetention):
		return invalidValue("Invalid backup retention period: %d. Must be between 0 and %d", *in.BackupRetentionPeriod, mostRetention)
	}
	return nil
}

// set changes what is in force at once.
func (i *instance) set(in *rds.ModifyDBInstanceInput) {
	from, to := reflect.ValueOf(in).Elem(), reflect.ValueOf(&i.Shown).Elem()
	for asked, shown := range settingFields {
		if value := from.FieldByName(asked); !value.IsNil() {
			to.FieldByName(shown).Set(value)
		}
	}
	if in.PreferredBackupWindow != nil {
		i.Shown.PreferredBackupWindow = aws.String(strings.ToLower(*in.PreferredBackupWindow))
	}
	if in.PreferredMaintenanceWindow != nil {
		i.Shown.PreferredMaintenanceWindow = aws.String(strings.ToLower(*in.PreferredMaintenanceWindow))
	}
	if in.DatabaseInsightsMode != "" {
		i.Shown.DatabaseInsightsMode = in.DatabaseInsightsMode
	}
}

// pending are the values that differ from the instance's.
func (i *instance) pending(in *rds.ModifyDBInstanceInput, version string) *types.PendingModifiedValues {
	out := &types.PendingModifiedValues{}
	from, has, to := reflect.ValueOf(in).Elem(), reflect.ValueOf(i.Shown), reflect.ValueOf(out).Elem()
	for _, name := range pendingFields {
		value, now := from.FieldByName(name), has.FieldByName(name)
		if value.IsNil() || now.IsValid() && !now.IsNil() && now.Elem().Equal(value.Elem()) {
			continue
		}
		to.FieldByName(name).Set(value)
	}
	if version != *i.Shown.EngineVersion {
		out.EngineVersion = &version
	}
	if in.DBPortNumber != nil && *in.DBPortNumber != *i.Shown.Endpoint.Port {
		out.Port = in.DBPortNumber
	}
	return out
}
