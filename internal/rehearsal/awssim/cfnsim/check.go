package cfnsim

import (
	"maps"
	"slices"
	"strings"
)

// check refuses what CloudFormation does before it begins: types it does not
// know, references to nothing, and resources that wait for each other.
func (t *template) check() error {
	var unknown, unresolved []string
	for _, name := range slices.Sorted(maps.Keys(t.Resources)) {
		d := t.Resources[name]
		if d.Type == "" {
			return formatError("[/Resources/%s] Every Resources object must contain a Type member.", name)
		}
		if kinds[d.Type] == nil && !slices.Contains(unknown, d.Type) {
			unknown = append(unknown, d.Type)
		}
		for _, other := range t.needs(d) {
			if _, ok := t.Resources[other]; !ok && !slices.Contains(unresolved, other) {
				unresolved = append(unresolved, other)
			}
		}
		if err := known(d.Properties); err != nil {
			return err
		}
	}
	switch {
	case len(unknown) > 0:
		return formatError("Unrecognized resource types: [%s]", strings.Join(unknown, ", "))
	case len(unresolved) > 0:
		return formatError("Unresolved resource dependencies [%s] in the Resources block of the template", strings.Join(unresolved, ", "))
	}
	for _, name := range slices.Sorted(maps.Keys(t.Outputs)) {
		for _, other := range t.references(t.Outputs[name].Value) {
			if _, ok := t.Resources[other]; !ok {
				return formatError("Unresolved resource dependencies [%s] in the Outputs block of the template", other)
			}
		}
		if err := known(t.Outputs[name].Value); err != nil {
			return err
		}
	}
	_, err := t.order()
	return err
}

// needs lists the resources that one refers to or was said to come after.
func (t *template) needs(d definition) []string {
	all := append(t.references(d.Properties), d.After...)
	slices.Sort(all)
	return slices.Compact(all)
}

// functions are those that templates here may call.
var functions = []string{"Ref", "Fn::GetAtt", "Fn::Sub", "Fn::Join"}

// known refuses functions that are not modelled.
func known(value any) error {
	switch v := value.(type) {
	case []any:
		for _, one := range v {
			if err := known(one); err != nil {
				return err
			}
		}
	case map[string]any:
		for key, one := range v {
			if strings.HasPrefix(key, "Fn::") && !slices.Contains(functions, key) {
				return unmodelled("the function " + key)
			}
			if err := known(one); err != nil {
				return err
			}
		}
	}
	return nil
}

// references lists what a value refers to other than parameters and what
// CloudFormation itself defines.
func (t *template) references(value any) []string {
	var all []string
	add := func(name string) {
		if _, ok := t.Parameters[name]; !ok && !strings.HasPrefix(name, "AWS::") {
			all = append(all, name)
		}
	}
	switch v := value.(type) {
	case []any:
		for _, one := range v {
			all = append(all, t.references(one)...)
		}
	case map[string]any:
		if name, ok := v["Ref"].(string); ok && len(v) == 1 {
			add(name)
			return all
		}
		if target, ok := v["Fn::GetAtt"]; ok && len(v) == 1 {
			if parts := texts(target); len(parts) > 0 {
				name, _, _ := strings.Cut(parts[0], ".")
				add(name)
			}
			return all
		}
		if argument, ok := v["Fn::Sub"]; ok && len(v) == 1 {
			text, own := substitution(argument)
			for _, name := range placeholders(text) {
				if _, ok := own[name]; !ok {
					name, _, _ := strings.Cut(name, ".")
					add(name)
				}
			}
			return append(all, t.references(own)...)
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			all = append(all, t.references(v[key])...)
		}
	}
	return all
}

// order lists the resources so that each comes after those it needs.
func (t *template) order() ([]string, error) {
	var sorted, path []string
	done := map[string]bool{}
	var visit func(name string) error
	visit = func(name string) error {
		if done[name] {
			return nil
		}
		if at := slices.Index(path, name); at >= 0 {
			return invalid("Circular dependency between resources: [%s]", strings.Join(path[at:], ", "))
		}
		path = append(path, name)
		for _, other := range t.needs(t.Resources[name]) {
			if err := visit(other); err != nil {
				return err
			}
		}
		path = path[:len(path)-1]
		done[name] = true
		sorted = append(sorted, name)
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(t.Resources)) {
		if err := visit(name); err != nil {
			return nil, err
		}
	}
	return sorted, nil
}
