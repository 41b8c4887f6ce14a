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

// Bodies are more than any request that is modelled needs. S3's clients send
// what is larger in parts, mostly of 8 MiB.
const (
	maxBody   = 4 << 20
	maxObject = 64 << 20
)

// ServeHTTP answers one AWS request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	limit := int64(maxBody)
	if scope, _ := sigv4.ScopeOf(r); scope.Service == "s3" {
		limit = maxObject
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	if err != nil {
		http.Error(w, "the request's body could not be read", http.StatusBadRequest)
		return
	}
	answer := s.answer(r, body)
	if answer == nil {
		panic(http.ErrAbortHandler) // net/http's way to cut the connection
	}
	answer.WriteTo(w)
}

// answer verifies who calls, finds what is called, and calls it. It returns
// nil when the connection is to be cut.
func (s *Server) answer(r *http.Request, body []byte) *wire.Answer {
	id := s.requestID()
	request := wire.NewRequest(r, body)
	scope, signatureErr := s.verifier.Verify(r, body)
	if signatureErr != nil {
		scope, _ = sigv4.ScopeOf(r) // a claim, good enough to choose the form of the refusal
	}
	target, err := s.codec.Identify(scope.Service, request)
	if errors.Is(signatureErr, sigv4.ErrMissing) {
		if t, ok := s.anonymous(request); ok {
			target, err, signatureErr, scope.Region = t, nil, nil, anonymousRegion
		}
	}
	api := target.API
	if api == nil {
		api = s.codec.Fallback(request)
	}
	at := Outcome{Service: api.Name(), Operation: target.Operation, Region: scope.Region}
	if signatureErr != nil {
		return s.refuse(id, api, at, signatureRefusal(api, signatureErr))
	}
	c := codesOf(api.Protocol())
	if err != nil {
		return s.refuse(id, api, at, service.Refuse(c.value, "%v", err))
	}
	if target.API == nil {
		at.Service = scope.Service
		return s.refuseUnmodelled(id, api, at, c.operation, fmt.Sprintf("service %q", scope.Service))
	}
	op, ok := s.operations[operationKey{api.Name(), target.Operation}]
	if !ok {
		return s.refuseUnmodelled(id, api, at, c.operation, "operation "+target.Operation)
	}

	in := reflect.New(op.In).Interface()
	if err := target.Decode(request, in); err != nil {
		var refusal *service.Error
		if errors.As(err, &refusal) {
			return s.refuse(id, api, at, refusal)
		}
		var unknown *wire.UnknownMember
		if errors.As(err, &unknown) {
			return s.refuseUnmodelled(id, api, at, c.member, "parameter "+unknown.Member)
		}
		return s.refuse(id, api, at, service.Refuse(c.value, "%v", err))
	}
	for _, field := range wire.SetFields(in) {
		if !op.fields[field] {
			return s.refuseUnmodelled(id, api, at, c.member, "parameter "+field)
		}
	}
	return s.invoke(r.Context(), &invocation{
		id: id, target: target, op: op, in: in, outcome: at, key: scope.AccessKeyID, origin: originOf(r),
		waiter: fromWaiter(r.UserAgent()), json: r.Header.Get("Accept") == "application/json",
	})
}

// anonymousRegion is where calls that nobody signed are taken to go.
const anonymousRegion = "us-east-1"

// anonymous finds the operation of a request without a signature, if there is
// one that needs none: such operations are STS's.
func (s *Server) anonymous(request *wire.Request) (wire.Target, bool) {
	target, err := s.codec.Identify("sts", request)
	if err != nil || target.API == nil {
		return target, false
	}
	op, ok := s.operations[operationKey{target.API.Name(), target.Operation}]
	return target, ok && op.Anonymous
}

// invocation is a request that has been understood.
type invocation struct {
	id      string
	target  wire.Target
	op      *operation
	in      any
	outcome Outcome
	key     string // access key id; empty for anonymous calls
	origin  origin
	waiter  bool
	json    bool // the answer is asked for in JSON
}

// invoke runs the handler under the account's lock, and saves what it changed
// before its answer goes out.
func (s *Server) invoke(ctx context.Context, v *invocation) *wire.Answer {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.life, cancel)()
	api := v.target.API
	c := codesOf(api.Protocol())

	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return api.Refusal(v.id, service.RefuseStatus(http.StatusServiceUnavailable, c.unavailable, "%v", errClosed))
	}
	s.running.Add(1)
	defer s.running.Done()

	s.settleLocked()
	var credential service.Credential
	if !v.op.Anonymous {
		var known bool
		credential, known = s.credentialLocked(v.key)
		v.outcome.Principal = credential.Principal.ARN
		if !known {
			return s.refuseLocked(v.id, api, v.outcome, signatureRefusal(api, sigv4.ErrUnknownKey))
		}
		if expired(credential, s.clock.Now()) {
			return s.refuseLocked(v.id, api, v.outcome, sessionEnded(api.Protocol()))
		}
	}
	fault := s.faultLocked(ctx, v, credential)
	if fault.before {
		return nil
	}

	access := s.accessLocked(credential, v.origin, v.outcome.Region, v.in)
	refusal := fault.refusal
	if refusal == nil && !v.op.Anonymous && !v.op.OwnAccess {
		refusal = access.authorise(api.Protocol(), &v.op.needs, v.op.Name)
	}
	if refusal == nil {
		refusal = s.hidden.Refusal(fault.call, v.in)
	}
	var answer *wire.Answer
	handled := refusal == nil
	if handled {
		answer, refusal = s.handleLocked(v, fault, &service.Call{
			Context: ctx, Region: v.outcome.Region, Account: s.account, Caller: credential.Principal,
			Waiter: v.waiter, World: world{s}, Access: access,
		})
	}
	if refusal != nil {
		v.outcome.Code = refusal.Code
		answer = api.Refusal(v.id, refusal)
	}
	s.record.count(v.outcome, v.op.Mutates)
	s.rememberLocked(v.outcome)
	if handled && (v.op.Mutates || v.op.Saves) {
		s.touchLocked(v.op.owner.reach)
		s.settleLocked()
		if err := s.awaitSavedLocked(); err != nil {
			return api.Refusal(v.id, service.RefuseStatus(http.StatusInternalServerError, c.internal, "%v", err))
		}
	}
	if fault.after {
		return nil
	}
	return answer
}

// handleLocked calls the handler and encodes its answer.
func (s *Server) handleLocked(v *invocation, fault fault, call *service.Call) (*wire.Answer, *service.Error) {
	c := codesOf(v.target.API.Protocol())
	if v.op.Mutates && !onlyAdds(v.op.Name) {
		s.noteLocked(v.op.owner.reach)
	}
	out, err := v.op.Invoke(call, v.in)
	var refusal *service.Error
	if errors.As(err, &refusal) {
		return nil, refusal
	}
	if err != nil {
		s.log.Error("the handler failed", "service", v.outcome.Service, "operation", v.op.Name, "error", err)
		return nil, service.RefuseStatus(http.StatusInternalServerError, c.internal, "%s: %v", v.op.Name, err)
	}
	if fault.hide > 0 {
		s.hidden.Hide(fault.call, v.in, out, s.clock.Now().Add(fault.hide))
	}
	if !v.op.Mutates {
		s.hidden.Prune(fault.call, out)
	}
	if v.json && v.outcome.Service == "sts" {
		return identityAnswer(v.id, out)
	}
	// Encoded under the lock, as the output may share memory with the state.
	answer, err := v.target.Result(v.id, out)
	if err != nil {
		s.log.Error("the answer cannot be encoded", "error", err)
		return nil, service.RefuseStatus(http.StatusInternalServerError, c.internal, "%v", err)
	}
	return answer, nil
}

// refuse answers a request that reaches no handler.
func (s *Server) refuse(id string, api *wire.API, at Outcome, e *service.Error) *wire.Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refuseLocked(id, api, at, e)
}

func (s *Server) refuseLocked(id string, api *wire.API, at Outcome, e *service.Error) *wire.Answer {
	s.log.Warn("refused", "service", at.Service, "operation", at.Operation, "code", e.Code)
	at.Code = e.Code
	s.rememberLocked(at)
	if op, ok := s.operations[operationKey{at.Service, at.Operation}]; ok {
		s.record.count(at, op.Mutates)
	}
	return api.Refusal(id, e)
}

// refuseUnmodelled also puts what is not modelled on the record.
func (s *Server) refuseUnmodelled(id string, api *wire.API, at Outcome, code, what string) *wire.Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.record.refused(at.Service, at.Operation, what)
	return s.refuseLocked(id, api, at, service.Refuse(code, "The simulated AWS does not model %s of %s.", what, at.Service))
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
