package ec2sim

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// fields are the filter names that a describe call knows, each with the values
// that a resource has for it. A resource passes a filter if one of its values
// matches one of the filter's.
type fields[R any] struct {
	by map[string]func(*place, R) []string
	// tags are what "tag:<key>" looks at; nil if the call does not know it.
	tags func(R) tags
}

// tagged is fields.tags for resources.
func tagged[R resource](r R) tags { return r.head().Tags }

// tagKeys is the filter field tag-key.
func tagKeys[R resource](_ *place, r R) []string { return r.head().Tags.keys() }

// EC2 API, Filter.
const (
	mostFilters      = 50
	mostFilterValues = 200
)

// check refuses filters that the call does not know.
func (f fields[R]) check(filters []types.Filter) error {
	if len(filters) > mostFilters {
		return service.Refuse("FilterLimitExceeded", "The maximum number of filters is %d", mostFilters)
	}
	for _, filter := range filters {
		name := aws.ToString(filter.Name)
		if len(filter.Values) > mostFilterValues {
			return service.Refuse("FilterLimitExceeded", "The maximum number of filter values specified on a single call is %d", mostFilterValues)
		}
		if key, is := strings.CutPrefix(name, "tag:"); is && key != "" && f.tags != nil {
			continue
		}
		if f.by[name] == nil {
			return invalid("The filter '%s' is invalid", nameOrNull(name))
		}
	}
	return nil
}

// nameOrNull spells an absent name as EC2 does.
func nameOrNull(name string) string {
	if name == "" {
		return "null"
	}
	return name
}

// match reports whether the resource passes every filter. The filters have
// passed check.
func (f fields[R]) match(p *place, r R, filters []types.Filter) bool {
	for _, filter := range filters {
		has := f.values(p, r, aws.ToString(filter.Name))
		if !slices.ContainsFunc(filter.Values, func(want string) bool { return matchesAny(want, has) }) {
			return false
		}
	}
	return true
}

func (f fields[R]) values(p *place, r R, name string) []string {
	if key, is := strings.CutPrefix(name, "tag:"); is {
		if value, has := f.tags(r)[key]; has {
			return []string{value}
		}
		return nil
	}
	// A member that is not set has no value, which differs from an empty one:
	// an empty filter value must not find it.
	return slices.DeleteFunc(f.by[name](p, r), func(v string) bool { return v == "" })
}

// matchesAny reports whether one of the values matches the pattern, in which *
// stands for any characters, ? for one, and a backslash takes that meaning away.
func matchesAny(pattern string, values []string) bool {
	if !strings.ContainsAny(pattern, `*?\`) {
		return slices.Contains(values, pattern)
	}
	var expression strings.Builder
	literal := false
	for _, r := range pattern {
		switch {
		case literal:
			expression.WriteString(regexp.QuoteMeta(string(r)))
			literal = false
		case r == '\\':
			literal = true
		case r == '*':
			expression.WriteString(`.*`)
		case r == '?':
			expression.WriteString(`.`)
		default:
			expression.WriteString(regexp.QuoteMeta(string(r)))
		}
	}
	if literal {
		expression.WriteString(`\\`)
	}
	whole, err := regexp.Compile(`(?s)\A` + expression.String() + `\z`)
	return err == nil && slices.ContainsFunc(values, whole.MatchString)
}

// one makes a filter field of a member with a single value.
func one[R any](value func(R) string) func(*place, R) []string {
	return func(_ *place, r R) []string { return []string{value(r)} }
}

// always makes a filter field with the same value for every resource.
func always[R any](value string) func(*place, R) []string {
	return func(*place, R) []string { return []string{value} }
}

// owner is the filter field owner-id.
func owner[R any](p *place, _ R) []string { return []string{p.account()} }

func boolean[R any](value func(R) bool) func(*place, R) []string {
	return func(_ *place, r R) []string { return []string{strconv.FormatBool(value(r))} }
}
