package faults

import (
	"net/http"
	"strings"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// Refusal returns how the rule refuses a call, or nil for the kinds that
// refuse nothing. Codes are those under which clients of the service know the
// condition.
func (r Rule) Refusal(c Call) *service.Error {
	switch r.Kind {
	case Throttle:
		return throttled(c.Service)
	case Internal:
		switch c.Service {
		case "ec2", "s3":
			return service.RefuseStatus(http.StatusInternalServerError, "InternalError", "An internal error has occurred")
		case "eks":
			return service.RefuseStatus(http.StatusInternalServerError, "ServerException", "An internal error has occurred")
		}
		return service.RefuseStatus(http.StatusInternalServerError, "InternalFailure", "The request processing has failed because of an unknown error")
	case Unavailable:
		code := map[string]string{"ec2": "Unavailable", "eks": "ServiceUnavailableException"}[c.Service]
		if code == "" {
			code = "ServiceUnavailable"
		}
		return service.RefuseStatus(http.StatusServiceUnavailable, code, "The service is temporarily unable to handle the request")
	case Capacity:
		return noCapacity(c)
	case Quota:
		return quotaReached(c)
	case Refuse:
		status := r.Status
		if status == 0 {
			status = http.StatusBadRequest
		}
		message := r.Message
		if message == "" {
			message = "Refused by a fault rule"
		}
		return service.RefuseStatus(status, r.Code, "%s", message)
	}
	return nil
}

func throttled(name string) *service.Error {
	switch name {
	case "ec2": // EC2 API, Error codes
		return service.RefuseStatus(http.StatusServiceUnavailable, "RequestLimitExceeded", "Request limit exceeded.")
	case "s3": // S3 API, Error responses
		return service.RefuseStatus(http.StatusServiceUnavailable, "SlowDown", "Please reduce your request rate.")
	case "resourcegroupstaggingapi":
		return service.Refuse("ThrottledException", "Rate exceeded")
	case "servicequotas":
		return service.Refuse("TooManyRequestsException", "Rate exceeded")
	case "eks", "ssm", "secretsmanager", "kms":
		return service.Refuse("ThrottlingException", "Rate exceeded")
	}
	return service.Refuse("Throttling", "Rate exceeded")
}

func noCapacity(c Call) *service.Error {
	switch c.Service {
	case "eks":
		if c.Operation == "CreateCluster" {
			return service.Refuse("UnsupportedAvailabilityZoneException", "Cannot create cluster because the targeted availability zone does not currently have sufficient capacity to support the cluster")
		}
		return service.RefuseStatus(http.StatusInternalServerError, "ServerException", "There is not enough capacity for what was asked")
	case "rds":
		return service.Refuse("InsufficientDBInstanceCapacity", "The specified DB instance class isn't available in the specified Availability Zone.")
	case "ec2":
		switch c.Operation {
		case "AllocateAddress":
			return service.Refuse("InsufficientAddressCapacity", "Not enough available addresses to satisfy the minimum request.")
		case "CreateNetworkInterface":
			return service.Refuse("InsufficientFreeAddressesInSubnet", "There are not enough free addresses in the subnet to satisfy the requested number of interfaces.")
		}
	}
	return service.RefuseStatus(http.StatusInternalServerError, "InsufficientInstanceCapacity", "There is not enough capacity to fulfill the request.")
}

// ec2Quotas are the codes for quotas that are not named after the operation.
var ec2Quotas = map[string]string{
	"AllocateAddress": "AddressLimitExceeded", "CreateSecurityGroup": "SecurityGroupLimitExceeded",
	"AuthorizeSecurityGroupIngress": "RulesPerSecurityGroupLimitExceeded", "AuthorizeSecurityGroupEgress": "RulesPerSecurityGroupLimitExceeded",
	"CreateRoute": "RouteLimitExceeded", "RunInstances": "InstanceLimitExceeded", "CreateTags": "TagLimitExceeded",
	"CreateNatGateway": "NatGatewayLimitExceeded",
}

func quotaReached(c Call) *service.Error {
	switch c.Service {
	case "ec2":
		code := ec2Quotas[c.Operation]
		if code == "" {
			code = strings.TrimPrefix(c.Operation, "Create") + "LimitExceeded"
		}
		return service.Refuse(code, "The maximum number for %s has been reached.", c.Operation)
	case "eks":
		return service.Refuse("ResourceLimitExceededException", "A service limit on the specified resource was reached.")
	case "iam":
		return service.RefuseStatus(http.StatusConflict, "LimitExceeded", "Cannot exceed quota.")
	case "s3":
		return service.Refuse("TooManyBuckets", "You have attempted to create more buckets than allowed")
	case "rds":
		return service.Refuse("InstanceQuotaExceeded", "The request would result in the user exceeding the allowed number of DB instances.")
	}
	return service.Refuse("LimitExceededException", "A limit was reached.")
}
