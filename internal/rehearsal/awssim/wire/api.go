// Package wire translates between AWS requests and answers as they cross HTTP
// and the structs of the AWS SDK for Go v2, in the five protocols that the
// simulated services speak. It works by reflection over the SDK's types, so it
// depends on none of the SDK's service packages; how each field is spelled
// comes from tables generated from the SDK's source.
//
// Nothing is dropped silently: a request member without a field is an
// *UnknownMember error.
package wire

import (
	"reflect"
	"strings"
	"sync"

	"github.com/krops-go/krops/internal/rehearsal/awssim/wire/spelling"
)

//go:generate go run ./wiregen

const sdkPackages = "github.com/aws/aws-sdk-go-v2/service/"

// API is one AWS API with the operations it can carry. An *API is read-only.
type API struct {
	name    string // last element of the SDK package's path
	signing string // service in the signature's scope
	table   *spelling.Table
	known   *sync.Map // fields by struct type, worked out when first met
}

// Codec holds every API. It is read-only after New and safe for concurrent use.
type Codec struct {
	apis  []*API
	hosts []string
}

// New returns the codec. hosts are names of the server whose subdomains are
// S3's buckets, beside those that always are: of localhost, of addresses, and
// AWS's own.
func New(hosts ...string) *Codec {
	return &Codec{hosts: hosts, apis: []*API{
		newAPI("autoscaling", "autoscaling", autoscalingTable()),
		newAPI("cloudformation", "cloudformation", cloudformationTable()),
		newAPI("ec2", "ec2", ec2Table()),
		newAPI("eks", "eks", eksTable()),
		newAPI("elasticloadbalancing", "elasticloadbalancing", elasticloadbalancingTable()),
		newAPI("elasticloadbalancingv2", "elasticloadbalancing", elasticloadbalancingv2Table()),
		newAPI("iam", "iam", iamTable()),
		newAPI("kms", "kms", kmsTable()),
		newAPI("rds", "rds", rdsTable()),
		newAPI("resourcegroupstaggingapi", "tagging", resourcegroupstaggingapiTable()),
		newAPI("s3", "s3", s3Table()),
		newAPI("secretsmanager", "secretsmanager", secretsmanagerTable()),
		newAPI("servicequotas", "servicequotas", servicequotasTable()),
		newAPI("ssm", "ssm", ssmTable()),
		newAPI("sts", "sts", stsTable()),
	}}
}

func newAPI(name, signing string, table *spelling.Table) *API {
	return &API{name: name, signing: signing, table: table, known: &sync.Map{}}
}

// OfInput returns the API whose SDK package declares the input type, and the
// operation it belongs to. It reports false for a type no table covers.
func (c *Codec) OfInput(in reflect.Type) (api *API, operation string, ok bool) {
	name, ok := strings.CutPrefix(in.PkgPath(), sdkPackages)
	if !ok {
		return nil, "", false
	}
	operation, ok = strings.CutSuffix(in.Name(), "Input")
	if !ok {
		return nil, "", false
	}
	for _, a := range c.apis {
		if a.name == name {
			_, covered := a.table.Operations[operation]
			return a, operation, covered
		}
	}
	return nil, "", false
}

// Name tells APIs apart that share a signing name: it is the last element of
// the SDK package's path, such as "elasticloadbalancingv2".
func (a *API) Name() string { return a.name }

// Protocol is the API's encoding; error codes for what no service handles
// differ by it.
func (a *API) Protocol() spelling.Protocol { return a.table.Protocol }

// namespace is the XML namespace of the API's answers.
func (a *API) namespace() string {
	if a.table.Protocol == spelling.RESTXML {
		return "http://s3.amazonaws.com/doc/2006-03-01/"
	}
	return "https://" + a.signing + ".amazonaws.com/doc/" + a.table.Version + "/"
}

// field is a struct's field with its spelling.
type field struct {
	index int
	goName,
	in, out, item string
	flat, attr, httpDate bool
}

// fields lists the fields of an SDK struct that are data. ResultMetadata is
// the client's own, and unexported ones are markers.
func (a *API) fields(t reflect.Type) []field {
	if known, ok := a.known.Load(t); ok {
		return known.([]field)
	}
	all := make([]field, 0, t.NumField())
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() || f.Name == "ResultMetadata" {
			continue
		}
		name := a.table.Of(t.Name(), f.Name, isList(f.Type))
		all = append(all, field{index: i, goName: f.Name, in: name.In, out: name.Out, item: name.Item,
			flat: name.Flat, attr: name.Attr, httpDate: name.HTTPDate})
	}
	a.known.Store(t, all)
	return all
}

func isList(t reflect.Type) bool {
	return t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8
}

// SetFields lists the names of the fields that the request set: pointers,
// lists and maps that are not nil, even when empty, and plain values that are
// not zero. in is a pointer to an SDK input.
func SetFields(in any) []string {
	v := reflect.ValueOf(in).Elem()
	var set []string
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.IsExported() && !v.Field(i).IsZero() {
			set = append(set, f.Name)
		}
	}
	return set
}
