package rdssim

import (
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/rds"
	"github.com/aws/aws-sdk-go-v2/service/rds/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// engine is a database engine with its versions, oldest first.
type engine struct {
	name, description, license string
	port                       int32
	versions                   []string
	standard                   string // the version without being asked
	reserved                   []string
}

// engines are those of which instances can be made here ("Amazon RDS for
// PostgreSQL release notes", "MySQL on Amazon RDS versions").
var engines = []engine{
	{
		name: "postgres", description: "PostgreSQL", license: "postgresql-license", port: 5432, standard: "17.6",
		versions: []string{"13.22", "14.19", "14.20", "15.14", "15.15", "16.10", "16.11", "17.5", "17.6", "17.7", "18.1"},
		reserved: []string{"admin", "rdsadmin", "postgres_admin"},
	},
	{
		name: "mysql", description: "MySQL Community Edition", license: "general-public-license", port: 3306, standard: "8.0.43",
		versions: []string{"8.0.43", "8.0.44", "8.4.6", "8.4.7"}, reserved: []string{"rdsadmin"},
	},
}

func engineNamed(name string) (engine, error) {
	at := slices.IndexFunc(engines, func(e engine) bool { return e.name == name })
	if at < 0 {
		return engine{}, invalidValue("Invalid DB engine")
	}
	return engines[at], nil
}

// version resolves what was asked for, of which a part such as "17" stands for
// the newest version that begins so.
func (e engine) version(asked string) (string, error) {
	if asked == "" {
		return e.standard, nil
	}
	for _, v := range slices.Backward(e.versions) {
		if v == asked || strings.HasPrefix(v, asked+".") {
			return v, nil
		}
	}
	return "", invalidCombination("Cannot find version %s for %s", asked, e.name)
}

// major is what parameter groups and upgrades go by.
func (e engine) major(version string) string {
	parts := strings.Split(version, ".")
	if e.name == "postgres" {
		return parts[0]
	}
	return strings.Join(parts[:2], ".")
}

var classPattern = regexp.MustCompile(`^db\.(t3|t4g|m5|m5d|m6g|m6gd|m6i|m7g|m7i|m8g|r5|r6g|r6gd|r6i|r7g|r7i|r8g|x2g)\.(micro|small|medium|large|[248]?xlarge|1[26]xlarge|24xlarge)$`)

func checkClass(class string) error {
	if !classPattern.MatchString(class) {
		return invalidValue("Invalid DB Instance class: %s", class)
	}
	return nil
}

func (s *Service) engineOperations() []service.Operation {
	return []service.Operation{
		service.Read("DescribeDBEngineVersions", s.describeEngineVersions, "Engine", "EngineVersion", "DefaultOnly", "IncludeAll", "Marker", "MaxRecords"),
		service.Read("DescribeDBClusters", s.describeClusters, "DBClusterIdentifier", "Marker", "MaxRecords"),
		service.Read("DescribeDBClusterSnapshots", s.describeClusterSnapshots, "DBClusterIdentifier", "DBClusterSnapshotIdentifier", "SnapshotType", "Marker", "MaxRecords"),
		service.Read("DescribeGlobalClusters", s.describeGlobalClusters, "GlobalClusterIdentifier", "Marker", "MaxRecords"),
		service.Read("DescribeDBProxies", s.describeProxies, "DBProxyName", "Marker", "MaxRecords"),
	}
}

func (s *Service) describeEngineVersions(_ *service.Call, in *rds.DescribeDBEngineVersionsInput) (*rds.DescribeDBEngineVersionsOutput, error) {
	out := &rds.DescribeDBEngineVersionsOutput{DBEngineVersions: []types.DBEngineVersion{}}
	for _, e := range engines {
		if in.Engine != nil && *in.Engine != e.name {
			continue
		}
		for _, v := range e.versions {
			if in.EngineVersion != nil && v != *in.EngineVersion && !strings.HasPrefix(v, *in.EngineVersion+".") || aws.ToBool(in.DefaultOnly) && v != e.standard {
				continue
			}
			out.DBEngineVersions = append(out.DBEngineVersions, types.DBEngineVersion{
				Engine: aws.String(e.name), EngineVersion: aws.String(v), MajorEngineVersion: aws.String(e.major(v)), Status: aws.String("available"),
				DBEngineDescription: aws.String(e.description), DBEngineVersionDescription: aws.String(e.description + " " + v + "-R1"),
				DBParameterGroupFamily: aws.String(e.name + e.major(v)),
			})
		}
	}
	return out, nil
}

// There are no clusters of databases and no proxies.

func (s *Service) describeClusters(_ *service.Call, in *rds.DescribeDBClustersInput) (*rds.DescribeDBClustersOutput, error) {
	if in.DBClusterIdentifier != nil {
		return nil, absent("DBClusterNotFoundFault", "DBCluster %s not found.", *in.DBClusterIdentifier)
	}
	return &rds.DescribeDBClustersOutput{DBClusters: []types.DBCluster{}}, nil
}

func (s *Service) describeClusterSnapshots(_ *service.Call, in *rds.DescribeDBClusterSnapshotsInput) (*rds.DescribeDBClusterSnapshotsOutput, error) {
	if in.DBClusterSnapshotIdentifier != nil {
		return nil, absent("DBClusterSnapshotNotFoundFault", "DBClusterSnapshot %s not found.", *in.DBClusterSnapshotIdentifier)
	}
	return &rds.DescribeDBClusterSnapshotsOutput{DBClusterSnapshots: []types.DBClusterSnapshot{}}, nil
}

func (s *Service) describeGlobalClusters(_ *service.Call, in *rds.DescribeGlobalClustersInput) (*rds.DescribeGlobalClustersOutput, error) {
	if in.GlobalClusterIdentifier != nil {
		return nil, absent("GlobalClusterNotFoundFault", "Global cluster %s not found.", *in.GlobalClusterIdentifier)
	}
	return &rds.DescribeGlobalClustersOutput{GlobalClusters: []types.GlobalCluster{}}, nil
}

func (s *Service) describeProxies(_ *service.Call, in *rds.DescribeDBProxiesInput) (*rds.DescribeDBProxiesOutput, error) {
	if in.DBProxyName != nil {
		return nil, absent("DBProxyNotFoundFault", "DBProxy %s not found.", *in.DBProxyName)
	}
	return &rds.DescribeDBProxiesOutput{DBProxies: []types.DBProxy{}}, nil
}
