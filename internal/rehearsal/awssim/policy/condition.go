package policy

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
)

// condition is one operator on one key.
type condition struct {
	key      string
	wanted   []string
	compare  func(want, is string) bool
	negated  bool
	ifExists bool
	forAll   bool // ForAllValues
	forAny   bool // ForAnyValue
	null     bool // Null: wanted are booleans about the key's absence
}

func compileConditions(raw map[string]map[string]values) ([]condition, error) {
	var out []condition
	for _, operator := range slices.Sorted(maps.Keys(raw)) {
		for _, key := range slices.Sorted(maps.Keys(raw[operator])) {
			c, err := compileCondition(operator, key, raw[operator][key])
			if err != nil {
				return nil, err
			}
			out = append(out, c)
		}
	}
	return out, nil
}

func compileCondition(operator, key string, wanted []string) (condition, error) {
	c := condition{key: key, wanted: wanted}
	if key == "" || len(wanted) == 0 {
		return c, errors.New("a condition has no key or no values")
	}
	name := operator
	if rest, ok := strings.CutPrefix(name, "ForAllValues:"); ok {
		c.forAll, name = true, rest
	} else if rest, ok := strings.CutPrefix(name, "ForAnyValue:"); ok {
		c.forAny, name = true, rest
	}
	name, c.ifExists = strings.CutSuffix(name, "IfExists")
	if name == "Null" {
		c.null = true
		if c.ifExists {
			return c, errors.New("the condition operator Null cannot have IfExists")
		}
		return c, nil
	}
	op, known := operators[strings.ToLower(name)]
	if !known {
		return c, fmt.Errorf("the condition operator %q is unknown", operator)
	}
	c.compare, c.negated = op.compare, op.negated
	return c, nil
}

type operator struct {
	compare func(want, is string) bool
	negated bool
}

// IAM User Guide, "IAM JSON policy elements: Condition operators".
var operators = map[string]operator{
	"stringequals":              {equal, false},
	"stringnotequals":           {equal, true},
	"stringequalsignorecase":    {strings.EqualFold, false},
	"stringnotequalsignorecase": {strings.EqualFold, true},
	"stringlike":                {glob, false},
	"stringnotlike":             {glob, true},
	"numericequals":             {numbers(func(o int) bool { return o == 0 }), false},
	"numericnotequals":          {numbers(func(o int) bool { return o == 0 }), true},
	"numericlessthan":           {numbers(func(o int) bool { return o < 0 }), false},
	"numericlessthanequals":     {numbers(func(o int) bool { return o <= 0 }), false},
	"numericgreaterthan":        {numbers(func(o int) bool { return o > 0 }), false},
	"numericgreaterthanequals":  {numbers(func(o int) bool { return o >= 0 }), false},
	"dateequals":                {dates(func(o int) bool { return o == 0 }), false},
	"datenotequals":             {dates(func(o int) bool { return o == 0 }), true},
	"datelessthan":              {dates(func(o int) bool { return o < 0 }), false},
	"datelessthanequals":        {dates(func(o int) bool { return o <= 0 }), false},
	"dategreaterthan":           {dates(func(o int) bool { return o > 0 }), false},
	"dategreaterthanequals":     {dates(func(o int) bool { return o >= 0 }), false},
	"bool":                      {strings.EqualFold, false},
	"binaryequals":              {equal, false},
	"ipaddress":                 {inRange, false},
	"notipaddress":              {inRange, true},
	"arnequals":                 {arnGlob, false},
	"arnlike":                   {arnGlob, false},
	"arnnotequals":              {arnGlob, true},
	"arnnotlike":                {arnGlob, true},
}

func equal(want, is string) bool { return want == is }

// numbers compares a value of the request with the policy's; what is no number
// is never so.
func numbers(so func(order int) bool) func(want, is string) bool {
	return func(want, is string) bool {
		w, errW := strconv.ParseFloat(want, 64)
		i, errI := strconv.ParseFloat(is, 64)
		if errW != nil || errI != nil {
			return false
		}
		switch {
		case i < w:
			return so(-1)
		case i > w:
			return so(1)
		}
		return so(0)
	}
}

func dates(so func(order int) bool) func(want, is string) bool {
	return func(want, is string) bool {
		w, okW := parseDate(want)
		i, okI := parseDate(is)
		return okW && okI && so(i.Compare(w))
	}
}

// parseDate reads ISO 8601 as policies write it, or seconds since 1970.
func parseDate(text string) (time.Time, bool) {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04Z07:00", "2006-01-02"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, true
		}
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	return time.Unix(seconds, 0), err == nil
}

func inRange(want, is string) bool {
	ip, err := netip.ParseAddr(is)
	if err != nil {
		return false
	}
	ip = ip.Unmap()
	if prefix, err := netip.ParsePrefix(want); err == nil {
		return prefix.Contains(ip)
	}
	one, err := netip.ParseAddr(want)
	return err == nil && one == ip
}

// holds reports whether the condition is met.
func (c *condition) holds(keys Keys) bool {
	is := keys.values(c.key)
	if c.null {
		return slices.ContainsFunc(c.wanted, func(want string) bool { return strings.EqualFold(want, strconv.FormatBool(len(is) == 0)) })
	}
	switch {
	case len(is) == 0 && c.forAny:
		return false
	case len(is) == 0:
		return c.ifExists || c.forAll || c.negated
	case c.forAll:
		return !slices.ContainsFunc(is, func(one string) bool { return !c.one(one, keys) })
	case c.forAny:
		return slices.ContainsFunc(is, func(one string) bool { return c.one(one, keys) })
	}
	// A key with several values and an operator without a qualifier: AWS
	// documents none of it, so any value counts for a positive operator and
	// every value for a negated one.
	if c.negated {
		return !slices.ContainsFunc(is, func(one string) bool { return !c.one(one, keys) })
	}
	return slices.ContainsFunc(is, func(one string) bool { return c.one(one, keys) })
}

// one compares a single value: any of the wanted will do, or none of them may
// match where the operator is negated.
func (c *condition) one(is string, keys Keys) bool {
	matched := slices.ContainsFunc(c.wanted, func(want string) bool {
		want, ok := expand(want, keys)
		return ok && c.compare(want, is)
	})
	return matched != c.negated
}
