package wire

import (
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strings"
)

// route matches method and escaped path against the templates. Where two
// match, the one with more literal segments wins.
func (a *API) route(r *Request, t *Target) {
	segments := strings.Split(r.Path, "/")
	best := -1
	for operation, b := range a.table.Operations {
		if b.Method != r.Method {
			continue
		}
		labels, literals, ok := match(strings.Split(b.URI, "/"), segments)
		if ok && literals > best {
			t.Operation, t.Known, t.labels, best = operation, true, labels, literals
		}
	}
}

func match(template, segments []string) (labels map[string]string, literals int, ok bool) {
	if len(template) != len(segments) {
		return nil, 0, false
	}
	labels = map[string]string{}
	for i, part := range template {
		if !strings.HasPrefix(part, "{") {
			if part != segments[i] {
				return nil, 0, false
			}
			literals++
			continue
		}
		value, err := url.PathUnescape(segments[i])
		if err != nil || value == "" {
			return nil, 0, false
		}
		labels[strings.Trim(part, "{}")] = value
	}
	return labels, literals, true
}

// decodeREST takes what the binding puts into path and query from there and
// the rest from the body.
func (t Target) decodeREST(r *Request, v reflect.Value) error {
	binding := t.API.table.Operations[t.Operation]
	if err := t.API.decodeJSON(r.Body, v); err != nil {
		return err
	}
	byName := map[string]field{}
	for _, f := range t.API.fields(v.Type()) {
		byName[f.in] = f
	}
	for label, value := range t.labels {
		if err := setText(v.Field(byName[label].index), value); err != nil {
			return &Malformed{Member: label, Cause: err}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Query)) {
		values := r.Query[name]
		if !slices.Contains(binding.Query, name) {
			return &UnknownMember{Member: name}
		}
		if err := setQuery(v.Field(byName[name].index), values); err != nil {
			return &Malformed{Member: name, Cause: err}
		}
	}
	return nil
}

func setQuery(v reflect.Value, values []string) error {
	if !isList(v.Type()) {
		return setText(v, values[0])
	}
	v.Set(reflect.MakeSlice(v.Type(), len(values), len(values)))
	for i, value := range values {
		if err := setText(v.Index(i), value); err != nil {
			return err
		}
	}
	return nil
}
