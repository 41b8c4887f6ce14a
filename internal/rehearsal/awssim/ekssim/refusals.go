package ekssim

import (
	"net/http"
	"regexp"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// Codes and their HTTP statuses are those of the EKS API reference, section
// Errors of each action.

func notFound(format string, args ...any) error {
	return service.RefuseStatus(http.StatusNotFound, "ResourceNotFoundException", format, args...)
}

func inUse(format string, args ...any) error {
	return service.RefuseStatus(http.StatusConflict, "ResourceInUseException", format, args...)
}

func invalidRequest(format string, args ...any) error {
	return service.Refuse("InvalidRequestException", format, args...)
}

func invalidParameter(format string, args ...any) error {
	return service.Refuse("InvalidParameterException", format, args...)
}

// notModelled refuses part of a member that is otherwise honoured.
func notModelled(member string) error {
	return invalidParameter("%s is not modelled by the simulated EKS: leave it out", member)
}

var namePattern = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z_-]*$`)

// checkName returns the name a request must carry.
func checkName(member string, value *string, limit int) (string, error) {
	name := aws.ToString(value)
	if len(name) > limit || !namePattern.MatchString(name) {
		return "", invalidParameter("%s %q must have between 1 and %d letters, digits, hyphens and underscores and begin with a letter or digit", member, name, limit)
	}
	return name, nil
}
