package wire

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/krops-go/krops/internal/rehearsal/awssim/sigv4"
	"github.com/krops-go/krops/internal/rehearsal/awssim/wire/spelling"
)

// Request is an HTTP request whose body was read.
type Request struct {
	Method string
	// Host is the host as the client named it, with the port if it did.
	Host string
	// Path is the path as escaped by the client; labels may hold %2F.
	Path  string
	Query url.Values
	// Header includes what trails a body sent in chunks.
	Header http.Header
	Body   []byte

	malformed error      // of a body in chunks
	form      url.Values // of the query protocols, from body or query
}

// NewRequest returns the request that r and its body make.
func NewRequest(r *http.Request, body []byte) *Request {
	payload, trailers, err := sigv4.Payload(r, body)
	header := r.Header
	if trailers != nil {
		header = r.Header.Clone()
		maps.Copy(header, trailers)
		withoutChunks(header)
	}
	return &Request{
		Method: r.Method, Host: r.Host, Path: r.URL.EscapedPath(), Query: r.URL.Query(),
		Header: header, Body: payload, malformed: err,
	}
}

// withoutChunks drops what a header says only of the body as it was sent.
func withoutChunks(header http.Header) {
	header.Set("Content-Length", header.Get("X-Amz-Decoded-Content-Length"))
	codings := slices.DeleteFunc(strings.Split(header.Get("Content-Encoding"), ","), func(c string) bool {
		c = strings.TrimSpace(c)
		return c == "" || c == "aws-chunked"
	})
	header.Del("Content-Encoding")
	if len(codings) > 0 {
		header.Set("Content-Encoding", strings.Join(codings, ","))
	}
}

// Target is where a request goes.
type Target struct {
	// API is set even when the operation is not covered, so that the refusal
	// can be written in its form. It is nil only when no API of the signing
	// name matches; Fallback then gives a form.
	API *API
	// Operation is the name the request asks for, or a description such as
	// "GET /clusters/x" when it names none.
	Operation string
	// Known is whether the API's table covers the operation.
	Known bool

	labels map[string]string
}

// Identify finds the API and operation of a request that was signed for the
// service. Two APIs may share a signing name; the form's Version tells them apart.
func (c *Codec) Identify(service string, r *Request) (Target, error) {
	first := Target{Operation: r.Method + " " + r.Path}
	for _, a := range c.apis {
		if a.signing != service {
			continue
		}
		t, matches, err := a.identify(r, c.hosts)
		if err != nil || matches {
			return t, err
		}
		if first.API == nil {
			first = t
		}
	}
	return first, nil
}

// Fallback returns an API in whose form an error can be written for a request
// that reached none: by its X-Amz-Target, its form, or else as REST.
func (c *Codec) Fallback(r *Request) *API {
	want := spelling.RESTJSON
	if r.Header.Get("X-Amz-Target") != "" {
		want = spelling.JSON11
	} else if r.Query.Has("Action") || strings.HasPrefix(r.Header.Get("Content-Type"), formType) {
		want = spelling.Query
	}
	for _, a := range c.apis {
		if a.table.Protocol == want {
			return a
		}
	}
	return c.apis[0]
}

const formType = "application/x-www-form-urlencoded"

// identify reports matches false when the request is for another version.
func (a *API) identify(r *Request, hosts []string) (t Target, matches bool, err error) {
	t = Target{API: a, Operation: r.Method + " " + r.Path}
	switch a.table.Protocol {
	case spelling.RESTJSON:
		a.route(r, &t)
		return t, t.Known, nil
	case spelling.RESTXML:
		a.routeXML(r, hosts, &t)
		return t, t.Known, nil
	case spelling.JSON11:
		version, operation, ok := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
		if !ok {
			return t, false, nil
		}
		t.Operation = operation
		matches = version == a.table.Version
	default:
		if err := r.parseForm(); err != nil {
			return t, true, err
		}
		if !r.form.Has("Action") {
			return t, false, nil
		}
		t.Operation = r.form.Get("Action")
		matches = r.form.Get("Version") == a.table.Version
	}
	_, known := a.table.Operations[t.Operation]
	t.Known = known && matches
	return t, matches, nil
}

// parseForm reads the form from a POST's body or a GET's query, where the
// members of a presigned signature are not part of the call.
func (r *Request) parseForm() error {
	if r.form != nil {
		return nil
	}
	text := url.Values{}
	if r.Method == http.MethodPost {
		parsed, err := url.ParseQuery(string(r.Body))
		if err != nil {
			return &Malformed{Member: "body", Cause: fmt.Errorf("it is no form: %w", err)}
		}
		text = parsed
	}
	for key, values := range r.Query {
		if !strings.HasPrefix(strings.ToLower(key), "x-amz-") {
			text[key] = append(text[key], values...)
		}
	}
	r.form = text
	return nil
}

// UnknownMember is a request member that the operation's input does not have.
type UnknownMember struct{ Member string }

func (e *UnknownMember) Error() string {
	return fmt.Sprintf("the request member %q is not known", e.Member)
}

// Malformed is a request member whose value cannot be of its type.
type Malformed struct {
	Member string
	Cause  error
}

func (e *Malformed) Error() string {
	return fmt.Sprintf("the request member %q is malformed: %v", e.Member, e.Cause)
}

func (e *Malformed) Unwrap() error { return e.Cause }
