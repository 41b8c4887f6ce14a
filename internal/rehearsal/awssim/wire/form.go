package wire

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/krops-go/krops/internal/rehearsal/awssim/wire/spelling"
)

// node is one level of a form's dotted keys: Filter.1.Value.2 is four deep.
type node struct {
	name string
	path string
	text string
	set  bool
	kids map[string]*node
}

func (n *node) kid(name string) *node {
	child, ok := n.kids[name]
	if !ok {
		child = &node{name: name, path: strings.TrimPrefix(n.path+"."+name, "."), kids: map[string]*node{}}
		n.kids[name] = child
	}
	return child
}

// ordered lists the children by name, so that the same request is always
// refused for the same member.
func (n *node) ordered() []*node {
	all := make([]*node, 0, len(n.kids))
	for _, name := range slices.Sorted(maps.Keys(n.kids)) {
		all = append(all, n.kids[name])
	}
	return all
}

// only returns the child of that name and refuses any other.
func (n *node) only(name string) (*node, error) {
	for _, child := range n.ordered() {
		if child.name != name {
			return nil, &UnknownMember{Member: child.path}
		}
	}
	return n.kid(name), nil
}

// maxDepth bounds dotted keys; the deepest SDK input has about ten levels.
const maxDepth = 32

func (a *API) decodeForm(form url.Values, v reflect.Value) error {
	root := &node{kids: map[string]*node{}}
	for key, values := range form {
		if key == "Action" || key == "Version" {
			continue
		}
		parts := strings.Split(key, ".")
		if len(parts) > maxDepth {
			return &UnknownMember{Member: key}
		}
		if len(values) != 1 {
			return &Malformed{Member: key, Cause: errors.New("it is given more than once")}
		}
		at := root
		for _, part := range parts {
			at = at.kid(part)
		}
		at.text, at.set = values[0], true
	}
	return a.formStruct(root, v)
}

func (a *API) formStruct(n *node, v reflect.Value) error {
	fields := map[string]field{}
	for _, f := range a.fields(v.Type()) {
		fields[f.in] = f
	}
	for _, child := range n.ordered() {
		f, ok := fields[child.name]
		if !ok {
			return &UnknownMember{Member: child.path}
		}
		if err := a.formValue(child, v.Field(f.index), f.item); err != nil {
			return err
		}
	}
	return nil
}

func (a *API) formValue(n *node, v reflect.Value, item string) error {
	typ := v.Type()
	if n.text != "" && (isList(typ) || typ.Kind() == reflect.Map) {
		return &Malformed{Member: n.path, Cause: errors.New("it is a list and has no value of its own")}
	}
	if typ.Kind() == reflect.Pointer && typ.Elem().Kind() == reflect.Struct && typ.Elem() != timeType {
		v.Set(reflect.New(typ.Elem()))
		v, typ = v.Elem(), typ.Elem()
	}
	switch {
	case typ.Kind() == reflect.Struct && typ != timeType:
		if n.text != "" {
			return &Malformed{Member: n.path, Cause: errors.New("it is a structure and has no value of its own")}
		}
		return a.formStruct(n, v)
	case isList(typ):
		return a.formList(n, v, item)
	case typ.Kind() == reflect.Map:
		return a.formMap(n, v)
	}
	for _, child := range n.ordered() {
		return &UnknownMember{Member: child.path}
	}
	if err := setText(v, n.text); err != nil {
		return &Malformed{Member: n.path, Cause: err}
	}
	return nil
}

// formList reads items numbered from one, below the item's name except in
// EC2's dialect. An empty list is sent as the bare key with an empty value.
func (a *API) formList(n *node, v reflect.Value, item string) error {
	items := n
	if a.table.Protocol != spelling.EC2Query {
		var err error
		if items, err = n.only(item); err != nil {
			return err
		}
	}
	ordered, err := items.numbered()
	if err != nil {
		return err
	}
	v.Set(reflect.MakeSlice(v.Type(), len(ordered), len(ordered)))
	for i, one := range ordered {
		if err := a.formValue(one, v.Index(i), ""); err != nil {
			return err
		}
	}
	return nil
}

func (a *API) formMap(n *node, v reflect.Value) error {
	entry, err := n.only("entry")
	if err != nil {
		return err
	}
	entries, err := entry.numbered()
	if err != nil {
		return err
	}
	v.Set(reflect.MakeMap(v.Type()))
	for _, pair := range entries {
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		for _, half := range pair.ordered() {
			part := value
			switch half.name {
			case "key":
				part = key
			case "value":
			default:
				return &UnknownMember{Member: half.path}
			}
			if err := a.formValue(half, part, ""); err != nil {
				return err
			}
		}
		v.SetMapIndex(key, value)
	}
	return nil
}

func (n *node) numbered() ([]*node, error) {
	byNumber := map[int]*node{}
	for _, child := range n.ordered() {
		number, err := strconv.Atoi(child.name)
		if err != nil || number < 1 {
			return nil, &Malformed{Member: child.path, Cause: fmt.Errorf("%q is no position in a list", child.name)}
		}
		if byNumber[number] != nil {
			return nil, &Malformed{Member: child.path, Cause: errors.New("the position is given twice")}
		}
		byNumber[number] = child
	}
	ordered := make([]*node, 0, len(byNumber))
	for _, number := range slices.Sorted(maps.Keys(byNumber)) {
		ordered = append(ordered, byNumber[number])
	}
	return ordered, nil
}
