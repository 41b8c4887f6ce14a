package wire

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/krops-go/krops/internal/rehearsal/awssim/wire/spelling"
)

// routeXML finds the operation by method, bucket, path and what the query and
// headers hold; where several match, the one that asks for most wins.
func (a *API) routeXML(r *Request, hosts []string, t *Target) {
	bucket, key := bucketOf(r.Host, r.Path, hosts)
	best := -1
	for _, operation := range slices.Sorted(maps.Keys(a.table.Operations)) {
		b := a.table.Operations[operation]
		path, query, _ := strings.Cut(b.URI, "?")
		if b.Method != r.Method || b.Bucket != (bucket != "") || (path == "/") != (key == "") {
			continue
		}
		asked, ok := r.has(query, b.Required)
		if !ok || asked <= best {
			continue
		}
		best = asked
		t.Operation, t.Known, t.labels = operation, true, map[string]string{}
		if b.Bucket {
			t.labels["Bucket"] = bucket
		}
		if key != "" {
			t.labels["Key"], _ = url.PathUnescape(key) // an escaped path is well-formed
		}
	}
}

// operationName is in every template of an operation that shares its path with
// others, and clients need not send it.
const operationName = "x-id"

// has counts what of an operation's literal query and required members the
// request has, and reports false when one is missing.
func (r *Request) has(literals string, required []string) (count int, all bool) {
	for pair := range strings.SplitSeq(literals, "&") {
		name, value, _ := strings.Cut(pair, "=")
		if name == "" || name == operationName {
			continue
		}
		if !r.Query.Has(name) || value != "" && r.Query.Get(name) != value {
			return 0, false
		}
		count++
	}
	for _, name := range required {
		if !r.Query.Has(name) && len(r.Header.Values(name)) == 0 {
			return 0, false
		}
		count++
	}
	return count, true
}

func (t Target) decodeRESTXML(r *Request, v reflect.Value) error {
	if r.malformed != nil {
		return &Malformed{Member: "body", Cause: r.malformed}
	}
	// The checksum that completes an upload is that of the whole object.
	if t.Operation != "CompleteMultipartUpload" {
		if err := checkBody(r.Header, r.Body); err != nil {
			return err
		}
	}
	binding := t.API.table.Operations[t.Operation]
	byName := map[string]field{}
	for _, f := range t.API.fields(v.Type()) {
		byName[f.in] = f
	}
	for label, value := range t.labels {
		if err := setText(v.Field(byName[label].index), value); err != nil {
			return &Malformed{Member: label, Cause: err}
		}
	}
	if err := setXMLQuery(r, binding, byName, v); err != nil {
		return err
	}
	if err := setHeaders(r, binding, byName, v); err != nil {
		return err
	}
	return t.API.setPayload(r.Body, binding.Payload, v)
}

// setXMLQuery reads the query. Presigned URLs also carry headers in it.
func setXMLQuery(r *Request, binding spelling.Binding, byName map[string]field, v reflect.Value) error {
	_, literals, _ := strings.Cut(binding.URI, "?")
	own, _ := url.ParseQuery(literals) // of a generated table
	for _, name := range slices.Sorted(maps.Keys(r.Query)) {
		header := http.CanonicalHeaderKey(name)
		switch {
		case own.Has(name), name == operationName, isSignature(header):
		case slices.Contains(binding.Query, name):
			if err := setQuery(v.Field(byName[name].index), r.Query[name]); err != nil {
				return &Malformed{Member: name, Cause: err}
			}
		case slices.Contains(binding.Headers, header):
			if err := setHeader(v.Field(byName[header].index), r.Query.Get(name)); err != nil {
				return &Malformed{Member: name, Cause: err}
			}
		default:
			return &UnknownMember{Member: name}
		}
	}
	return nil
}

// isSignature reports a header, or query member by its name, that is part of
// the signature or says how the body is sent.
func isSignature(header string) bool {
	switch header {
	case "X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Date", "X-Amz-Expires", "X-Amz-Signedheaders", "X-Amz-Signature",
		"X-Amz-Security-Token", "X-Amz-Content-Sha256", "X-Amz-Decoded-Content-Length", "X-Amz-Trailer", "X-Amz-User-Agent":
		return true
	}
	return false
}

func setHeaders(r *Request, binding spelling.Binding, byName map[string]field, v reflect.Value) error {
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		if slices.Contains(binding.Headers, name) {
			if err := setHeader(v.Field(byName[name].index), strings.Join(r.Header.Values(name), ",")); err != nil {
				return &Malformed{Member: name, Cause: err}
			}
			continue
		}
		prefix := prefixOf(binding.Headers, name)
		switch {
		case prefix != "":
			entries := v.Field(byName[prefix].index)
			if entries.IsNil() {
				entries.Set(reflect.MakeMap(entries.Type()))
			}
			key := strings.ToLower(strings.TrimPrefix(name, prefix))
			entries.SetMapIndex(reflect.ValueOf(key), reflect.ValueOf(strings.Join(r.Header.Values(name), ",")))
		case strings.HasPrefix(name, checksumPrefix), !strings.HasPrefix(name, "X-Amz-"), isSignature(name):
		case name == "X-Amz-Sdk-Checksum-Algorithm":
		default:
			return &UnknownMember{Member: name}
		}
	}
	return nil
}

// prefixOf returns the name among those of headers that is a prefix of the name.
func prefixOf(headers []string, name string) string {
	for _, h := range headers {
		if strings.HasSuffix(h, "-") && strings.HasPrefix(name, h) {
			return h
		}
	}
	return ""
}

func setHeader(v reflect.Value, text string) error {
	if isList(v.Type()) {
		values := strings.Split(text, ",")
		for i := range values {
			values[i] = strings.TrimSpace(values[i])
		}
		return setQuery(v, values)
	}
	if v.Type() == reflect.PointerTo(timeType) {
		if at, err := http.ParseTime(text); err == nil {
			v.Set(reflect.ValueOf(new(at.UTC())))
			return nil
		}
	}
	return setText(v, text)
}

var readerType = reflect.TypeFor[io.Reader]()

// setPayload gives the body to the field that is all of it.
func (a *API) setPayload(body []byte, payload string, v reflect.Value) error {
	if payload == "" {
		if len(bytes.TrimSpace(body)) > 0 {
			return &UnknownMember{Member: "body"}
		}
		return nil
	}
	f := v.FieldByName(payload)
	switch {
	case f.Type() == readerType:
		if len(body) > 0 {
			f.Set(reflect.ValueOf(bytes.NewReader(body)))
		}
		return nil
	case len(bytes.TrimSpace(body)) == 0:
		return nil
	case f.Type().Elem().Kind() == reflect.Struct:
		root, err := parseXML(body)
		if err != nil {
			return &Malformed{Member: "body", Cause: err}
		}
		return a.fromXML(root, f, spelling.Name{})
	}
	return setText(f, string(body))
}

// headerText is the textual form of a field in a header.
func headerText(f field, v reflect.Value) (string, error) {
	v = reflect.Indirect(v)
	if f.httpDate && v.Type() == timeType {
		return v.Interface().(time.Time).UTC().Format(http.TimeFormat), nil
	}
	return text(v)
}
