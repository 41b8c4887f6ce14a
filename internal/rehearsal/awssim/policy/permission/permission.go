// Package permission knows which IAM permissions an AWS API call needs: its
// action, which is not always named like the operation, the resources it is
// checked on, what else it needs because of what the request holds, and the
// roles it passes (Service Authorization Reference).
package permission

import (
	"strings"
)

// Needs is what a call needs to be allowed.
type Needs struct {
	// Action as policies name it, such as "ec2:CreateVpc".
	Action string
	// Everyone is set for calls that need no permission and that none can take
	// away, such as GetCallerIdentity.
	Everyone bool
	// Resources are templates of the ARNs that the action is checked on, all of
	// which must be allowed. In a template {Field} stands for the input's field
	// of that name: a list makes an ARN of each, an absent one becomes *, and a
	// value that is an ARN itself is the whole resource. {region} and {account}
	// are the call's. None means the action is checked on *.
	Resources []string
	// Also are actions that some requests need besides.
	Also []Also
	// Passes are roles that the call hands to a service.
	Passes []Pass
}

// Also is an action needed when the input's field is set and, if it is a
// boolean, true.
type Also struct {
	Field, Action string
	Resources     []string
	// Instead is set where the action takes the place of the main one.
	Instead bool
}

// Pass is a field with the ARN of a role for which the caller needs
// iam:PassRole.
type Pass struct {
	Field   string // a path of field names with dots, through pointers
	Service string // that the role is passed to, such as "eks.amazonaws.com"
}

// Of returns what the operation needs. api is the last element of the SDK
// package's path, such as "elasticloadbalancingv2".
func Of(api, operation string) Needs {
	prefix := api
	switch api {
	case "elasticloadbalancingv2":
		prefix = "elasticloadbalancing"
	case "resourcegroupstaggingapi":
		prefix = "tag"
	}
	n := Needs{Action: prefix + ":" + operation}
	switch api {
	case "ec2":
		n.ec2(operation)
	case "eks":
		n.eks(operation)
	case "iam":
		n.iam(operation)
	case "s3":
		n.s3(operation)
	case "sts":
		n.sts(operation)
	case "autoscaling":
		n.autoscaling(operation)
	case "elasticloadbalancing", "elasticloadbalancingv2":
		n.loadBalancing(operation)
	case "cloudformation":
		n.cloudFormation(operation)
	case "rds":
		n.rds(operation)
	case "secretsmanager":
		n.secrets(operation)
	case "kms":
		n.kms(operation)
	case "ssm":
		n.systemsManager(operation)
	}
	return n
}

func (n *Needs) on(templates ...string) { n.Resources = append(n.Resources, templates...) }

func (n *Needs) also(field, action string) {
	n.Also = append(n.Also, Also{Field: field, Action: action, Resources: n.Resources})
}

func (n *Needs) passes(field, service string) {
	n.Passes = append(n.Passes, Pass{Field: field, Service: service})
}

func (n *Needs) sts(operation string) {
	switch operation {
	case "GetCallerIdentity", "GetSessionToken", "AssumeRoleWithWebIdentity", "AssumeRoleWithSAML":
		n.Everyone = true
	case "AssumeRole":
		n.on("{RoleArn}")
	}
}

func (n *Needs) autoscaling(operation string) {
	switch {
	case strings.HasPrefix(operation, "Describe"):
	case operation == "CreateOrUpdateTags", operation == "DeleteTags":
		n.on("arn:aws:autoscaling:{region}:{account}:autoScalingGroup:*:autoScalingGroupName/*")
	default:
		n.on("arn:aws:autoscaling:{region}:{account}:autoScalingGroup:*:autoScalingGroupName/{AutoScalingGroupName}")
	}
}

func (n *Needs) loadBalancing(operation string) {
	const arn = "arn:aws:elasticloadbalancing:{region}:{account}:"
	switch {
	case strings.HasPrefix(operation, "Describe"):
	case strings.HasSuffix(n.Action, ":DeleteTargetGroup"):
		n.on("{TargetGroupArn}")
	case operation == "DeleteListener":
		n.on("{ListenerArn}")
	default:
		n.on(arn + "loadbalancer/*")
	}
}

func (n *Needs) cloudFormation(operation string) {
	switch operation {
	case "ListStacks", "ListExports", "ValidateTemplate", "EstimateTemplateCost", "DescribeAccountLimits":
		return
	}
	n.on("arn:aws:cloudformation:{region}:{account}:stack/{StackName}/*")
	if operation == "CreateStack" {
		n.also("Tags", "cloudformation:TagResource")
	}
	n.passes("RoleARN", "cloudformation.amazonaws.com")
}

func (n *Needs) rds(operation string) {
	const arn = "arn:aws:rds:{region}:{account}:"
	switch {
	case strings.HasSuffix(operation, "TagsForResource"), strings.HasSuffix(operation, "TagsToResource"), strings.HasSuffix(operation, "TagsFromResource"):
		n.on("{ResourceName}")
	case strings.Contains(operation, "DBSubnetGroup"):
		n.on(arn + "subgrp:{DBSubnetGroupName}")
	case strings.Contains(operation, "DBInstance"):
		n.on(arn + "db:{DBInstanceIdentifier}")
	}
	switch operation {
	case "CreateDBInstance", "ModifyDBInstance":
		n.passes("MonitoringRoleArn", "monitoring.rds.amazonaws.com")
		// Amazon RDS User Guide, "Password management with Amazon RDS and AWS
		// Secrets Manager", "Permissions".
		for _, action := range []string{"kms:DescribeKey", "secretsmanager:CreateSecret", "secretsmanager:TagResource"} {
			n.Also = append(n.Also, Also{Field: "ManageMasterUserPassword", Action: action, Resources: []string{"*"}})
		}
	}
	if strings.HasPrefix(operation, "Create") {
		n.also("Tags", "rds:AddTagsToResource")
	}
}

func (n *Needs) secrets(operation string) {
	switch operation {
	case "ListSecrets", "GetRandomPassword":
	case "CreateSecret":
		n.on("arn:aws:secretsmanager:{region}:{account}:secret:{Name}-*")
		n.also("Tags", "secretsmanager:TagResource")
	default:
		n.on("arn:aws:secretsmanager:{region}:{account}:secret:{SecretId}-*")
	}
}

func (n *Needs) kms(operation string) {
	switch operation {
	case "CreateKey":
		n.also("Tags", "kms:TagResource")
	case "ListKeys", "ListAliases":
	case "CreateAlias", "DeleteAlias", "UpdateAlias":
		n.on("arn:aws:kms:{region}:{account}:{AliasName}")
	default:
		n.on("arn:aws:kms:{region}:{account}:key/{KeyId}")
	}
}

func (n *Needs) systemsManager(operation string) {
	const arn = "arn:aws:ssm:{region}:{account}:parameter/"
	switch operation {
	case "DescribeParameters":
	case "GetParameters", "DeleteParameters":
		n.on(arn + "{Names}")
	case "GetParametersByPath":
		n.on(arn + "{Path}")
	default:
		n.on(arn + "{Name}")
	}
	if operation == "PutParameter" {
		n.also("Tags", "ssm:AddTagsToResource")
	}
}
