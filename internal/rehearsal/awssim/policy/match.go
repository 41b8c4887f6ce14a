package policy

import "strings"

// glob reports whether text matches the pattern, in which * stands for any
// characters and ? for one.
func glob(pattern, text string) bool {
	p, t := 0, 0
	star, mark := -1, 0
	for t < len(text) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, t
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == text[t]):
			p++
			t++
		case star >= 0:
			mark++
			p, t = star+1, mark
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}

const arnParts = 6

// arnGlob matches ARNs part by part: a wildcard does not reach over a colon,
// except in the last part, which may hold colons itself (IAM User Guide, "IAM
// JSON policy elements: Resource", "Using wildcards in resource ARNs").
func arnGlob(pattern, text string) bool {
	if pattern == "*" {
		return true
	}
	want, is := strings.SplitN(pattern, ":", arnParts), strings.SplitN(text, ":", arnParts)
	if len(want) < arnParts {
		// Too short for an ARN, so it can only be the beginning of some.
		return strings.HasSuffix(pattern, "*") && glob(pattern, text)
	}
	if len(is) < arnParts {
		return false
	}
	for i := range want {
		if !glob(want[i], is[i]) {
			return false
		}
	}
	return true
}

// expand replaces the policy variables of a pattern. A variable without a
// value makes the pattern match nothing, for which it reports false (IAM User
// Guide, "IAM policy elements: Variables and tags").
func expand(pattern string, keys Keys) (string, bool) {
	if !strings.Contains(pattern, "${") {
		return pattern, true
	}
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(pattern, "${")
		b.WriteString(before)
		if !found {
			return b.String(), true
		}
		variable, after, closed := strings.Cut(rest, "}")
		if !closed {
			return "", false
		}
		value, ok := variableValue(variable, keys)
		if !ok {
			return "", false
		}
		b.WriteString(value)
		pattern = after
	}
}

func variableValue(variable string, keys Keys) (string, bool) {
	switch variable {
	case "*", "?", "$":
		return variable, true
	}
	name, otherwise, hasDefault := strings.Cut(variable, ",")
	if found := keys.values(strings.TrimSpace(name)); len(found) == 1 {
		return found[0], true
	}
	return strings.Trim(strings.TrimSpace(otherwise), "'"), hasDefault
}
