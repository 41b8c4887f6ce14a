package wire

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"reflect"
	"slices"
	"time"
)

// decodeJSON fills a struct from a JSON body; no body is an empty object.
func (a *API) decodeJSON(body []byte, v reflect.Value) error {
	if len(bytes.TrimSpace(body)) == 0 {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return &Malformed{Member: "body", Cause: err}
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return &Malformed{Member: "body", Cause: errors.New("more follows the JSON value")}
	}
	return a.fromJSON("", value, v)
}

func (a *API) fromJSON(path string, value any, v reflect.Value) error {
	if value == nil {
		return nil // AWS takes null for absent
	}
	typ := v.Type()
	switch {
	case typ.Kind() == reflect.Pointer:
		v.Set(reflect.New(typ.Elem()))
		return a.fromJSON(path, value, v.Elem())
	case typ.Kind() == reflect.Struct && typ != timeType:
		object, ok := value.(map[string]any)
		if !ok {
			return mismatch(path, value, "an object")
		}
		return a.structFromJSON(path, object, v)
	case isList(typ):
		list, ok := value.([]any)
		if !ok {
			return mismatch(path, value, "a list")
		}
		v.Set(reflect.MakeSlice(typ, len(list), len(list)))
		for i, one := range list {
			if err := a.fromJSON(fmt.Sprintf("%s[%d]", path, i), one, v.Index(i)); err != nil {
				return err
			}
		}
		return nil
	case typ.Kind() == reflect.Map:
		object, ok := value.(map[string]any)
		if !ok {
			return mismatch(path, value, "an object")
		}
		v.Set(reflect.MakeMap(typ))
		for key, one := range object {
			element := reflect.New(typ.Elem()).Elem()
			if err := a.fromJSON(join(path, key), one, element); err != nil {
				return err
			}
			v.SetMapIndex(reflect.ValueOf(key).Convert(typ.Key()), element)
		}
		return nil
	}
	return scalarFromJSON(path, value, v)
}

func (a *API) structFromJSON(path string, object map[string]any, v reflect.Value) error {
	fields := map[string]field{}
	for _, f := range a.fields(v.Type()) {
		fields[f.in] = f
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		f, ok := fields[name]
		if !ok {
			return &UnknownMember{Member: join(path, name)}
		}
		if err := a.fromJSON(join(path, name), object[name], v.Field(f.index)); err != nil {
			return err
		}
	}
	return nil
}

func scalarFromJSON(path string, value any, v reflect.Value) error {
	if v.Type() == timeType {
		number, ok := value.(json.Number)
		if !ok {
			return mismatch(path, value, "a time in seconds")
		}
		seconds, err := number.Float64()
		if err != nil {
			return &Malformed{Member: path, Cause: err}
		}
		v.Set(reflect.ValueOf(time.UnixMilli(int64(math.Round(seconds * 1000))).UTC()))
		return nil
	}
	var text string
	switch one := value.(type) {
	case string:
		if kind := v.Kind(); kind != reflect.String && kind != reflect.Slice {
			return mismatch(path, value, v.Kind().String())
		}
		text = one
	case bool:
		if v.Kind() != reflect.Bool {
			return mismatch(path, value, v.Kind().String())
		}
		text = fmt.Sprint(one)
	case json.Number:
		if !v.CanInt() && !v.CanFloat() {
			return mismatch(path, value, v.Kind().String())
		}
		text = one.String()
	default:
		return mismatch(path, value, v.Kind().String())
	}
	if err := setText(v, text); err != nil {
		return &Malformed{Member: path, Cause: err}
	}
	return nil
}

func mismatch(path string, value any, want string) error {
	return &Malformed{Member: path, Cause: fmt.Errorf("it is %T where %s is wanted", value, want)}
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// toJSON returns what encoding/json writes for a value of an answer.
func (a *API) toJSON(v reflect.Value) (any, error) {
	typ := v.Type()
	switch {
	case typ.Kind() == reflect.Pointer:
		return a.toJSON(v.Elem())
	case typ == timeType:
		return float64(v.Interface().(time.Time).UnixMilli()) / 1000, nil
	case typ.Kind() == reflect.Struct:
		object := map[string]any{}
		for _, f := range a.fields(typ) {
			if unset(v.Field(f.index)) {
				continue
			}
			value, err := a.toJSON(v.Field(f.index))
			if err != nil {
				return nil, fmt.Errorf("%s.%s: %w", typ.Name(), f.goName, err)
			}
			object[f.out] = value
		}
		return object, nil
	case isList(typ):
		list := make([]any, v.Len())
		for i := range list {
			value, err := a.toJSON(v.Index(i))
			if err != nil {
				return nil, err
			}
			list[i] = value
		}
		return list, nil
	case typ.Kind() == reflect.Map:
		object := map[string]any{}
		for entries := v.MapRange(); entries.Next(); {
			value, err := a.toJSON(entries.Value())
			if err != nil {
				return nil, err
			}
			object[entries.Key().String()] = value
		}
		return object, nil
	case typ.Kind() == reflect.Slice:
		return base64.StdEncoding.EncodeToString(v.Bytes()), nil
	case typ.Kind() == reflect.Interface:
		return nil, fmt.Errorf("type %s is not understood", typ)
	}
	return v.Interface(), nil
}
