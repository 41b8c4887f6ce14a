package wire_test

import (
	"bytes"
	"context"
	"encoding/json"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"reflect"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi"
	"github.com/aws/aws-sdk-go-v2/service/servicequotas"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/google/go-cmp/cmp"

	"github.com/krops-go/krops/internal/rehearsal/awssim/wire"
)

// clients are the real SDK clients, by the signing name of their service.
func clients(cfg aws.Config) map[string][]any {
	return map[string][]any{
		"autoscaling":          {autoscaling.NewFromConfig(cfg)},
		"ec2":                  {ec2.NewFromConfig(cfg)},
		"eks":                  {eks.NewFromConfig(cfg)},
		"elasticloadbalancing": {elasticloadbalancing.NewFromConfig(cfg), elasticloadbalancingv2.NewFromConfig(cfg)},
		"iam":                  {iam.NewFromConfig(cfg)},
		"tagging":              {resourcegroupstaggingapi.NewFromConfig(cfg)},
		"servicequotas":        {servicequotas.NewFromConfig(cfg)},
		"ssm":                  {ssm.NewFromConfig(cfg)},
		"sts":                  {sts.NewFromConfig(cfg)},
	}
}

func config(serve http.RoundTripper) aws.Config {
	return aws.Config{
		Region:       "eu-central-1",
		BaseEndpoint: aws.String("http://aws.test:4566"),
		HTTPClient:   &http.Client{Transport: serve},
		Retryer:      func() aws.Retryer { return aws.NopRetryer{} },
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "AKIAEXAMPLE", SecretAccessKey: "secret"}, nil
		}),
	}
}

type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

// server answers every call in memory with what answer returns.
func server(t *testing.T, answer func(r *wire.Request) *wire.Answer) http.RoundTripper {
	return transport(func(r *http.Request) (*http.Response, error) {
		var body []byte
		if r.Body != nil {
			var err error
			if body, err = io.ReadAll(r.Body); err != nil {
				t.Error(err)
			}
		}
		recorder := httptest.NewRecorder()
		answer(wire.NewRequest(r, body)).WriteTo(recorder)
		return recorder.Result(), nil
	})
}

// TestRoundTrip sends every operation with every member set through the real
// client, and checks that what was decoded is what was sent and that what was
// answered is what the client read.
func TestRoundTrip(t *testing.T) {
	codec := wire.New()
	operations := 0
	for service, all := range clients(config(nil)) {
		for i, client := range all {
			typ := reflect.TypeOf(client)
			for m := range typ.NumMethod() {
				method := typ.Method(m)
				if method.Type.NumIn() < 3 || method.Type.In(2).Kind() != reflect.Pointer {
					continue
				}
				in := method.Type.In(2).Elem()
				api, _, ok := codec.OfInput(in)
				if !ok {
					continue
				}
				operations++
				t.Run(api.Name()+"/"+method.Name, func(t *testing.T) {
					roundTrip(t, codec, service, i, method)
				})
			}
		}
	}
	if operations < 500 {
		t.Errorf("only %d operations were found", operations)
	}
}

func roundTrip(t *testing.T, codec *wire.Codec, service string, client int, method reflect.Method) {
	h := fnv.New64a()
	h.Write([]byte(service + method.Name))
	random := seeded(h.Sum64())

	sent := reflect.New(method.Type.In(2).Elem())
	fill(random, sent.Elem(), 1, nil)
	answered := reflect.New(method.Type.Out(0).Elem())
	fill(random, answered.Elem(), 0, nil)

	serve := server(t, func(r *wire.Request) *wire.Answer {
		target, err := codec.Identify(service, r)
		if err != nil || !target.Known || target.Operation != method.Name {
			t.Fatalf("identified %+v, %v", target, err)
		}
		decoded := reflect.New(method.Type.In(2).Elem())
		if err := target.Decode(r, decoded.Interface()); err != nil {
			t.Fatalf("decode: %v", err)
		}
		same(t, "request", sent, decoded)
		answer, err := target.Result("req-1", answered.Interface())
		if err != nil {
			t.Fatal(err)
		}
		return answer
	})
	caller := reflect.ValueOf(clients(config(serve))[service][client])
	results := caller.MethodByName(method.Name).Call([]reflect.Value{reflect.ValueOf(t.Context()), sent})
	if err, failed := results[1].Interface().(error); failed {
		t.Fatalf("the client failed: %v", err)
	}
	got := results[0]
	metadata := got.Elem().FieldByName("ResultMetadata")
	metadata.SetZero()
	same(t, "answer", answered, got)
}

func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

func same(t *testing.T, what string, want, got reflect.Value) {
	t.Helper()
	if reflect.DeepEqual(want.Interface(), got.Interface()) {
		return
	}
	t.Errorf("%s differs (-want +got):\n%s", what, cmp.Diff(indented(t, want), indented(t, got)))
}

func indented(t *testing.T, v reflect.Value) string {
	t.Helper()
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(v.Interface()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// fill sets every member to something telling. Lists and maps get least items
// or a few more; a struct within itself ends the descent.
func fill(random *rand.Rand, v reflect.Value, least int, within []reflect.Type) {
	typ := v.Type()
	if typ == reflect.TypeFor[time.Time]() {
		v.Set(reflect.ValueOf(time.UnixMilli(1_700_000_000_000 + random.Int64N(1_000_000_000)).UTC()))
		return
	}
	switch typ.Kind() {
	case reflect.Pointer:
		for _, outer := range within {
			if outer == typ.Elem() {
				return
			}
		}
		v.Set(reflect.New(typ.Elem()))
		fill(random, v.Elem(), least, within)
	case reflect.Struct:
		within = append(within[:len(within):len(within)], typ)
		for i := range typ.NumField() {
			if f := typ.Field(i); f.IsExported() && f.Name != "ResultMetadata" {
				fill(random, v.Field(i), least, within)
			}
		}
	case reflect.Slice:
		for _, outer := range within {
			if outer == typ.Elem() {
				return
			}
		}
		n := least + random.IntN(3)
		v.Set(reflect.MakeSlice(typ, n, n))
		for i := range n {
			fill(random, v.Index(i), least, within)
		}
		if typ.Elem().Kind() == reflect.String { // the client's signer sorts lists in the query
			sort.Slice(v.Interface(), func(i, j int) bool { return v.Index(i).String() < v.Index(j).String() })
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(typ))
		for range least + random.IntN(3) {
			key, value := reflect.New(typ.Key()).Elem(), reflect.New(typ.Elem()).Elem()
			fill(random, key, least, within)
			fill(random, value, least, within)
			v.SetMapIndex(key, value)
		}
	case reflect.String:
		v.SetString(strings.Repeat("ab", random.IntN(3)) + `1/2 é%2F+<&"` + string(rune('a'+random.IntN(26))))
	case reflect.Bool:
		v.SetBool(random.IntN(2) == 0)
	case reflect.Int32, reflect.Int64:
		v.SetInt(random.Int64N(1000))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(float64(random.IntN(1000)) / 8)
	case reflect.Uint8:
		v.SetUint(uint64(random.IntN(256)))
	}
}
