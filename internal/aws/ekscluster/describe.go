package ekscluster

import (
	"context"
	"encoding/base64"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/krops-go/krops/internal/aws/awserr"
	"github.com/krops-go/krops/internal/presence"
)

// Cluster is how to reach an EKS cluster.
type Cluster struct {
	Name string
	// Endpoint is the URL of the API server, empty until there is one.
	Endpoint string
	// CA is the PEM of the authority that signs the API server's certificate.
	CA     []byte
	Status types.ClusterStatus
}

// Describe looks the cluster up in the region of cfg. The error is non-nil
// exactly when the outcome is Unknown.
func Describe(ctx context.Context, cfg aws.Config, name string) (Cluster, presence.Presence, error) {
	out, err := eks.NewFromConfig(cfg).DescribeCluster(ctx, &eks.DescribeClusterInput{Name: aws.String(name)})
	if awserr.NotFound(err) {
		return Cluster{}, presence.Absent, nil
	}
	if err != nil {
		return Cluster{}, presence.Unknown, fmt.Errorf("unknown whether EKS cluster %s in %s exists: %w", name, cfg.Region, err)
	}
	cluster := Cluster{Name: name, Endpoint: aws.ToString(out.Cluster.Endpoint), Status: out.Cluster.Status}
	if authority := out.Cluster.CertificateAuthority; authority != nil {
		cluster.CA, err = base64.StdEncoding.DecodeString(aws.ToString(authority.Data))
		if err != nil {
			return Cluster{}, presence.Unknown, fmt.Errorf("EKS cluster %s in %s: read its certificate authority: %w", name, cfg.Region, err)
		}
	}
	return cluster, presence.Present, nil
}
