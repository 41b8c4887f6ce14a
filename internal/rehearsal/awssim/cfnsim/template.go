package cfnsim

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// template is a template as it was read. Values are strings, numbers,
// booleans, lists and maps; functions are maps of one entry in their long form.
type template struct {
	Description string
	Parameters  map[string]parameter
	Resources   map[string]definition
	Outputs     map[string]output
}

type parameter struct {
	Type, Description string
	Default           *string
	Allowed           []string
	NoEcho            bool
}

type definition struct {
	Type       string
	Properties map[string]any
	After      []string // logical ids it was said to depend on
	Retained   bool     // when it is deleted
}

type output struct {
	Description string
	Value       any
	Export      any
}

func invalid(format string, args ...any) error {
	return service.Refuse("ValidationError", format, args...)
}

func formatError(format string, args ...any) error {
	return invalid("Template format error: "+format, args...)
}

// unmodelled refuses what templates can have and this package does not know.
func unmodelled(what string) error {
	return formatError("the simulated CloudFormation does not model %s", what)
}

const maxTemplate = 51200 // bytes, "AWS CloudFormation quotas"

func parse(body string) (*template, error) {
	if len(body) > maxTemplate {
		return nil, invalid("1 validation error detected: Value at 'templateBody' failed to satisfy constraint: "+
			"Member must have length less than or equal to %d", maxTemplate)
	}
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(body), &document); err != nil {
		return nil, formatError("YAML not well-formed. (%v)", err)
	}
	if len(document.Content) != 1 || document.Content[0].Kind != yaml.MappingNode {
		return nil, formatError("unsupported structure.")
	}
	value, err := valueOf(document.Content[0])
	if err != nil {
		return nil, err
	}
	return templateOf(value.(map[string]any))
}

// valueOf reads a node. Short forms of functions become long ones, and dates
// stay text, as the version of a policy is one.
func valueOf(n *yaml.Node) (any, error) {
	if n.Kind == yaml.AliasNode {
		return nil, formatError("YAML aliases are not allowed in CloudFormation templates")
	}
	if name, short := strings.CutPrefix(n.Tag, "!"); short && !strings.HasPrefix(name, "!") {
		return function(name, n)
	}
	switch n.Kind {
	case yaml.MappingNode:
		object := map[string]any{}
		for i := 0; i < len(n.Content); i += 2 {
			value, err := valueOf(n.Content[i+1])
			if err != nil {
				return nil, err
			}
			object[n.Content[i].Value] = value
		}
		return object, nil
	case yaml.SequenceNode:
		list := make([]any, 0, len(n.Content))
		for _, item := range n.Content {
			value, err := valueOf(item)
			if err != nil {
				return nil, err
			}
			list = append(list, value)
		}
		return list, nil
	}
	switch n.Tag {
	case "!!timestamp", "!!str":
		return n.Value, nil
	}
	if n.Tag == "!!int" || n.Tag == "!!float" { // as JSON gives numbers back
		var number float64
		if err := n.Decode(&number); err != nil {
			return nil, formatError("YAML not well-formed. (%v)", err)
		}
		return number, nil
	}
	var value any
	if err := n.Decode(&value); err != nil {
		return nil, formatError("YAML not well-formed. (%v)", err)
	}
	return value, nil
}

// text is the textual form of a value.
func text(value any) string {
	if number, ok := value.(float64); ok {
		return strconv.FormatFloat(number, 'f', -1, 64)
	}
	return fmt.Sprint(value)
}

func function(name string, n *yaml.Node) (any, error) {
	plain := *n
	plain.Tag = ""
	if plain.Kind == yaml.ScalarNode {
		plain.Tag = "!!str"
	}
	argument, err := valueOf(&plain)
	if err != nil {
		return nil, err
	}
	if name == "Ref" || name == "Condition" {
		return map[string]any{name: argument}, nil
	}
	if path, ok := argument.(string); ok && name == "GetAtt" {
		resource, attribute, _ := strings.Cut(path, ".")
		argument = []any{resource, attribute}
	}
	return map[string]any{"Fn::" + name: argument}, nil
}

func templateOf(sections map[string]any) (*template, error) {
	t := &template{Parameters: map[string]parameter{}, Resources: map[string]definition{}, Outputs: map[string]output{}}
	for _, name := range slices.Sorted(maps.Keys(sections)) {
		var err error
		switch section := sections[name]; name {
		case "AWSTemplateFormatVersion":
			if section != "2010-09-09" {
				err = formatError("Template format version %v is not supported", section)
			}
		case "Description":
			t.Description = text(section)
		case "Metadata":
		case "Parameters":
			err = each(section, name, t.parameter)
		case "Resources":
			err = each(section, name, t.resource)
		case "Outputs":
			err = each(section, name, t.output)
		case "Conditions", "Mappings", "Rules", "Transform":
			err = unmodelled(name)
		default:
			err = formatError("Invalid template property or properties [%s]", name)
		}
		if err != nil {
			return nil, err
		}
	}
	if len(t.Resources) == 0 {
		return nil, formatError("At least one Resources member must be defined.")
	}
	return t, t.check()
}

// each calls read for every entry of a section, in order.
func each(section any, name string, read func(key string, entry map[string]any) error) error {
	entries, ok := section.(map[string]any)
	if !ok {
		return formatError("%s must be an object", name)
	}
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		entry, ok := entries[key].(map[string]any)
		if !ok {
			return formatError("[/%s/%s] is not an object", name, key)
		}
		if err := read(key, entry); err != nil {
			return err
		}
	}
	return nil
}

func (t *template) parameter(name string, entry map[string]any) error {
	p := parameter{}
	for _, key := range slices.Sorted(maps.Keys(entry)) {
		switch value := entry[key]; key {
		case "Type":
			p.Type = text(value)
		case "Description":
			p.Description = text(value)
		case "Default":
			p.Default = new(text(value))
		case "NoEcho":
			p.NoEcho = text(value) == "true"
		case "AllowedValues":
			allowed, _ := value.([]any)
			for _, one := range allowed {
				p.Allowed = append(p.Allowed, text(one))
			}
		case "ConstraintDescription":
		default:
			return unmodelled(key + " of a parameter")
		}
	}
	if !slices.Contains([]string{"String", "Number", "CommaDelimitedList"}, p.Type) {
		return unmodelled("parameters of type " + p.Type)
	}
	t.Parameters[name] = p
	return nil
}

func (t *template) resource(name string, entry map[string]any) error {
	d := definition{Properties: map[string]any{}}
	for _, key := range slices.Sorted(maps.Keys(entry)) {
		switch value := entry[key]; key {
		case "Type":
			d.Type = text(value)
		case "Properties":
			properties, ok := value.(map[string]any)
			if !ok {
				return formatError("[/Resources/%s/Properties] is not an object", name)
			}
			d.Properties = properties
		case "DependsOn":
			d.After = texts(value)
		case "DeletionPolicy":
			if value != "Delete" && value != "Retain" {
				return formatError("Unrecognized DeletionPolicy %v for resource %s", value, name)
			}
			d.Retained = value == "Retain"
		case "Metadata":
		default:
			return unmodelled(key + " of a resource")
		}
	}
	t.Resources[name] = d
	return nil
}

func (t *template) output(name string, entry map[string]any) error {
	o := output{}
	for _, key := range slices.Sorted(maps.Keys(entry)) {
		switch value := entry[key]; key {
		case "Description":
			o.Description = text(value)
		case "Value":
			o.Value = value
		case "Export":
			export, _ := value.(map[string]any)
			o.Export = export["Name"]
		default:
			return unmodelled(key + " of an output")
		}
	}
	if o.Value == nil {
		return formatError("Output %s is malformed. The Value field of every Outputs member must be specified", name)
	}
	t.Outputs[name] = o
	return nil
}

// texts reads what may be one text or a list of them.
func texts(value any) []string {
	switch v := value.(type) {
	case string:
		return []string{v}
	case []any:
		var all []string
		for _, one := range v {
			all = append(all, text(one))
		}
		return all
	}
	return nil
}
