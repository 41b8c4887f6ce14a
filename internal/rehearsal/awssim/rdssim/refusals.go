package rdssim

import (
	"encoding/base64"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/rds/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// Codes are those that RDS sends, of which some lack the ending that the
// names of their faults have.

func invalidValue(format string, args ...any) error {
	return service.Refuse("InvalidParameterValue", format, args...)
}

func invalidCombination(format string, args ...any) error {
	return service.Refuse("InvalidParameterCombination", format, args...)
}

func absent(code, format string, args ...any) error {
	return service.RefuseStatus(http.StatusNotFound, code, format, args...)
}

func noInstance(id string) error { return absent("DBInstanceNotFound", "DBInstance %s not found.", id) }

var identifierPattern = regexp.MustCompile(`^[a-z](-?[a-z0-9])*$`)

// identifier is a name in the lower case in which RDS keeps all.
func identifier(member string, value *string, most int) (string, error) {
	id := strings.ToLower(aws.ToString(value))
	if len(id) > most || !identifierPattern.MatchString(id) {
		return "", invalidValue("The parameter %s is not a valid identifier. Identifiers must begin with a letter; "+
			"must contain only ASCII letters, digits, and hyphens; and must not end with a hyphen or contain two consecutive hyphens.", member)
	}
	return id, nil
}

// page cuts one answer out of the sorted ids.
func page(ids []string, marker *string, max *int32) (part []string, next *string, err error) {
	size := 100
	if max != nil {
		if size = int(*max); size < 20 || size > 100 {
			return nil, nil, invalidValue("Invalid value %d for MaxRecords. Must be between 20 and 100", size)
		}
	}
	last, err := base64.RawURLEncoding.DecodeString(aws.ToString(marker))
	if err != nil {
		return nil, nil, invalidValue("Marker provided is not valid")
	}
	ids = slices.DeleteFunc(ids, func(id string) bool { return id <= string(last) })
	if len(ids) <= size {
		return ids, nil, nil
	}
	return ids[:size], aws.String(base64.RawURLEncoding.EncodeToString([]byte(ids[size-1]))), nil
}

// filtered reports whether what has the values by filter names is asked for.
func filtered(filters []types.Filter, values map[string]string) (bool, error) {
	for _, f := range filters {
		has, known := values[aws.ToString(f.Name)]
		if !known {
			return false, invalidValue("Unrecognized filter name: %s", aws.ToString(f.Name))
		}
		if !slices.Contains(f.Values, has) {
			return false, nil
		}
	}
	return true, nil
}
