package wire

import (
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// rootElements are the names of answers' root elements that follow no rule.
// Clients that decode by name need them.
var rootElements = map[string]string{
	"ListBuckets":                        "ListAllMyBucketsResult",
	"ListObjects":                        "ListBucketResult",
	"ListObjectsV2":                      "ListBucketResult",
	"ListObjectVersions":                 "ListVersionsResult",
	"DeleteObjects":                      "DeleteResult",
	"CreateMultipartUpload":              "InitiateMultipartUploadResult",
	"GetBucketAcl":                       "AccessControlPolicy",
	"GetObjectAcl":                       "AccessControlPolicy",
	"GetBucketAccelerateConfiguration":   "AccelerateConfiguration",
	"GetBucketCors":                      "CORSConfiguration",
	"GetBucketLifecycleConfiguration":    "LifecycleConfiguration",
	"GetBucketLogging":                   "BucketLoggingStatus",
	"GetBucketNotificationConfiguration": "NotificationConfiguration",
	"GetBucketRequestPayment":            "RequestPaymentConfiguration",
	"GetBucketTagging":                   "Tagging",
	"GetObjectTagging":                   "Tagging",
	"GetBucketVersioning":                "VersioningConfiguration",
	"GetBucketWebsite":                   "WebsiteConfiguration",
	"GetObjectAttributes":                "GetObjectAttributesResponse",
}

func (t Target) restXMLResult(requestID string, v reflect.Value) (*Answer, error) {
	a, binding := t.API, t.API.table.Operations[t.Operation]
	answer := &Answer{Status: http.StatusOK, Header: a.objectHeader(requestID)}
	if binding.Method == http.MethodDelete || t.Operation == "PutBucketPolicy" {
		answer.Status = http.StatusNoContent
	}
	w := &xmlWriter{api: a}
	var inBody []field
	for _, f := range a.fields(v.Type()) {
		value := v.Field(f.index)
		switch {
		case f.goName == binding.OutPayload:
			if err := t.payload(answer, w, f, value); err != nil {
				return nil, err
			}
		case slices.Contains(binding.OutHeaders, f.out):
			if err := answer.set(f, value); err != nil {
				return nil, fmt.Errorf("encode the answer of %s: %w", t.Operation, err)
			}
		case !unset(value):
			inBody = append(inBody, f)
		}
	}
	if answer.Header.Get("Content-Range") != "" {
		answer.Status = http.StatusPartialContent
	}
	if binding.OutPayload != "" {
		return answer, nil
	}
	hasBody := slices.ContainsFunc(a.fields(v.Type()), func(f field) bool { return !slices.Contains(binding.OutHeaders, f.out) })
	if !hasBody || binding.Method == http.MethodHead {
		return answer, nil
	}
	if t.Operation == "GetBucketLocation" { // the root is the value itself
		location := v.FieldByName("LocationConstraint").String()
		w.buf.WriteString(`<LocationConstraint xmlns="` + a.namespace() + `">` + location + `</LocationConstraint>`)
		answer.xml(w)
		return answer, nil
	}
	root := rootElements[t.Operation]
	if root == "" {
		root = t.Operation + "Result"
	}
	w.buf.WriteString("<" + root + ` xmlns="` + a.namespace() + `">`)
	for _, f := range inBody {
		if err := w.value(f, v.Field(f.index)); err != nil {
			return nil, fmt.Errorf("encode the answer of %s: %s: %w", t.Operation, f.goName, err)
		}
	}
	w.close(root)
	answer.xml(w)
	return answer, nil
}

// payload writes the field that is the whole body.
func (t Target) payload(answer *Answer, w *xmlWriter, f field, v reflect.Value) error {
	if unset(v) {
		return nil
	}
	if body, ok := v.Interface().(io.Reader); ok {
		data, err := io.ReadAll(body)
		if err != nil {
			return fmt.Errorf("encode the answer of %s: %w", t.Operation, err)
		}
		answer.Body = data
		return nil
	}
	v = reflect.Indirect(v)
	if v.Kind() == reflect.String {
		answer.Body = []byte(v.String())
		return nil
	}
	root := v.Type().Name()
	w.buf.WriteString("<" + root + ` xmlns="` + t.API.namespace() + `">`)
	if err := w.members(v); err != nil {
		return fmt.Errorf("encode the answer of %s: %s: %w", t.Operation, f.goName, err)
	}
	w.close(root)
	answer.xml(w)
	return nil
}

// set writes a field as header.
func (a *Answer) set(f field, v reflect.Value) error {
	if unset(v) {
		return nil
	}
	if v.Kind() == reflect.Map {
		for entries := v.MapRange(); entries.Next(); {
			a.Header.Set(f.out+entries.Key().String(), entries.Value().String())
		}
		return nil
	}
	text, err := headerText(f, v)
	if err != nil {
		return fmt.Errorf("%s: %w", f.goName, err)
	}
	a.Header.Set(f.out, text)
	return nil
}

func (a *Answer) xml(w *xmlWriter) {
	a.Header.Set("Content-Type", "application/xml")
	a.Body = append([]byte(xmlDeclaration), w.buf.Bytes()...)
}

func (a *API) objectHeader(requestID string) http.Header {
	return http.Header{"X-Amz-Request-Id": {requestID}, "X-Amz-Id-2": {requestID}, "Server": {"AmazonS3"}}
}

// restXMLRefusal is S3's form of an error.
func (a *API) restXMLRefusal(status int, requestID string, e *service.Error) *Answer {
	answer := &Answer{Status: status, Header: a.objectHeader(requestID)}
	if status == http.StatusNotModified {
		return answer
	}
	w := &xmlWriter{api: a}
	w.open("Error")
	w.text("Code", e.Code)
	w.text("Message", e.Message)
	for _, d := range e.Details {
		w.text(d.Name, d.Value)
	}
	w.text("RequestId", requestID)
	w.text("HostId", requestID)
	w.close("Error")
	answer.xml(w)
	return answer
}

// attributes are the fields of a structure that its element carries itself.
func (w *xmlWriter) attributes(v reflect.Value) string {
	var b strings.Builder
	for _, f := range w.api.fields(v.Type()) {
		if f.attr && !unset(v.Field(f.index)) {
			fmt.Fprintf(&b, ` xmlns:xsi="%s" %s="%s"`, schemaInstance, f.out, v.Field(f.index).String())
		}
	}
	return b.String()
}
