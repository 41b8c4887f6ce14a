package faults

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// Hidden is the new resources that are not visible yet. It is not safe for
// concurrent use: the account's lock guards it.
type Hidden struct{ list []hidden }

type hidden struct {
	service, region, value string
	fields                 []string // that may name it; empty for any field
	refusal                *service.Error
	until                  time.Time
}

// Hide hides what a call made until then.
func (h *Hidden) Hide(c Call, in, out any, until time.Time) {
	made, ok := madeBy(c)
	if !ok {
		return
	}
	value, ok := find(reflect.ValueOf(out), made.field, 3)
	if !ok {
		if value, ok = find(reflect.ValueOf(in), made.field, 1); !ok {
			return
		}
	}
	h.list = append(h.list, hidden{
		service: c.Service, region: c.Region, value: value, fields: made.uses,
		refusal: made.refuse(value), until: until,
	})
}

// Settle forgets what has become visible and returns when the next does.
func (h *Hidden) Settle(now time.Time) time.Time {
	h.list = slices.DeleteFunc(h.list, func(one hidden) bool { return !now.Before(one.until) })
	var next time.Time
	for _, one := range h.list {
		if next.IsZero() || one.until.Before(next) {
			next = one.until
		}
	}
	return next
}

// Refusal returns how a call that names something hidden is refused, or nil.
func (h *Hidden) Refusal(c Call, in any) *service.Error {
	for _, one := range h.list {
		if one.applies(c) && names(reflect.ValueOf(in), one, 3) {
			return one.refusal
		}
	}
	return nil
}

// Prune takes what is hidden out of the lists of an answer.
func (h *Hidden) Prune(c Call, out any) {
	for _, one := range h.list {
		if one.applies(c) {
			prune(reflect.ValueOf(out).Elem(), one)
		}
	}
}

func (one hidden) applies(c Call) bool {
	return one.service == c.Service && (one.region == c.Region || one.service == "iam")
}

func prune(v reflect.Value, one hidden) {
	for i := range v.NumField() {
		list := v.Field(i)
		if !v.Type().Field(i).IsExported() || list.Kind() != reflect.Slice || list.IsNil() {
			continue
		}
		left := reflect.MakeSlice(list.Type(), 0, list.Len())
		for n := range list.Len() {
			item := list.Index(n)
			is := item.Kind() == reflect.String && item.String() == one.value
			if item.Kind() == reflect.Struct {
				is = is || isItself(item, one)
			}
			if !is {
				left = reflect.Append(left, item)
			}
		}
		list.Set(left)
	}
}

// isItself reports that the item of a list is what is hidden.
func isItself(item reflect.Value, one hidden) bool {
	for _, name := range one.own() {
		if f := item.FieldByName(name); f.IsValid() {
			if text, ok := text(f); ok && text == one.value {
				return true
			}
		}
	}
	return false
}

func (one hidden) own() []string {
	if len(one.fields) > 0 {
		return append([]string{"Name"}, one.fields...)
	}
	for _, name := range ec2Made {
		if one.value != "" && strings.HasPrefix(one.value, name.prefix) {
			return []string{name.field}
		}
	}
	return nil
}

// names reports that a request names what is hidden.
func names(v reflect.Value, one hidden, depth int) bool {
	v = reflect.Indirect(v)
	if v.Kind() != reflect.Struct || depth == 0 {
		return false
	}
	for i := range v.NumField() {
		f, t := v.Field(i), v.Type().Field(i)
		if !t.IsExported() || len(one.fields) > 0 && !slices.Contains(one.fields, t.Name) || t.Name == "Filters" || t.Name == "Filter" {
			continue
		}
		if text, ok := text(f); ok && text == one.value {
			return true
		}
		if list, ok := f.Interface().([]string); ok && slices.Contains(list, one.value) {
			return true
		}
		if f.Kind() == reflect.Pointer && names(f, one, depth-1) {
			return true
		}
	}
	return false
}

// find returns the string in the field of that name.
func find(v reflect.Value, name string, depth int) (string, bool) {
	v = reflect.Indirect(v)
	if v.Kind() != reflect.Struct || depth == 0 {
		return "", false
	}
	if f := v.FieldByName(name); f.IsValid() {
		if value, ok := text(f); ok {
			return value, true
		}
	}
	for i := range v.NumField() {
		if f := v.Field(i); v.Type().Field(i).IsExported() && f.Kind() == reflect.Pointer {
			if value, ok := find(f, name, depth-1); ok {
				return value, true
			}
		}
	}
	return "", false
}

func text(v reflect.Value) (string, bool) {
	v = reflect.Indirect(v)
	if v.Kind() != reflect.String || v.Len() == 0 {
		return "", false
	}
	return v.String(), true
}
