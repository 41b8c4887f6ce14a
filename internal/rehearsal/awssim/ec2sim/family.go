package ec2sim

import (
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// kind is what EC2 calls a type of resource, and how it refuses its ids.
type kind struct {
	typ       string // resource type, as in ARNs and tag specifications
	prefix    string // of ids
	param     string // request parameter that names one
	absent    string // message about an id that does not exist
	notFound  string // code for it
	malformed string // code for an id of the wrong form; empty if EC2 has none
}

var idDigits = regexp.MustCompile(`^([0-9a-f]{8}|[0-9a-f]{17})$`)

// unknown is the refusal of an id that names nothing.
func (k kind) unknown(id string) error {
	digits, ok := strings.CutPrefix(id, k.prefix)
	if k.malformed != "" && (!ok || !idDigits.MatchString(digits)) {
		return service.Refuse(k.malformed, "Invalid id: %q (expecting \"%s...\")", id, k.prefix)
	}
	return service.Refuse(k.notFound, k.absent, id)
}

// inUse is the refusal to delete what others depend on.
func (k kind) inUse(id string) error {
	noun := strings.TrimSuffix(k.param, "Id")
	return service.Refuse("DependencyViolation", "The %s '%s' has dependencies and cannot be deleted.", noun, id)
}

// missing is the refusal of a request without a required parameter.
func missing(parameter string) error {
	return service.Refuse("MissingParameter", "The request must contain the parameter %s", parameter)
}

// invalid is the refusal of a parameter's value.
func invalid(format string, args ...any) error {
	return service.Refuse("InvalidParameterValue", format, args...)
}

// get looks up the resource that a required parameter names.
func get[R resource](k kind, table map[string]R, id *string) (R, error) {
	var none R
	if id == nil || *id == "" {
		return none, missing(k.param)
	}
	r, ok := table[*id]
	if !ok {
		return none, k.unknown(*id)
	}
	return r, nil
}

// family is a kind that can be listed.
type family[R resource] struct {
	kind
	fields[R]
	maxPage int32 // largest MaxResults
}

// selection is what describe calls have in common.
type selection struct {
	ids     []string
	filters []types.Filter
	max     *int32
	token   *string
}

// list answers a describe call: the resources with the ids, or all, that pass
// every filter, one page of them. An id that does not exist is an error, a
// filter that matches nothing is not.
func (f *family[R]) list(p *place, table map[string]R, sel selection) ([]R, *string, error) {
	for _, id := range sel.ids {
		if _, ok := table[id]; !ok {
			return nil, nil, f.unknown(id)
		}
	}
	if err := f.check(sel.filters); err != nil {
		return nil, nil, err
	}
	var found []R
	for _, r := range sorted(table) {
		if len(sel.ids) > 0 && !slices.Contains(sel.ids, r.head().ID) {
			continue
		}
		if f.match(p, r, sel.filters) {
			found = append(found, r)
		}
	}
	return page(found, func(r R) string { return r.head().ID }, f.maxPage, sel)
}
