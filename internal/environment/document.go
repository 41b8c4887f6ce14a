package environment

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"
)

// document is bootstrap.toml as written. A key exists when a field here names it, and no other is accepted: what
// krops does not act on must not look as if it did.
type document struct {
	Environments map[string]section `toml:"environments"`
}

type section struct {
	SyncPath          string            `toml:"sync-path"`
	Regions           []string          `toml:"regions"`
	ManagementCluster clusterSection    `toml:"management-cluster"`
	Providers         []providerSection `toml:"providers"`
	Timeouts          timeoutSection    `toml:"timeouts"`
	Kubeconfig        kubeconfigSection `toml:"kubeconfig"`
}

type clusterSection struct {
	Name      string `toml:"name"`
	Namespace string `toml:"namespace"`
	Region    string `toml:"region"`
	Path      string `toml:"path"`
}

type providerSection struct {
	Name        string   `toml:"name"`
	Path        string   `toml:"path"`
	Namespace   string   `toml:"namespace"`
	Deployments []string `toml:"deployments"`
}

type timeoutSection struct {
	BootstrapCluster  duration `toml:"bootstrap-cluster"`
	Providers         duration `toml:"providers"`
	ManagementCluster duration `toml:"management-cluster"`
	Pivot             duration `toml:"pivot"`
	Teardown          duration `toml:"teardown"`
}

type kubeconfigSection struct {
	Path    string `toml:"path"`
	Context string `toml:"context"`
}

// duration is a positive time.Duration written as "20m".
type duration time.Duration

func (d *duration) UnmarshalText(text []byte) error {
	value, err := time.ParseDuration(string(text))
	if err != nil || value <= 0 {
		return fmt.Errorf(`%q is not a duration: write it like "20m" or "1h30m"`, text)
	}
	*d = duration(value)
	return nil
}

// parse decodes bootstrap.toml and refuses keys that it does not know.
func parse(data []byte) (document, error) {
	var doc document
	decoder := toml.NewDecoder(bytes.NewReader(data)).DisallowUnknownFields()
	err := decoder.Decode(&doc)
	if err == nil {
		return doc, nil
	}
	var unknown *toml.StrictMissingError
	if errors.As(err, &unknown) {
		var problems Problems
		for i := range unknown.Errors {
			problems = append(problems, unknownKey(&unknown.Errors[i]))
		}
		return document{}, problems
	}
	var wrong *toml.DecodeError
	if errors.As(err, &wrong) {
		line, _ := wrong.Position()
		return document{}, Problems{{File: File, Line: line, Field: strings.Join(wrong.Key(), "."),
			Cause: "cannot be read", Fix: strings.TrimPrefix(wrong.Error(), "toml: ")}}
	}
	return document{}, Problems{{File: File, Cause: "cannot be read", Fix: strings.TrimPrefix(err.Error(), "toml: ")}}
}

func unknownKey(e *toml.DecodeError) Problem {
	line, _ := e.Position()
	key := e.Key()
	problem := Problem{File: File, Line: line, Field: strings.Join(key, "."), Cause: "is not a key that krops knows"}
	if known := keysOf(key[:len(key)-1]); len(known) > 0 {
		problem.Fix = "remove it, or write one of " + strings.Join(known, ", ")
	}
	return problem
}

// keysOf lists the keys that a table may hold.
func keysOf(path []string) []string {
	at := reflect.TypeFor[document]()
	for _, key := range path {
		switch at.Kind() {
		case reflect.Map:
			at = at.Elem()
			continue
		case reflect.Slice:
			at = at.Elem()
		}
		next, ok := fieldType(at, key)
		if !ok {
			return nil
		}
		at = next
	}
	if at.Kind() == reflect.Slice {
		at = at.Elem()
	}
	if at.Kind() != reflect.Struct {
		return nil
	}
	var keys []string
	for i := range at.NumField() {
		keys = append(keys, at.Field(i).Tag.Get("toml"))
	}
	return keys
}

func fieldType(at reflect.Type, key string) (reflect.Type, bool) {
	if at.Kind() != reflect.Struct {
		return nil, false
	}
	for i := range at.NumField() {
		if field := at.Field(i); field.Tag.Get("toml") == key {
			return field.Type, true
		}
	}
	return nil, false
}
