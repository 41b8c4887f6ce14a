package awssim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
	"github.com/krops-go/krops/internal/rehearsal/awssim/sigv4"
	"github.com/krops-go/krops/internal/rehearsal/awssim/wire"
)

// maxBody is more than any request that is modelled needs.
const maxBody = 4 << 20

// ServeHTTP answers one AWS request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		http.Error(w, "the request's body could not be read", http.StatusBadRequest)
		return
	}
	s.answer(r, body).WriteTo(w)
}

// answer verifies who calls, finds what is called, and calls it.
func (s *Server) answer(r *http.Request, body []byte) *wire.Answer {
	id := s.requestID()
	request := wire.NewRequest(r, body)
	scope, signatureErr := s.verifier.Verify(r, body)
	if signatureErr != nil {
		scope, _ = sigv4.ScopeOf(r) // a claim, good enough to choose the form of the refusal
	}
	target, err := s.codec.Identify(scope.Service, request)
	api := target.API
	if api == nil {
		api = s.codec.Fallback(request)
	}
	if signatureErr != nil {
		return s.refuse(id, api, target.Operation, signatureRefusal(api, signatureErr))
	}
	c := codesOf(api.Protocol())
	if err != nil {
		return s.refuse(id, api, target.Operation, service.Refuse(c.value, "%v", err))
	}
	if target.API == nil {
		what := fmt.Sprintf("service %q", scope.Service)
		return s.refuseUnmodelled(id, api, scope.Service, target.Operation, c.operation, what)
	}
	op, ok := s.operations[operationKey{api.Name(), target.Operation}]
	if !ok {
		return s.refuseUnmodelled(id, api, api.Name(), target.Operation, c.operation, "operation "+target.Operation)
	}

	in := reflect.New(op.In)
	if err := target.Decode(request, in.Interface()); err != nil {
		var unknown *wire.UnknownMember
		if errors.As(err, &unknown) {
			return s.refuseUnmodelled(id, api, api.Name(), op.Name, c.member, "parameter "+unknown.Member)
		}
		return s.refuse(id, api, op.Name, service.Refuse(c.value, "%v", err))
	}
	for _, field := range wire.SetFields(in.Interface()) {
		if !slices.Contains(op.Fields, field) {
			return s.refuseUnmodelled(id, api, api.Name(), op.Name, c.member, "parameter "+field)
		}
	}
	return s.invoke(r.Context(), id, target, op, in.Interface(), &service.Call{
		Region:  scope.Region,
		Account: s.account,
		Caller:  s.principals[scope.AccessKeyID],
		Waiter:  fromWaiter(r.UserAgent()),
		World:   world{s},
	})
}

// invoke runs the handler under the account's lock, and saves what it changed
// before its answer goes out.
func (s *Server) invoke(ctx context.Context, id string, target wire.Target, op service.Operation, in any, call *service.Call) *wire.Answer {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.life, cancel)()
	call.Context = ctx

	s.mu.Lock()
	defer s.mu.Unlock()
	c := codesOf(target.API.Protocol())
	if s.closed {
		return target.API.Refusal(id, service.RefuseStatus(http.StatusServiceUnavailable, c.unavailable, "%v", errClosed))
	}
	s.running.Add(1)
	defer s.running.Done()

	s.settleLocked()
	out, err := op.Invoke(call, in)
	outcome := Outcome{Service: target.API.Name(), Operation: op.Name}
	var refusal *service.Error
	var answer *wire.Answer
	switch {
	case errors.As(err, &refusal):
	case err != nil:
		s.log.Error("the handler failed", "service", outcome.Service, "operation", op.Name, "error", err)
		refusal = service.RefuseStatus(http.StatusInternalServerError, c.internal, "%s: %v", op.Name, err)
	default:
		// Encoded under the lock, as the output may share memory with the state.
		if answer, err = target.Result(id, out); err != nil {
			s.log.Error("the answer cannot be encoded", "error", err)
			refusal = service.RefuseStatus(http.StatusInternalServerError, c.internal, "%v", err)
		}
	}
	if refusal != nil {
		outcome.Code = refusal.Code
		answer = target.API.Refusal(id, refusal)
	}
	s.record.called(outcome, op.Mutates)
	s.record.remember(outcome)
	if err := s.commitLocked(); err != nil {
		s.log.Error("save the account", "operation", op.Name, "error", err)
		return target.API.Refusal(id, service.RefuseStatus(http.StatusInternalServerError, c.internal, "%v", err))
	}
	return answer
}

// refuse answers a request that reaches no handler.
func (s *Server) refuse(id string, api *wire.API, operation string, e *service.Error) *wire.Answer {
	s.log.Warn("refused", "service", api.Name(), "operation", operation, "code", e.Code)
	outcome := Outcome{Service: api.Name(), Operation: operation, Code: e.Code}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.record.remember(outcome)
	if op, ok := s.operations[operationKey{api.Name(), operation}]; ok {
		s.record.called(outcome, op.Mutates)
	}
	return api.Refusal(id, e)
}

// refuseUnmodelled also puts what is not modelled on the record.
func (s *Server) refuseUnmodelled(id string, api *wire.API, name, operation, code, what string) *wire.Answer {
	s.mu.Lock()
	s.record.refused(name, operation, what)
	s.mu.Unlock()
	return s.refuse(id, api, operation, service.Refuse(code, "The simulated AWS does not model %s of %s.", what, name))
}

func (s *Server) requestID() string {
	return fmt.Sprintf("00000000-0000-4000-8000-%012x", s.requests.Add(1))
}

// fromWaiter reports that the user agent's list of used features, its m/
// token, has B: the SDK's waiters announce themselves so.
func fromWaiter(userAgent string) bool {
	for token := range strings.FieldsSeq(userAgent) {
		if features, ok := strings.CutPrefix(token, "m/"); ok && slices.Contains(strings.Split(features, ","), "B") {
			return true
		}
	}
	return false
}
