package wire

import (
	"encoding/base64"
	"fmt"
	"reflect"
	"strconv"
	"time"
)

var timeType = reflect.TypeFor[time.Time]()

// xmlTime is how the query protocols write times, in UTC.
const xmlTime = "2006-01-02T15:04:05.000Z"

// setText sets a scalar from its textual form in forms, paths and queries.
func setText(v reflect.Value, text string) error {
	switch {
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return setText(v.Elem(), text)
	case v.Type() == timeType:
		at, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			return err
		}
		v.Set(reflect.ValueOf(at.UTC()))
		return nil
	case v.Kind() == reflect.Slice: // of bytes, lists are no scalars
		data, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return err
		}
		v.SetBytes(data)
		return nil
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return err
		}
		v.SetBool(b)
	case reflect.Int32, reflect.Int64:
		n, err := strconv.ParseInt(text, 10, v.Type().Bits())
		if err != nil {
			return err
		}
		v.SetInt(n)
	case reflect.Float32, reflect.Float64:
		f, err := strconv.ParseFloat(text, v.Type().Bits())
		if err != nil {
			return err
		}
		v.SetFloat(f)
	default:
		return fmt.Errorf("type %s is not understood", v.Type())
	}
	return nil
}

// text is the textual form of a scalar in XML.
func text(v reflect.Value) (string, error) {
	if v.Type() == timeType {
		return v.Interface().(time.Time).UTC().Format(xmlTime), nil
	}
	switch v.Kind() {
	case reflect.String:
		return v.String(), nil
	case reflect.Bool:
		return strconv.FormatBool(v.Bool()), nil
	case reflect.Int32, reflect.Int64:
		return strconv.FormatInt(v.Int(), 10), nil
	case reflect.Float32, reflect.Float64:
		return strconv.FormatFloat(v.Float(), 'g', -1, v.Type().Bits()), nil
	case reflect.Slice:
		return base64.StdEncoding.EncodeToString(v.Bytes()), nil
	}
	return "", fmt.Errorf("type %s is not understood", v.Type())
}

// unset reports a member that an answer leaves out: a nil pointer, list or
// map, and an enum without a value. Plain numbers and booleans always have one.
func unset(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface:
		return v.IsNil()
	case reflect.String:
		return v.Len() == 0
	}
	return false
}
