package quotasim

import (
	"slices"

	"github.com/krops-go/krops/internal/rehearsal/awssim/ec2sim"
)

// quota is a quota as Service Quotas lists it.
type quota struct {
	service, code, name string
	standard            float64      // AWS's default
	enforced            ec2sim.Quota // by the simulated EC2
	fixed               bool         // it cannot be raised
	global              bool
}

// quotas are those that a Kubernetes estate runs into ("AWS service quotas",
// AWS General Reference).
var quotas = []quota{
	{service: "ec2", code: "L-0263D0A3", name: "EC2-VPC Elastic IPs", standard: 5, enforced: ec2sim.AddressQuota},
	{service: "ec2", code: "L-1216C47A", name: "Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances", standard: 64},
	{service: "ec2", code: "L-34B43A08", name: "All Standard (A, C, D, H, I, M, R, T, Z) Spot Instance Requests", standard: 64},
	{service: "ec2", code: "L-DB2E81BA", name: "Running On-Demand G and VT instances", standard: 0},
	{service: "vpc", code: "L-F678F1CE", name: "VPCs per Region", standard: 5, enforced: ec2sim.VPCQuota},
	{service: "vpc", code: "L-FE5A380F", name: "NAT gateways per Availability Zone", standard: 5, enforced: ec2sim.NATQuota},
	{service: "vpc", code: "L-A4707A72", name: "Internet gateways per Region", standard: 5},
	{service: "vpc", code: "L-DF5E4CA3", name: "Network interfaces per Region", standard: 5000},
	{service: "vpc", code: "L-E79EC296", name: "VPC security groups per Region", standard: 2500},
	{service: "vpc", code: "L-407747CB", name: "Subnets per VPC", standard: 200},
	{service: "eks", code: "L-1194D53C", name: "Clusters", standard: 100},
	{service: "eks", code: "L-6D54EA21", name: "Managed node groups per cluster", standard: 30},
	{service: "eks", code: "L-BD136A63", name: "Nodes per managed node group", standard: 450},
	{service: "rds", code: "L-7B6409FD", name: "DB instances", standard: 40},
	{service: "rds", code: "L-48C6BF61", name: "DB subnet groups", standard: 50},
	{service: "rds", code: "L-272F1212", name: "Manual DB instance snapshots", standard: 100},
	{service: "elasticloadbalancing", code: "L-53DA6B97", name: "Application Load Balancers per Region", standard: 50},
	{service: "elasticloadbalancing", code: "L-69A177A2", name: "Network Load Balancers per Region", standard: 50},
	{service: "elasticloadbalancing", code: "L-E9E9831D", name: "Classic Load Balancers per Region", standard: 20},
	{service: "iam", code: "L-FE177D64", name: "Roles per account", standard: 1000, global: true},
	{service: "iam", code: "L-F55AF5E4", name: "Users per account", standard: 5000, global: true, fixed: true},
	{service: "iam", code: "L-E95E4862", name: "Customer managed policies per account", standard: 1500, global: true},
	{service: "iam", code: "L-6E65F664", name: "Instance profiles per account", standard: 1000, global: true},
	{service: "s3", code: "L-DC2B2D3D", name: "General purpose buckets", standard: 10000, global: true},
}

// services are the names of the services that have quotas here.
var services = map[string]string{
	"ec2": "Amazon Elastic Compute Cloud (Amazon EC2)", "vpc": "Amazon Virtual Private Cloud (Amazon VPC)",
	"eks": "Amazon Elastic Kubernetes Service (Amazon EKS)", "rds": "Amazon Relational Database Service (Amazon RDS)",
	"elasticloadbalancing": "Elastic Load Balancing (ELB)", "iam": "AWS Identity and Access Management (IAM)",
	"s3": "Amazon Simple Storage Service (Amazon S3)",
}

func quotaByCode(code string) (quota, bool) {
	at := slices.IndexFunc(quotas, func(q quota) bool { return q.code == code })
	if at < 0 {
		return quota{}, false
	}
	return quotas[at], true
}

// of lists the quotas of a service in the order of their codes.
func of(service string) []quota {
	var all []quota
	for _, q := range quotas {
		if q.service == service {
			all = append(all, q)
		}
	}
	slices.SortFunc(all, func(a, b quota) int {
		if a.code < b.code {
			return -1
		}
		return 1
	})
	return all
}
