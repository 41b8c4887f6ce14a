package iamsim_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/krops-go/krops/internal/rehearsal/awssim/iamsim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// world is one in which nothing takes time.
type world struct{ ids int }

var now = time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC)

func (w *world) Now() time.Time { return now }
func (w *world) NewID(prefix string, n int) string {
	w.ids++
	return prefix + fmt.Sprintf("%0*x", n, w.ids)
}
func (w *world) Async(func(context.Context) error, func(error)) {}
func (w *world) Await(_ context.Context, _ time.Duration, done func() bool) bool {
	return done()
}

type env struct {
	t     *testing.T
	world *world
	iam   *iamsim.Service
}

func newEnv(t *testing.T) *env { return &env{t: t, world: &world{}, iam: iamsim.New()} }

// call invokes the operation as the front would.
func call[Out any](e *env, name string, in any) (*Out, error) {
	e.t.Helper()
	ops := e.iam.Operations()
	i := slices.IndexFunc(ops, func(op service.Operation) bool { return op.Name == name })
	if i < 0 {
		e.t.Fatalf("no operation %s", name)
	}
	v := reflect.ValueOf(in).Elem()
	for f := range v.NumField() {
		if field := v.Type().Field(f); field.IsExported() && !v.Field(f).IsZero() && !slices.Contains(ops[i].Fields, field.Name) {
			e.t.Fatalf("%s does not honour %s", name, field.Name)
		}
	}
	out, err := ops[i].Invoke(&service.Call{Context: context.Background(), Account: "111122223333", World: e.world}, in)
	if err != nil {
		return nil, err
	}
	return out.(*Out), nil
}

func must[Out any](e *env, name string, in any) *Out {
	e.t.Helper()
	out, err := call[Out](e, name, in)
	if err != nil {
		e.t.Fatalf("%s: %v", name, err)
	}
	return out
}

func refused(t *testing.T, err error, status int, code string) {
	t.Helper()
	var refusal *service.Error
	if !errors.As(err, &refusal) || refusal.Code != code || refusal.Status != status {
		t.Fatalf("got %v, want a refusal with code %s and status %d", err, code, status)
	}
}

const trust = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"ec2.amazonaws.com"},"Action":"sts:AssumeRole"}]}`

func (e *env) createRole(name string) *iam.CreateRoleOutput {
	e.t.Helper()
	return must[iam.CreateRoleOutput](e, "CreateRole", &iam.CreateRoleInput{RoleName: aws.String(name), AssumeRolePolicyDocument: aws.String(trust)})
}
