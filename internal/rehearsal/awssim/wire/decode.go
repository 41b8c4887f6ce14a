package wire

import (
	"reflect"

	"github.com/krops-go/krops/internal/rehearsal/awssim/wire/spelling"
)

// Decode fills in, a pointer to the operation's SDK input, from the request
// that Identify found the target of. Errors are *UnknownMember,
// *Malformed, and *service.Error for a body that its checksum does not fit.
func (t Target) Decode(r *Request, in any) error {
	v := reflect.ValueOf(in).Elem()
	switch t.API.table.Protocol {
	case spelling.RESTJSON:
		return t.decodeREST(r, v)
	case spelling.RESTXML:
		return t.decodeRESTXML(r, v)
	case spelling.JSON11:
		return t.API.decodeJSON(r.Body, v)
	default:
		return t.API.decodeForm(r.form, v)
	}
}
