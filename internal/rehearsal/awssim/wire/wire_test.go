package wire_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
	"github.com/krops-go/krops/internal/rehearsal/awssim/wire"
)

func form(body string) *wire.Request {
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return wire.NewRequest(r, []byte(body))
}

func rest(method, target, body string) *wire.Request {
	return wire.NewRequest(httptest.NewRequest(method, target, strings.NewReader(body)), []byte(body))
}

func target(body string) *wire.Request {
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	r.Header.Set("X-Amz-Target", "ResourceGroupsTaggingAPI_20170126.GetResources")
	return wire.NewRequest(r, []byte(body))
}

const (
	describeVPCs = "Action=DescribeVpcs&Version=2016-11-15&"
	createRole   = "Action=CreateRole&Version=2010-05-08&"
)

func TestDecodeRefuses(t *testing.T) {
	for _, test := range []struct {
		name, service string
		request       *wire.Request
		in            any
		unknown       string // member; empty when it is malformed
		malformed     string
	}{
		{"an unknown form member", "ec2", form(describeVPCs + "Nope=1"), new(ec2.DescribeVpcsInput), "Nope", ""},
		{"an unknown nested form member", "ec2", form(describeVPCs + "Filter.1.Nam=x"), new(ec2.DescribeVpcsInput), "Filter.1.Nam", ""},
		{"a member below a scalar", "ec2", form(describeVPCs + "NextToken.1=x"), new(ec2.DescribeVpcsInput), "NextToken.1", ""},
		{"a list item without a position", "ec2", form(describeVPCs + "VpcId.one=x"), new(ec2.DescribeVpcsInput), "", "VpcId.one"},
		{"a list item at two positions that are one", "ec2", form(describeVPCs + "VpcId.1=x&VpcId.01=y"), new(ec2.DescribeVpcsInput), "", "VpcId.1"},
		{"a list without positions", "ec2", form(describeVPCs + "VpcId=vpc-1"), new(ec2.DescribeVpcsInput), "", "VpcId"},
		{"a structure as text", "ec2", form(describeVPCs + "Filter.1=x"), new(ec2.DescribeVpcsInput), "", "Filter.1"},
		{"a word for a number", "ec2", form(describeVPCs + "MaxResults=ten"), new(ec2.DescribeVpcsInput), "", "MaxResults"},
		{"a number out of range", "ec2", form(describeVPCs + "MaxResults=99999999999"), new(ec2.DescribeVpcsInput), "", "MaxResults"},
		{"a member given twice", "ec2", form(describeVPCs + "NextToken=a&NextToken=b"), new(ec2.DescribeVpcsInput), "", "NextToken"},
		{"bottomless nesting", "ec2", form(describeVPCs + "Filter" + strings.Repeat(".1", 100) + "=x"), new(ec2.DescribeVpcsInput), "Filter" + strings.Repeat(".1", 100), ""},
		{"a list item below another name", "iam", form(createRole + "Tags.item.1.Key=x"), new(iam.CreateRoleInput), "Tags.item", ""},
		{"an unknown JSON member", "eks", rest("POST", "/clusters", `{"resourcesVpcConfig":{"nope":1}}`), new(eks.CreateClusterInput), "resourcesVpcConfig.nope", ""},
		{"an unknown query member", "eks", rest("GET", "/clusters?nope=1", ""), new(eks.ListClustersInput), "nope", ""},
		{"a query member that belongs into the body", "eks", rest("POST", "/clusters?name=x", ""), new(eks.CreateClusterInput), "name", ""},
		{"a string for an object", "eks", rest("POST", "/clusters", `{"resourcesVpcConfig":"x"}`), new(eks.CreateClusterInput), "", "resourcesVpcConfig"},
		{"a number for a string", "eks", rest("POST", "/clusters", `{"name":1}`), new(eks.CreateClusterInput), "", "name"},
		{"a string for a boolean", "eks", rest("POST", "/clusters", `{"bootstrapSelfManagedAddons":"true"}`), new(eks.CreateClusterInput), "", "bootstrapSelfManagedAddons"},
		{"a list that is an object", "eks", rest("POST", "/clusters", `{"encryptionConfig":{}}`), new(eks.CreateClusterInput), "", "encryptionConfig"},
		{"half a body", "eks", rest("POST", "/clusters", `{"name":`), new(eks.CreateClusterInput), "", "body"},
		{"two bodies", "eks", rest("POST", "/clusters", `{}{}`), new(eks.CreateClusterInput), "", "body"},
		{"an unknown JSON 1.1 member", "tagging", target(`{"tagFilters":[]}`), new(resourcegroupstaggingapi.GetResourcesInput), "tagFilters", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			found, err := wire.New().Identify(test.service, test.request)
			if err != nil || !found.Known {
				t.Fatalf("identified %+v, %v", found, err)
			}
			err = found.Decode(test.request, test.in)
			var unknown *wire.UnknownMember
			var malformed *wire.Malformed
			switch {
			case errors.As(err, &unknown):
				if unknown.Member != test.unknown {
					t.Errorf("unknown member %q, want %q", unknown.Member, test.unknown)
				}
			case errors.As(err, &malformed):
				if test.unknown != "" || malformed.Member != test.malformed {
					t.Errorf("malformed member %q, want %q", malformed.Member, test.malformed)
				}
			default:
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestIdentify(t *testing.T) {
	codec := wire.New()
	for _, test := range []struct {
		name, service, api, operation string
		request                       *wire.Request
		known                         bool
	}{
		{"the version tells classic load balancing", "elasticloadbalancing", "elasticloadbalancing", "DescribeLoadBalancers", form("Action=DescribeLoadBalancers&Version=2012-06-01"), true},
		{"the version tells load balancing v2", "elasticloadbalancing", "elasticloadbalancingv2", "DescribeLoadBalancers", form("Action=DescribeLoadBalancers&Version=2015-12-01"), true},
		{"another version", "ec2", "ec2", "DescribeVpcs", form("Action=DescribeVpcs&Version=2010-01-01"), false},
		{"no action", "ec2", "ec2", "POST /", form("Version=2016-11-15"), false},
		{"an operation that AWS does not have", "ec2", "ec2", "Nope", form("Action=Nope&Version=2016-11-15"), false},
		{"a literal before a label", "eks", "eks", "AssociateIdentityProviderConfig", rest("POST", "/clusters/one/identity-provider-configs/associate", "{}"), true},
		{"another method", "eks", "eks", "PATCH /clusters", rest("PATCH", "/clusters", ""), false},
		{"an empty label", "eks", "eks", "GET /clusters/", rest("GET", "/clusters/", ""), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := codec.Identify(test.service, test.request)
			if err != nil || got.API.Name() != test.api || got.Operation != test.operation || got.Known != test.known {
				t.Errorf("got %s %s %v, %v", got.API.Name(), got.Operation, got.Known, err)
			}
		})
	}
	t.Run("no such service", func(t *testing.T) {
		got, err := codec.Identify("lambda", rest("GET", "/functions", ""))
		if err != nil || got.API != nil || got.Operation != "GET /functions" {
			t.Errorf("got %+v, %v", got, err)
		}
	})
}

func TestOfInputRefuses(t *testing.T) {
	for _, typ := range []reflect.Type{
		reflect.TypeFor[string](), reflect.TypeFor[types.Vpc](), reflect.TypeFor[ec2.CreateVpcOutput](), reflect.TypeFor[ec2.CopyImageInput](),
	} {
		if _, operation, ok := wire.New().OfInput(typ); ok {
			t.Errorf("%s is taken for operation %s", typ, operation)
		}
	}
}

func TestSetFields(t *testing.T) {
	got := wire.SetFields(&eks.CreateClusterInput{
		Name: aws.String(""), Tags: map[string]string{}, BootstrapSelfManagedAddons: aws.Bool(false), ResourcesVpcConfig: nil,
	})
	if diff := cmp.Diff([]string{"Name", "BootstrapSelfManagedAddons", "Tags"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestRefusalsReachTheClient reads each protocol's error form with the real client.
func TestRefusalsReachTheClient(t *testing.T) {
	codec := wire.New()
	for signing, all := range clients(config(nil)) {
		for i, client := range all {
			typ := reflect.TypeOf(client)
			for m := range typ.NumMethod() {
				method := typ.Method(m)
				if method.Type.NumIn() < 3 || method.Type.In(2).Kind() != reflect.Pointer {
					continue
				}
				api, _, ok := codec.OfInput(method.Type.In(2).Elem())
				if !ok {
					continue
				}
				t.Run(api.Name(), func(t *testing.T) {
					refusalReaches(t, api, signing, i, method)
				})
				break // one operation of each API will do
			}
		}
	}
}

func refusalReaches(t *testing.T, api *wire.API, signing string, client int, method reflect.Method) {
	want := &service.Error{Status: http.StatusConflict, Code: "Some.Code", Message: `it's <full> & "busy"`}
	serve := server(t, func(*wire.Request) *wire.Answer { return api.Refusal("req-7", want) })
	in := reflect.New(method.Type.In(2).Elem())
	fill(seeded(1), in.Elem(), 1, nil)
	results := reflect.ValueOf(clients(config(serve))[signing][client]).MethodByName(method.Name).Call([]reflect.Value{reflect.ValueOf(t.Context()), in})
	err, _ := results[1].Interface().(error)
	var refused smithy.APIError
	if !errors.As(err, &refused) || refused.ErrorCode() != want.Code || refused.ErrorMessage() != want.Message {
		t.Fatalf("got %v", err)
	}
	var response interface {
		HTTPStatusCode() int
		ServiceRequestID() string
	}
	if !errors.As(err, &response) || response.HTTPStatusCode() != want.Status || response.ServiceRequestID() != "req-7" {
		t.Errorf("got %v", err)
	}
}

// TestForms pins what an answer looks like to those who read it without the SDK.
func TestForms(t *testing.T) {
	codec := wire.New()
	for _, test := range []struct {
		name, service string
		request       *wire.Request
		out           any
		want          string
	}{
		{"EC2", "ec2", form(describeVPCs), &ec2.DescribeVpcsOutput{Vpcs: []types.Vpc{{VpcId: aws.String("vpc-1"), Tags: []types.Tag{}}}},
			`<?xml version="1.0" encoding="UTF-8"?>` + "\n" +
				`<DescribeVpcsResponse xmlns="https://ec2.amazonaws.com/doc/2016-11-15/"><requestId>r</requestId>` +
				`<vpcSet><item><tagSet></tagSet><vpcId>vpc-1</vpcId></item></vpcSet></DescribeVpcsResponse>`},
		{"query", "iam", form(createRole), &iam.CreateRoleOutput{},
			`<?xml version="1.0" encoding="UTF-8"?>` + "\n" +
				`<CreateRoleResponse xmlns="https://iam.amazonaws.com/doc/2010-05-08/"><CreateRoleResult></CreateRoleResult>` +
				`<ResponseMetadata><RequestId>r</RequestId></ResponseMetadata></CreateRoleResponse>`},
		{"REST", "eks", rest("GET", "/clusters", ""), &eks.ListClustersOutput{Clusters: []string{"one"}}, `{"clusters":["one"]}`},
		{"JSON 1.1", "tagging", target("{}"), &resourcegroupstaggingapi.GetResourcesOutput{PaginationToken: aws.String("")}, `{"PaginationToken":""}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			found, err := codec.Identify(test.service, test.request)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := found.Result("r", test.out)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, string(answer.Body)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestFallbackFollowsTheRequestsForm(t *testing.T) {
	codec := wire.New()
	refusal := &service.Error{Code: "X", Message: "y"}
	for want, r := range map[string]*wire.Request{
		"application/x-amz-json-1.1": target("{}"),
		"text/xml;charset=UTF-8":     form("Action=X"),
		"application/json":           rest("GET", "/functions", ""),
	} {
		if got := codec.Fallback(r).Refusal("r", refusal).Header.Get("Content-Type"); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestEmptyListsStayEmpty: an empty list is not the same as none, in either
// direction, where the protocol can tell.
func TestEmptyListsStayEmpty(t *testing.T) {
	var decoded elasticloadbalancingv2.ModifyLoadBalancerAttributesInput
	r := form("Action=ModifyLoadBalancerAttributes&Version=2015-12-01&Attributes=")
	found, err := wire.New().Identify("elasticloadbalancing", r)
	if err != nil {
		t.Fatal(err)
	}
	if err := found.Decode(r, &decoded); err != nil || decoded.Attributes == nil || len(decoded.Attributes) != 0 {
		t.Errorf("got %#v, %v", decoded.Attributes, err)
	}
	var classic elasticloadbalancing.DescribeLoadBalancersInput
	r = form("Action=DescribeLoadBalancers&Version=2012-06-01")
	if found, err = wire.New().Identify("elasticloadbalancing", r); err != nil {
		t.Fatal(err)
	}
	if err := found.Decode(r, &classic); err != nil || classic.LoadBalancerNames != nil {
		t.Errorf("got %#v, %v", classic.LoadBalancerNames, err)
	}
}
