package rdssim

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/rds"
	"github.com/aws/aws-sdk-go-v2/service/rds/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// snapshot is a manual snapshot. It is complete at once.
type snapshot struct {
	Shown types.DBSnapshot
	Tags  map[string]string
}

// backup is what automated backups of a deleted instance are kept for.
type backup struct {
	Of  types.DBInstance
	VPC string
}

func (s *Service) snapshotOperations() []service.Operation {
	return []service.Operation{
		service.Write("CreateDBSnapshot", s.createSnapshot, "DBInstanceIdentifier", "DBSnapshotIdentifier", "Tags"),
		service.Read("DescribeDBSnapshots", s.describeSnapshots, "DBInstanceIdentifier", "DBSnapshotIdentifier", "SnapshotType", "DbiResourceId", "Filters", "Marker", "MaxRecords"),
		service.Write("DeleteDBSnapshot", s.deleteSnapshot, "DBSnapshotIdentifier"),
		service.Read("DescribeDBInstanceAutomatedBackups", s.describeBackups, "DBInstanceIdentifier", "DbiResourceId", "Filters", "Marker", "MaxRecords"),
		service.Write("DeleteDBInstanceAutomatedBackup", s.deleteBackup, "DbiResourceId"),
	}
}

func noSnapshot(id string) error { return absent("DBSnapshotNotFound", "DBSnapshot %s not found.", id) }

func (s *Service) addSnapshot(regionName string, i *instance, id string, tags map[string]string, at time.Time) *snapshot {
	of := i.Shown
	n := &snapshot{Tags: maps.Clone(tags), Shown: types.DBSnapshot{
		DBSnapshotIdentifier: aws.String(id), DBSnapshotArn: aws.String(s.arn(regionName, "snapshot", id)), DBInstanceIdentifier: of.DBInstanceIdentifier,
		DbiResourceId: of.DbiResourceId, SnapshotType: aws.String("manual"), Status: aws.String("available"), PercentProgress: aws.Int32(100),
		Engine: of.Engine, EngineVersion: of.EngineVersion, LicenseModel: of.LicenseModel, AllocatedStorage: of.AllocatedStorage, StorageType: of.StorageType,
		Iops: of.Iops, StorageThroughput: of.StorageThroughput, Encrypted: of.StorageEncrypted, KmsKeyId: of.KmsKeyId, MasterUsername: of.MasterUsername,
		Port: of.Endpoint.Port, AvailabilityZone: aws.String(i.Places[0].Zone), VpcId: aws.String(s.vpcOf(s.in(regionName), i)),
		InstanceCreateTime: of.InstanceCreateTime, SnapshotCreateTime: aws.Time(at), OriginalSnapshotCreateTime: aws.Time(at),
		IAMDatabaseAuthenticationEnabled: of.IAMDatabaseAuthenticationEnabled, SnapshotTarget: aws.String("region"),
	}}
	s.in(regionName).Snapshots[id] = n
	return n
}

func (n *snapshot) show() *types.DBSnapshot {
	out := n.Shown
	out.TagList = tagList(n.Tags)
	return &out
}

func (s *Service) createSnapshot(c *service.Call, in *rds.CreateDBSnapshotInput) (*rds.CreateDBSnapshotOutput, error) {
	i, err := s.lookup(c.Region, in.DBInstanceIdentifier)
	if err != nil {
		return nil, err
	}
	id, err := identifier("DBSnapshotIdentifier", in.DBSnapshotIdentifier, 255)
	if err != nil {
		return nil, err
	}
	tags, err := tagged(nil, in.Tags)
	if err != nil {
		return nil, err
	}
	switch {
	case s.in(c.Region).Snapshots[id] != nil:
		return nil, service.Refuse("DBSnapshotAlreadyExists", "Cannot create the snapshot because a snapshot with the identifier %s already exists.", id)
	case i.Status != available:
		return nil, service.Refuse("InvalidDBInstanceState", "Cannot create a snapshot because the database instance %s is not currently in the available state.", i.id())
	}
	if aws.ToBool(i.Shown.CopyTagsToSnapshot) {
		for key, value := range i.Tags {
			if _, own := tags[key]; !own {
				tags[key] = value
			}
		}
	}
	return &rds.CreateDBSnapshotOutput{DBSnapshot: s.addSnapshot(c.Region, i, id, tags, c.World.Now().UTC()).show()}, nil
}

func (s *Service) describeSnapshots(c *service.Call, in *rds.DescribeDBSnapshotsInput) (*rds.DescribeDBSnapshotsOutput, error) {
	snapshots := s.in(c.Region).Snapshots
	if in.DBSnapshotIdentifier != nil {
		id := strings.ToLower(*in.DBSnapshotIdentifier)
		if snapshots[id] == nil {
			return nil, noSnapshot(id)
		}
		return &rds.DescribeDBSnapshotsOutput{DBSnapshots: []types.DBSnapshot{*snapshots[id].show()}}, nil
	}
	var found []string
	for _, id := range slices.Sorted(maps.Keys(snapshots)) {
		n := snapshots[id].Shown
		ok, err := filtered(in.Filters, map[string]string{
			"db-snapshot-id": id, "db-instance-id": *n.DBInstanceIdentifier, "dbi-resource-id": *n.DbiResourceId, "snapshot-type": "manual", "engine": *n.Engine,
		})
		if err != nil {
			return nil, err
		}
		ofInstance := in.DBInstanceIdentifier == nil || strings.EqualFold(*in.DBInstanceIdentifier, *n.DBInstanceIdentifier)
		ofResource := in.DbiResourceId == nil || *in.DbiResourceId == *n.DbiResourceId
		if ok && ofInstance && ofResource && (in.SnapshotType == nil || *in.SnapshotType == "manual") {
			found = append(found, id)
		}
	}
	part, next, err := page(found, in.Marker, in.MaxRecords)
	if err != nil {
		return nil, err
	}
	out := &rds.DescribeDBSnapshotsOutput{DBSnapshots: []types.DBSnapshot{}, Marker: next}
	for _, id := range part {
		out.DBSnapshots = append(out.DBSnapshots, *snapshots[id].show())
	}
	return out, nil
}

func (s *Service) deleteSnapshot(c *service.Call, in *rds.DeleteDBSnapshotInput) (*rds.DeleteDBSnapshotOutput, error) {
	id := strings.ToLower(aws.ToString(in.DBSnapshotIdentifier))
	n := s.in(c.Region).Snapshots[id]
	if n == nil {
		return nil, noSnapshot(id)
	}
	delete(s.in(c.Region).Snapshots, id)
	out := n.show()
	out.Status = aws.String("deleted")
	return &rds.DeleteDBSnapshotOutput{DBSnapshot: out}, nil
}

func (b *backup) show(s *Service, regionName, status string) types.DBInstanceAutomatedBackup {
	return types.DBInstanceAutomatedBackup{
		DBInstanceIdentifier: b.Of.DBInstanceIdentifier, DBInstanceArn: b.Of.DBInstanceArn, DbiResourceId: b.Of.DbiResourceId,
		DBInstanceAutomatedBackupsArn: aws.String(s.arn(regionName, "auto-backup", strings.ToLower(*b.Of.DbiResourceId))),
		Status:                        aws.String(status), Region: aws.String(regionName), Engine: b.Of.Engine, EngineVersion: b.Of.EngineVersion,
		AllocatedStorage: b.Of.AllocatedStorage, Encrypted: b.Of.StorageEncrypted, KmsKeyId: b.Of.KmsKeyId, VpcId: aws.String(b.VPC),
		BackupRetentionPeriod: b.Of.BackupRetentionPeriod, InstanceCreateTime: b.Of.InstanceCreateTime, MasterUsername: b.Of.MasterUsername,
	}
}

// describeBackups lists those of living instances as active and those that
// were kept as retained.
func (s *Service) describeBackups(c *service.Call, in *rds.DescribeDBInstanceAutomatedBackupsInput) (*rds.DescribeDBInstanceAutomatedBackupsOutput, error) {
	r := s.in(c.Region)
	all := map[string]types.DBInstanceAutomatedBackup{}
	for _, i := range r.Instances {
		if *i.Shown.BackupRetentionPeriod > 0 && i.Status != creating {
			b := &backup{Of: i.Shown, VPC: s.vpcOf(r, i)}
			all[*i.Shown.DbiResourceId] = b.show(s, c.Region, "active")
		}
	}
	for id, b := range r.Backups {
		all[id] = b.show(s, c.Region, "retained")
	}
	var found []string
	for _, id := range slices.Sorted(maps.Keys(all)) {
		b := all[id]
		ok, err := filtered(in.Filters, map[string]string{
			"status": *b.Status, "db-instance-id": *b.DBInstanceIdentifier, "dbi-resource-id": id,
		})
		if err != nil {
			return nil, err
		}
		if ok && (in.DbiResourceId == nil || *in.DbiResourceId == id) && (in.DBInstanceIdentifier == nil || *in.DBInstanceIdentifier == *b.DBInstanceIdentifier) {
			found = append(found, id)
		}
	}
	part, next, err := page(found, in.Marker, in.MaxRecords)
	if err != nil {
		return nil, err
	}
	out := &rds.DescribeDBInstanceAutomatedBackupsOutput{DBInstanceAutomatedBackups: []types.DBInstanceAutomatedBackup{}, Marker: next}
	for _, id := range part {
		out.DBInstanceAutomatedBackups = append(out.DBInstanceAutomatedBackups, all[id])
	}
	return out, nil
}

func (s *Service) deleteBackup(c *service.Call, in *rds.DeleteDBInstanceAutomatedBackupInput) (*rds.DeleteDBInstanceAutomatedBackupOutput, error) {
	id := aws.ToString(in.DbiResourceId)
	b := s.in(c.Region).Backups[id]
	if b == nil {
		return nil, absent("DBInstanceAutomatedBackupNotFound", "DB instance automated backup %s not found.", id)
	}
	delete(s.in(c.Region).Backups, id)
	return &rds.DeleteDBInstanceAutomatedBackupOutput{DBInstanceAutomatedBackup: new(b.show(s, c.Region, "deleting"))}, nil
}
