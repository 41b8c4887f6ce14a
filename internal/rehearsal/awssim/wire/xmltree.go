package wire

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"

	"github.com/krops-go/krops/internal/rehearsal/awssim/wire/spelling"
)

// element is an XML element of a request, names without their namespaces.
type element struct {
	name  string
	attrs map[string]string // xsi:type by that name, whatever its prefix was
	text  string
	kids  []*element
}

const schemaInstance = "http://www.w3.org/2001/XMLSchema-instance"

func parseXML(body []byte) (*element, error) {
	decoder := xml.NewDecoder(bytes.NewReader(body))
	root := &element{}
	open := []*element{root}
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		top := open[len(open)-1]
		switch t := token.(type) {
		case xml.StartElement:
			if len(open) > maxDepth {
				return nil, errors.New("it is nested too deep")
			}
			kid := &element{name: t.Name.Local, attrs: map[string]string{}}
			for _, a := range t.Attr {
				switch {
				case a.Name.Space == schemaInstance:
					kid.attrs["xsi:"+a.Name.Local] = a.Value
				case a.Name.Space != "xmlns" && a.Name.Local != "xmlns":
					kid.attrs[a.Name.Local] = a.Value
				}
			}
			top.kids = append(top.kids, kid)
			open = append(open, kid)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			top.text += string(t)
		}
	}
	if len(root.kids) != 1 {
		return nil, errors.New("it is not one XML element")
	}
	return root.kids[0], nil
}

// fromXML fills a field from its element.
func (a *API) fromXML(e *element, v reflect.Value, name spelling.Name) error {
	typ := v.Type()
	if typ.Kind() == reflect.Pointer {
		v.Set(reflect.New(typ.Elem()))
		return a.fromXML(e, v.Elem(), name)
	}
	switch {
	case typ.Kind() == reflect.Interface:
		return &UnknownMember{Member: e.name}
	case typ.Kind() == reflect.Struct && typ != timeType:
		return a.structFromXML(e, v)
	case isList(typ):
		v.Set(reflect.MakeSlice(typ, 0, len(e.kids)))
		for _, kid := range e.kids {
			if kid.name != name.Item {
				return &UnknownMember{Member: e.name + "." + kid.name}
			}
			if err := a.appendXML(kid, v); err != nil {
				return err
			}
		}
		return nil
	}
	if len(e.kids) > 0 {
		return &UnknownMember{Member: e.name + "." + e.kids[0].name}
	}
	value := e.text
	if typ.Kind() != reflect.String {
		value = strings.TrimSpace(value)
	}
	if typ == timeType && name.HTTPDate {
		at, err := http.ParseTime(value)
		if err != nil {
			return &Malformed{Member: e.name, Cause: err}
		}
		v.Set(reflect.ValueOf(at.UTC()))
		return nil
	}
	if err := setText(v, value); err != nil {
		return &Malformed{Member: e.name, Cause: err}
	}
	return nil
}

func (a *API) appendXML(e *element, list reflect.Value) error {
	one := reflect.New(list.Type().Elem()).Elem()
	if err := a.fromXML(e, one, spelling.Name{}); err != nil {
		return err
	}
	list.Set(reflect.Append(list, one))
	return nil
}

func (a *API) structFromXML(e *element, v reflect.Value) error {
	byName := map[string]int{}
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.IsExported() {
			byName[a.table.Of(v.Type().Name(), f.Name, isList(f.Type)).In] = i
		}
	}
	for attr, value := range e.attrs {
		i, ok := byName[attr]
		if !ok {
			return &UnknownMember{Member: e.name + "@" + attr}
		}
		if err := setText(v.Field(i), value); err != nil {
			return &Malformed{Member: attr, Cause: err}
		}
	}
	for _, kid := range e.kids {
		i, ok := byName[kid.name]
		if !ok {
			return &UnknownMember{Member: e.name + "." + kid.name}
		}
		name := a.table.Of(v.Type().Name(), v.Type().Field(i).Name, isList(v.Field(i).Type()))
		fill := func() error { return a.fromXML(kid, v.Field(i), name) }
		if name.Flat {
			fill = func() error { return a.appendXML(kid, v.Field(i)) }
		}
		if err := fill(); err != nil {
			return err
		}
	}
	return nil
}
