// Package awssim is the front of the simulated AWS: one HTTP endpoint that
// speaks the protocols of all services, verifies signatures, hands each call
// to the service it is for, keeps the account in a file, and records what
// happened. The services are passed in; see package service for the seam.
//
// What no service models is refused in the form of the API that was called,
// naming what, and shows up in Report.
package awssim

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/utils/clock"

	"github.com/krops-go/krops/internal/rehearsal/awssim/faults"
	"github.com/krops-go/krops/internal/rehearsal/awssim/policy"
	"github.com/krops-go/krops/internal/rehearsal/awssim/policy/permission"
	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
	"github.com/krops-go/krops/internal/rehearsal/awssim/sigv4"
	"github.com/krops-go/krops/internal/rehearsal/awssim/wire"
)

// Server is one simulated account. It is an http.Handler and must be served
// without a mux that cleans paths, since EKS puts escaped ARNs into them, and
// without a write timeout, since waiting calls are held. Close ends it.
type Server struct {
	account    string
	endpoint   *url.URL // nil without WithEndpoint
	clock      clock.WithTicker
	seed       int64
	stateFile  string
	log        *slog.Logger
	codec      *wire.Codec
	verifier   *sigv4.Verifier
	given      map[string]given               // keys the server was made with, by id
	givenTo    map[string]*policy.Permissions // their permissions by the principal's ARN
	services   []service.Service
	members    []*member // the services with what the front knows of each
	keyrings   []service.Keyring
	directory  service.Directory // nil without IAM
	buckets    bucketPolicies    // nil without S3
	operations map[operationKey]*operation
	faults     *faults.Injector
	calls      *callLog // nil without WithCallLog
	requests   atomic.Uint64

	// life ends when Close is called; work in the background runs on it.
	life    context.Context
	stop    context.CancelFunc
	running sync.WaitGroup // added to with mu held and closed false

	mu      sync.Mutex // guards all below and the services
	closed  bool
	changed chan struct{} // closed and replaced when something changed or fell due
	due     time.Time     // when the next transition falls due, or zero
	ids     uint64        // how many ids were given out
	record  record
	hidden  faults.Hidden
	read    map[string]*policy.Document // by text
	saving  saving
}

// operationKey tells operations of one name apart by their API.
type operationKey struct{ api, name string }

// bucketPolicies is a service with buckets: S3. The account's lock is held.
type bucketPolicies interface {
	// BucketPolicy returns the policy of a bucket, or false when it has none.
	BucketPolicy(name string) (document string, ok bool)
}

// operation is a service's operation with what the front needs for it.
type operation struct {
	service.Operation
	owner  *member
	fields map[string]bool // that the handler honours
	needs  permission.Needs
}

// New returns the account, loaded from its state file if there is one. Close
// must be called on it, also when it was never served.
func New(opts ...Option) (*Server, error) {
	c := config{
		account: "000000000000",
		clock:   clock.RealClock{},
		signing: clock.RealClock{},
		log:     slog.New(slog.DiscardHandler),
	}
	for _, opt := range opts {
		opt(&c)
	}
	s := &Server{
		account: c.account, clock: c.clock, seed: c.seed, stateFile: c.stateFile, log: c.log,
		given:      map[string]given{},
		givenTo:    map[string]*policy.Permissions{},
		operations: map[operationKey]*operation{},
		faults:     c.faults,
		changed:    make(chan struct{}),
		record:     newRecord(),
		read:       map[string]*policy.Document{},
	}
	s.saving.init(&s.mu)
	s.life, s.stop = context.WithCancel(context.Background())
	if err := s.configure(c); err != nil {
		s.stop()
		return nil, fmt.Errorf("simulated AWS: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.loadLocked(); err != nil {
		s.stop()
		return nil, fmt.Errorf("simulated AWS: %w", err)
	}
	for _, svc := range s.services {
		if resumer, ok := svc.(service.Resumer); ok {
			resumer.Resume(world{s})
		}
	}
	if c.calls != nil {
		s.calls = newCallLog(c.calls)
	}
	s.running.Go(s.keepSettling)
	go s.keepSaving()
	return s, nil
}

func (s *Server) configure(c config) error {
	if c.endpoint != "" {
		endpoint, err := url.Parse(c.endpoint)
		if err != nil || endpoint.Host == "" {
			return fmt.Errorf("endpoint %q is no URL with a host", c.endpoint)
		}
		s.endpoint = endpoint
		s.codec = wire.New(endpoint.Hostname())
	} else {
		s.codec = wire.New()
	}
	for _, cred := range c.credentials {
		if err := s.give(cred); err != nil {
			return err
		}
	}
	s.verifier = &sigv4.Verifier{Now: c.signing.Now, Lookup: s.secret}
	for _, build := range c.services {
		s.services = append(s.services, build(world{s})...)
	}
	return s.registerOperations()
}

func (s *Server) registerOperations() error {
	byName := map[string]*member{}
	for _, svc := range s.services {
		if byName[svc.Name()] != nil {
			return fmt.Errorf("two services are named %q: let one service offer both sets of operations", svc.Name())
		}
		m := &member{Service: svc, unsettled: true, unsaved: true}
		byName[svc.Name()] = m
		s.members = append(s.members, m)
		if keyring, ok := svc.(service.Keyring); ok {
			s.keyrings = append(s.keyrings, keyring)
		}
		if directory, ok := svc.(service.Directory); ok {
			s.directory = directory
		}
		if buckets, ok := svc.(bucketPolicies); ok {
			s.buckets = buckets
		}
		for _, op := range svc.Operations() {
			if err := s.register(m, op); err != nil {
				return fmt.Errorf("service %s: %w", svc.Name(), err)
			}
		}
	}
	if err := s.registerSimulation(); err != nil {
		return err
	}
	for _, m := range s.members {
		m.reach = s.members
		contained, ok := m.Service.(service.Contained)
		if !ok {
			continue
		}
		m.reach = []*member{m}
		for _, name := range contained.Reaches() {
			if other := byName[name]; other != nil {
				m.reach = append(m.reach, other)
			}
		}
	}
	return nil
}

func (s *Server) register(m *member, op service.Operation) error {
	api, name, ok := s.codec.OfInput(op.In)
	if !ok || name != op.Name {
		return fmt.Errorf("operation %s with input %s is not in the codec's tables: "+
			"add it to wire/wiregen/modelled.go and run go generate", op.Name, op.In)
	}
	key := operationKey{api.Name(), op.Name}
	if _, twice := s.operations[key]; twice {
		return fmt.Errorf("operation %s is offered twice", op.Name)
	}
	fields := map[string]bool{}
	for _, field := range op.Fields {
		if _, ok := op.In.FieldByName(field); !ok {
			return fmt.Errorf("operation %s: the input has no field %s", op.Name, field)
		}
		fields[field] = true
	}
	s.operations[key] = &operation{Operation: op, owner: m, fields: fields, needs: permission.Of(api.Name(), op.Name)}
	return nil
}

// Close ends held calls and work in the background, waits for them, and saves
// the account. After it returned nil nothing of the server runs; requests are
// answered with "service unavailable". It may be called again.
func (s *Server) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.stop()
	ended := make(chan struct{})
	go func() {
		s.running.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
		return fmt.Errorf("simulated AWS: work in the background has not ended: %w", ctx.Err())
	}
	s.saving.end()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls.end()
	if err := s.saveAllLocked(); err != nil {
		return fmt.Errorf("simulated AWS: %w", err)
	}
	return nil
}

var errClosed = errors.New("the simulated AWS was closed")
