package wire

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// xmlWriter builds an answer of the query protocols.
type xmlWriter struct {
	api *API
	buf bytes.Buffer
}

func (w *xmlWriter) open(name string)  { w.buf.WriteString("<" + name + ">") }
func (w *xmlWriter) close(name string) { w.buf.WriteString("</" + name + ">") }

func (w *xmlWriter) text(name, text string) {
	w.open(name)
	_ = xml.EscapeText(&w.buf, []byte(text)) // a bytes.Buffer takes everything
	w.close(name)
}

func (w *xmlWriter) members(v reflect.Value) error {
	for _, f := range w.api.fields(v.Type()) {
		if f.attr || unset(v.Field(f.index)) {
			continue
		}
		if err := w.value(f, v.Field(f.index)); err != nil {
			return fmt.Errorf("%s.%s: %w", v.Type().Name(), f.goName, err)
		}
	}
	return nil
}

// emptyLists writes the lists of an answer that hold nothing. EC2 does not
// leave them out, and clients tell an empty list from none.
func (w *xmlWriter) emptyLists(v reflect.Value) {
	for _, f := range w.api.fields(v.Type()) {
		if one := v.Field(f.index); isList(one.Type()) && one.IsNil() {
			w.open(f.out)
			w.close(f.out)
		}
	}
}

func (w *xmlWriter) value(f field, v reflect.Value) error {
	typ := v.Type()
	name := f.out
	switch {
	case typ.Kind() == reflect.Pointer:
		return w.value(f, v.Elem())
	case typ.Kind() == reflect.Struct && typ != timeType:
		w.buf.WriteString("<" + name + w.attributes(v) + ">")
		if err := w.members(v); err != nil {
			return err
		}
		w.close(name)
		return nil
	case isList(typ) && f.flat:
		return w.items(name, v)
	case isList(typ):
		w.open(name)
		if err := w.items(f.item, v); err != nil {
			return err
		}
		w.close(name)
		return nil
	case typ.Kind() == reflect.Map:
		return w.dictionary(name, v)
	}
	text, err := text(v)
	if err != nil {
		return err
	}
	w.text(name, text)
	return nil
}

func (w *xmlWriter) items(name string, v reflect.Value) error {
	for i := range v.Len() {
		if err := w.value(field{out: name}, v.Index(i)); err != nil {
			return err
		}
	}
	return nil
}

func (w *xmlWriter) dictionary(name string, v reflect.Value) error {
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	w.open(name)
	for _, key := range keys {
		w.open("entry")
		w.text("key", key.String())
		if err := w.value(field{out: "value"}, v.MapIndex(key)); err != nil {
			return err
		}
		w.close("entry")
	}
	w.close(name)
	return nil
}
