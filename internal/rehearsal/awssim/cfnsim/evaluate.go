package cfnsim

import (
	"fmt"
	"regexp"
	"strings"
)

// scope resolves what a template's functions refer to.
type scope struct {
	stack      *stack
	template   *template
	parameters map[string]string
	account    string
}

// value evaluates the functions in a value.
func (s scope) value(v any) (any, error) {
	switch v := v.(type) {
	case []any:
		out := make([]any, 0, len(v))
		for _, one := range v {
			value, err := s.value(one)
			if err != nil {
				return nil, err
			}
			if value != nil {
				out = append(out, value)
			}
		}
		return out, nil
	case map[string]any:
		if len(v) == 1 {
			for name, argument := range v {
				if value, is, err := s.function(name, argument); is {
					return value, err
				}
			}
		}
		out := map[string]any{}
		for key, one := range v {
			value, err := s.value(one)
			if err != nil {
				return nil, err
			}
			if value != nil { // AWS::NoValue takes the property away
				out[key] = value
			}
		}
		return out, nil
	}
	return v, nil
}

func (s scope) function(name string, argument any) (value any, is bool, err error) {
	switch name {
	case "Ref":
		value, err = s.ref(text(argument))
	case "Fn::GetAtt":
		value, err = s.attribute(strings.Join(texts(argument), "."))
	case "Fn::Sub":
		value, err = s.sub(argument)
	case "Fn::Join":
		value, err = s.join(argument)
	default:
		return nil, false, nil
	}
	return value, true, err
}

func (s scope) ref(name string) (any, error) {
	switch name {
	case "AWS::AccountId":
		return s.account, nil
	case "AWS::Region":
		return s.stack.Region, nil
	case "AWS::Partition":
		return "aws", nil
	case "AWS::URLSuffix":
		return "amazonaws.com", nil
	case "AWS::StackName":
		return s.stack.Name, nil
	case "AWS::StackId":
		return s.stack.ID, nil
	case "AWS::NoValue":
		return nil, nil
	}
	if p, ok := s.template.Parameters[name]; ok {
		if p.Type == "CommaDelimitedList" {
			var list []any
			for part := range strings.SplitSeq(s.parameters[name], ",") {
				list = append(list, strings.TrimSpace(part))
			}
			return list, nil
		}
		return s.parameters[name], nil
	}
	r := s.stack.Resources[name]
	if r == nil || r.PhysicalID == "" {
		return nil, fmt.Errorf("unresolved resource %s", name)
	}
	return r.PhysicalID, nil
}

func (s scope) attribute(path string) (any, error) {
	name, attribute, _ := strings.Cut(path, ".")
	r := s.stack.Resources[name]
	if r == nil {
		return nil, fmt.Errorf("unresolved resource %s", name)
	}
	value, ok := r.Attributes[attribute]
	if !ok {
		return nil, fmt.Errorf("requested attribute %s does not exist in schema for %s", attribute, r.Type)
	}
	return value, nil
}

var placeholder = regexp.MustCompile(`\$\{[^}]*\}`)

// placeholders lists what a text for Fn::Sub refers to. ${!x} stands for itself.
func placeholders(text string) []string {
	var names []string
	for _, found := range placeholder.FindAllString(text, -1) {
		if name := strings.TrimSpace(found[2 : len(found)-1]); !strings.HasPrefix(name, "!") {
			names = append(names, name)
		}
	}
	return names
}

// substitution takes the two forms of Fn::Sub apart.
func substitution(argument any) (pattern string, own map[string]any) {
	if list, ok := argument.([]any); ok && len(list) == 2 {
		own, _ = list[1].(map[string]any)
		argument = list[0]
	}
	pattern, _ = argument.(string)
	return pattern, own
}

func (s scope) sub(argument any) (any, error) {
	pattern, own := substitution(argument)
	var failed error
	out := placeholder.ReplaceAllStringFunc(pattern, func(found string) string {
		name := strings.TrimSpace(found[2 : len(found)-1])
		if literal, ok := strings.CutPrefix(name, "!"); ok {
			return "${" + literal + "}"
		}
		var value any
		var err error
		switch mine, ok := own[name]; {
		case ok:
			value, err = s.value(mine)
		case strings.Contains(name, ".") && !strings.HasPrefix(name, "AWS::"):
			value, err = s.attribute(name)
		default:
			value, err = s.ref(name)
		}
		if err != nil {
			failed = err
		}
		return text(value)
	})
	return out, failed
}

func (s scope) join(argument any) (any, error) {
	list, ok := argument.([]any)
	if !ok || len(list) != 2 {
		return nil, fmt.Errorf("Fn::Join wants a delimiter and a list")
	}
	parts, err := s.value(list[1])
	if err != nil {
		return nil, err
	}
	return strings.Join(texts(parts), text(list[0])), nil
}
