package iamsim

import (
	"net/http"
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// Codes and their HTTP statuses are those of the IAM API reference, section
// Errors of each action.

func noSuchEntity(format string, args ...any) error {
	return service.RefuseStatus(http.StatusNotFound, "NoSuchEntity", format, args...)
}

func alreadyExists(format string, args ...any) error {
	return service.RefuseStatus(http.StatusConflict, "EntityAlreadyExists", format, args...)
}

func deleteConflict(format string, args ...any) error {
	return service.RefuseStatus(http.StatusConflict, "DeleteConflict", format, args...)
}

func limitExceeded(format string, args ...any) error {
	return service.RefuseStatus(http.StatusConflict, "LimitExceeded", format, args...)
}

func invalid(member, constraint string) error {
	return service.Refuse("ValidationError",
		"1 validation error detected: Value at '%s' failed to satisfy constraint: %s", member, constraint)
}

const (
	maxRoleName    = 64
	maxProfileName = 128
	maxPolicyName  = 128
)

var (
	namePattern = regexp.MustCompile(`^[\w+=,.@-]+$`)
	pathPattern = regexp.MustCompile(`^(/|/[\x21-\x7E]+/)$`)
)

// checkName returns the name a request must carry, within IAM's alphabet and length.
func checkName(member string, value *string, limit int) (string, error) {
	name := aws.ToString(value)
	switch {
	case name == "":
		return "", invalid(member, "Member must not be null or empty")
	case len(name) > limit:
		return "", service.Refuse("ValidationError",
			"1 validation error detected: Value '%s' at '%s' failed to satisfy constraint: Member must have length less than or equal to %d",
			name, member, limit)
	case !namePattern.MatchString(name):
		return "", invalid(member, `Member must satisfy regular expression pattern: [\w+=,.@-]+`)
	}
	return name, nil
}

func checkPath(value *string) (string, error) {
	if value == nil {
		return "/", nil
	}
	if len(*value) > 512 || !pathPattern.MatchString(*value) {
		return "", invalid("path", "Member must begin and end with a slash and have length less than or equal to 512")
	}
	return *value, nil
}

// sameName reports whether IAM takes two names for one: it ignores case when
// it decides on uniqueness ("IAM API, CreateRole").
func sameName(a, b string) bool { return strings.EqualFold(a, b) }
