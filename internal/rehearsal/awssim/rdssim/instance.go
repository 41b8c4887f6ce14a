package rdssim

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/rds"
	"github.com/aws/aws-sdk-go-v2/service/rds/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// Statuses of instances ("Viewing Amazon RDS DB instance status").
const (
	available = "available"
	backingUp = "backing-up"
	creating  = "creating"
	deleting  = "deleting"
	modifying = "modifying"
	rebooting = "rebooting"
)

// requester is by whom the interfaces of instances are known.
const requester = "amazon-rds"

type instance struct {
	// Shown is what describe calls answer, but for what is kept below.
	Shown    types.DBInstance
	Status   string
	ChangeAt time.Time                    `json:",omitzero"` // when the status changes
	Pending  *types.PendingModifiedValues `json:",omitempty"`
	Waits    bool                         `json:",omitempty"` // Pending waits for the maintenance window
	Group    string                       // name of the subnet group
	Places   []place
	Tags     map[string]string
	Snapshot string `json:",omitempty"` // to make before it goes
	Keep     bool   `json:",omitempty"` // its backups when it is deleted
}

// place is an interface of an instance in a subnet.
type place struct{ Interface, Subnet, Zone string }

func (i *instance) id() string { return *i.Shown.DBInstanceIdentifier }

func (i *instance) subnets() []string {
	var ids []string
	for _, p := range i.Places {
		ids = append(ids, p.Subnet)
	}
	return ids
}

func (s *Service) instanceOperations() []service.Operation {
	return []service.Operation{
		service.Write("CreateDBInstance", s.createInstance, createFields...),
		service.Read("DescribeDBInstances", s.describeInstances, "DBInstanceIdentifier", "Filters", "Marker", "MaxRecords"),
		service.Write("ModifyDBInstance", s.modifyInstance, modifyFields...),
		service.Write("RebootDBInstance", s.rebootInstance, "DBInstanceIdentifier"),
		service.Write("DeleteDBInstance", s.deleteInstance, "DBInstanceIdentifier", "SkipFinalSnapshot", "FinalDBSnapshotIdentifier", "DeleteAutomatedBackups"),
	}
}

func (s *Service) lookup(region string, name *string) (*instance, error) {
	id := strings.ToLower(aws.ToString(name))
	if i := s.in(region).Instances[id]; i != nil {
		return i, nil
	}
	return nil, noInstance(id)
}

// settle moves an instance on when its time has come, and returns when it is next.
func (s *Service) settle(regionName string, r *region, i *instance, now time.Time) time.Time {
	for !i.ChangeAt.IsZero() {
		if i.ChangeAt.After(now) {
			return i.ChangeAt
		}
		at := i.ChangeAt
		i.ChangeAt = time.Time{}
		switch i.Status {
		case creating:
			s.ready(i, at)
			i.Status, i.ChangeAt = backingUp, at.Add(s.timing.Create/4)
			if *i.Shown.BackupRetentionPeriod == 0 {
				i.Status, i.ChangeAt = available, time.Time{}
			}
		case modifying:
			i.apply()
			i.Status = available
		case deleting:
			s.gone(regionName, r, i, at)
			return time.Time{}
		default:
			i.Status = available
		}
	}
	return time.Time{}
}

// ready gives an instance what it has once it is made.
func (s *Service) ready(i *instance, at time.Time) {
	i.Shown.InstanceCreateTime = aws.Time(at)
	if *i.Shown.BackupRetentionPeriod > 0 {
		i.Shown.LatestRestorableTime = aws.Time(at)
	}
	if i.Shown.MasterUserSecret != nil {
		i.Shown.MasterUserSecret.SecretStatus = aws.String("active")
	}
}

// apply makes pending values the instance's own.
func (i *instance) apply() {
	if i.Pending == nil || i.Waits {
		return
	}
	from, to := reflect.ValueOf(i.Pending).Elem(), reflect.ValueOf(&i.Shown).Elem()
	for n := range from.NumField() {
		name := from.Type().Field(n).Name
		if field := to.FieldByName(name); from.Type().Field(n).IsExported() && field.IsValid() && !from.Field(n).IsZero() {
			field.Set(from.Field(n))
		}
	}
	if i.Pending.Port != nil {
		i.Shown.Endpoint.Port = i.Pending.Port
	}
	i.Pending = nil
}

// gone removes a deleted instance with all that was its own.
func (s *Service) gone(regionName string, r *region, i *instance, at time.Time) {
	for _, p := range i.Places {
		// An interface that is not there any more is as good as removed.
		_ = s.network.DeleteOwnedInterface(regionName, p.Interface)
	}
	if i.Shown.MasterUserSecret != nil {
		s.secrets.DeleteOwned(regionName, *i.Shown.MasterUserSecret.SecretArn)
	}
	if i.Snapshot != "" {
		s.addSnapshot(regionName, i, i.Snapshot, i.Tags, at)
	}
	if i.Keep {
		r.Backups[*i.Shown.DbiResourceId] = &backup{Of: i.Shown, VPC: s.vpcOf(r, i)}
	}
	delete(r.Instances, i.id())
}

func (s *Service) vpcOf(r *region, i *instance) string {
	if g := r.Groups[i.Group]; g != nil {
		return g.VPC
	}
	return ""
}

// show is the instance as describe calls answer it.
func (s *Service) show(regionName string, i *instance) *types.DBInstance {
	out := i.Shown
	out.DBInstanceStatus = aws.String(i.Status)
	out.PendingModifiedValues = i.Pending
	if i.Pending == nil {
		out.PendingModifiedValues = &types.PendingModifiedValues{}
	} else if i.Pending.MasterUserPassword != nil {
		hidden := *i.Pending
		hidden.MasterUserPassword = aws.String("****")
		out.PendingModifiedValues = &hidden
	}
	if i.Status == creating {
		out.Endpoint = nil
	}
	out.TagList = tagList(i.Tags)
	out.AvailabilityZone = aws.String(i.Places[0].Zone)
	if len(i.Places) > 1 {
		out.SecondaryAvailabilityZone = aws.String(i.Places[1].Zone)
	}
	if g := s.in(regionName).Groups[i.Group]; g != nil {
		out.DBSubnetGroup = s.shownGroup(regionName, g)
	}
	out.VpcSecurityGroups = []types.VpcSecurityGroupMembership{}
	for _, group := range s.network.InterfaceGroups(regionName, i.Places[0].Interface) {
		out.VpcSecurityGroups = append(out.VpcSecurityGroups, types.VpcSecurityGroupMembership{
			VpcSecurityGroupId: aws.String(group), Status: aws.String("active"),
		})
	}
	return &out
}

// describeInstances holds the SDK's waiters until nothing is under way.
func (s *Service) describeInstances(c *service.Call, in *rds.DescribeDBInstancesInput) (*rds.DescribeDBInstancesOutput, error) {
	if in.DBInstanceIdentifier != nil {
		i, err := s.lookup(c.Region, in.DBInstanceIdentifier)
		if err != nil {
			return nil, err
		}
		if c.Waiter {
			c.Hold(func() bool {
				i, err = s.lookup(c.Region, in.DBInstanceIdentifier)
				return err != nil || i.ChangeAt.IsZero()
			})
			if err != nil {
				return nil, err
			}
		}
		return &rds.DescribeDBInstancesOutput{DBInstances: []types.DBInstance{*s.show(c.Region, i)}}, nil
	}
	instances := s.in(c.Region).Instances
	ids := slices.Sorted(maps.Keys(instances))
	var found []string
	for _, id := range ids {
		i := instances[id]
		ok, err := filtered(in.Filters, map[string]string{
			"db-instance-id": id, "dbi-resource-id": *i.Shown.DbiResourceId, "engine": *i.Shown.Engine, "db-cluster-id": "", "domain": "",
		})
		if err != nil {
			return nil, err
		}
		if ok {
			found = append(found, id)
		}
	}
	part, next, err := page(found, in.Marker, in.MaxRecords)
	if err != nil {
		return nil, err
	}
	out := &rds.DescribeDBInstancesOutput{DBInstances: []types.DBInstance{}, Marker: next}
	for _, id := range part {
		out.DBInstances = append(out.DBInstances, *s.show(c.Region, instances[id]))
	}
	return out, nil
}

func (s *Service) rebootInstance(c *service.Call, in *rds.RebootDBInstanceInput) (*rds.RebootDBInstanceOutput, error) {
	i, err := s.lookup(c.Region, in.DBInstanceIdentifier)
	if err != nil {
		return nil, err
	}
	if i.Status != available {
		return nil, service.Refuse("InvalidDBInstanceState", "Instance %s is not in available state.", i.id())
	}
	i.Status, i.ChangeAt = rebooting, c.World.Now().UTC().Add(s.timing.Modify)
	return &rds.RebootDBInstanceOutput{DBInstance: s.show(c.Region, i)}, nil
}
