package rdssim

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/rds"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

func (s *Service) deleteInstance(c *service.Call, in *rds.DeleteDBInstanceInput) (*rds.DeleteDBInstanceOutput, error) {
	i, err := s.lookup(c.Region, in.DBInstanceIdentifier)
	if err != nil {
		return nil, err
	}
	skip, final := aws.ToBool(in.SkipFinalSnapshot), in.FinalDBSnapshotIdentifier
	switch {
	case i.Status == deleting:
		return nil, service.Refuse("InvalidDBInstanceState", "Instance %s is already being deleted.", i.id())
	case i.Status == creating:
		return nil, service.Refuse("InvalidDBInstanceState", "Instance %s is currently creating - try again when it is available.", i.id())
	case aws.ToBool(i.Shown.DeletionProtection):
		return nil, invalidCombination("Cannot delete protected DB Instance, please disable deletion protection and try again.")
	case skip && final != nil:
		return nil, invalidCombination("FinalDBSnapshotIdentifier can not be specified when deleting with SkipFinalSnapshot.")
	case !skip && final == nil:
		return nil, invalidCombination("FinalDBSnapshotIdentifier is required unless SkipFinalSnapshot is specified.")
	}
	if final != nil {
		id, err := identifier("FinalDBSnapshotIdentifier", final, 255)
		if err != nil {
			return nil, err
		}
		if s.in(c.Region).Snapshots[id] != nil {
			return nil, service.Refuse("DBSnapshotAlreadyExists", "Cannot create the snapshot because a snapshot with the identifier %s already exists.", id)
		}
		i.Snapshot = id
	}
	i.Keep = in.DeleteAutomatedBackups != nil && !*in.DeleteAutomatedBackups && *i.Shown.BackupRetentionPeriod > 0
	i.Status, i.ChangeAt, i.Pending = deleting, c.World.Now().UTC().Add(s.timing.Delete), nil
	return &rds.DeleteDBInstanceOutput{DBInstance: s.show(c.Region, i)}, nil
}
