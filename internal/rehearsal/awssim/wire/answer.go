package wire

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strconv"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
	"github.com/krops-go/krops/internal/rehearsal/awssim/wire/spelling"
)

// Answer is an HTTP answer, complete in memory.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// WriteTo sends the answer. What the client does not take is lost.
func (a *Answer) WriteTo(w http.ResponseWriter) {
	for key, values := range a.Header {
		w.Header()[key] = values
	}
	if w.Header().Get("Content-Length") == "" { // the answer to a HEAD tells that of the object
		w.Header().Set("Content-Length", strconv.Itoa(len(a.Body)))
	}
	w.WriteHeader(a.Status)
	_, _ = w.Write(a.Body)
}

// Result is the answer of a call that succeeded; out is a pointer to the
// operation's SDK output. It fails only on nil and on a type that is not understood.
func (t Target) Result(requestID string, out any) (*Answer, error) {
	a, v := t.API, reflect.Indirect(reflect.ValueOf(out))
	if !v.IsValid() {
		return nil, fmt.Errorf("encode the answer of %s: there is none", t.Operation)
	}
	if a.table.Protocol == spelling.RESTJSON || a.table.Protocol == spelling.JSON11 {
		value, err := a.toJSON(v)
		if err != nil {
			return nil, fmt.Errorf("encode the answer of %s: %w", t.Operation, err)
		}
		body, err := json.Marshal(value)
		if err != nil {
			return nil, fmt.Errorf("encode the answer of %s: %w", t.Operation, err)
		}
		return a.jsonAnswer(http.StatusOK, requestID, body), nil
	}

	if a.table.Protocol == spelling.RESTXML {
		return t.restXMLResult(requestID, v)
	}

	w := &xmlWriter{api: a}
	w.buf.WriteString("<" + t.Operation + `Response xmlns="` + a.namespace() + `">`)
	if a.table.Protocol == spelling.EC2Query {
		w.text("requestId", requestID)
	} else {
		w.open(t.Operation + "Result")
	}
	if err := w.members(v); err != nil {
		return nil, fmt.Errorf("encode the answer of %s: %w", t.Operation, err)
	}
	if a.table.Protocol == spelling.EC2Query {
		w.emptyLists(v)
	}
	if a.table.Protocol == spelling.Query {
		w.close(t.Operation + "Result")
		w.open("ResponseMetadata")
		w.text("RequestId", requestID)
		w.close("ResponseMetadata")
	}
	w.close(t.Operation + "Response")
	return a.xmlAnswer(http.StatusOK, requestID, w), nil
}

const xmlDeclaration = `<?xml version="1.0" encoding="UTF-8"?>` + "\n"

// Refusal is the answer of a call that failed, in the form of the API.
func (a *API) Refusal(requestID string, e *service.Error) *Answer {
	answer := a.refusal(requestID, e)
	for name, values := range e.Header {
		answer.Header[name] = values
	}
	return answer
}

func (a *API) refusal(requestID string, e *service.Error) *Answer {
	status := e.Status
	if status == 0 {
		status = http.StatusBadRequest
	}
	w := &xmlWriter{api: a}
	switch a.table.Protocol {
	case spelling.RESTXML:
		return a.restXMLRefusal(status, requestID, e)
	case spelling.RESTJSON:
		answer := a.jsonAnswer(status, requestID, jsonMessage(map[string]string{"message": e.Message}))
		answer.Header.Set("X-Amzn-Errortype", e.Code)
		return answer
	case spelling.JSON11:
		return a.jsonAnswer(status, requestID, jsonMessage(map[string]string{"__type": e.Code, "message": e.Message}))
	case spelling.EC2Query:
		w.open("Response")
		w.open("Errors")
		w.open("Error")
		w.text("Code", e.Code)
		w.text("Message", e.Message)
		w.close("Error")
		w.close("Errors")
		w.text("RequestID", requestID)
		w.close("Response")
	default:
		w.buf.WriteString(`<ErrorResponse xmlns="` + a.namespace() + `">`)
		w.open("Error")
		w.text("Type", fault(status))
		w.text("Code", e.Code)
		w.text("Message", e.Message)
		w.close("Error")
		w.text("RequestId", requestID)
		w.close("ErrorResponse")
	}
	return a.xmlAnswer(status, requestID, w)
}

func fault(status int) string {
	if status >= http.StatusInternalServerError {
		return "Receiver"
	}
	return "Sender"
}

func (a *API) jsonAnswer(status int, requestID string, body []byte) *Answer {
	contentType := "application/json"
	if a.table.Protocol == spelling.JSON11 {
		contentType = "application/x-amz-json-1.1"
	}
	return &Answer{Status: status, Body: body, Header: http.Header{
		"Content-Type":     {contentType},
		"X-Amzn-Requestid": {requestID},
	}}
}

func jsonMessage(members map[string]string) []byte {
	body, _ := json.Marshal(members) // strings always marshal
	return body
}

func (a *API) xmlAnswer(status int, requestID string, w *xmlWriter) *Answer {
	return &Answer{Status: status, Body: append([]byte(xmlDeclaration), w.buf.Bytes()...), Header: http.Header{
		"Content-Type":     {"text/xml;charset=UTF-8"},
		"X-Amzn-Requestid": {requestID},
	}}
}
