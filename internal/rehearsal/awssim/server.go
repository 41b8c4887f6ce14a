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
	principals map[string]service.Principal // by access key id
	services   []service.Service
	operations map[operationKey]service.Operation
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
	saved   []byte        // the account as last saved
	known   map[objectKey]struct{}
	record  record
}

// operationKey tells operations of one name apart by their API.
type operationKey struct{ api, name string }

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
		codec:      wire.New(),
		principals: map[string]service.Principal{},
		operations: map[operationKey]service.Operation{},
		changed:    make(chan struct{}),
		record:     newRecord(),
	}
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
	s.running.Go(s.keepSettling)
	return s, nil
}

func (s *Server) configure(c config) error {
	if c.endpoint != "" {
		endpoint, err := url.Parse(c.endpoint)
		if err != nil || endpoint.Host == "" {
			return fmt.Errorf("endpoint %q is no URL with a host", c.endpoint)
		}
		s.endpoint = endpoint
	}
	secrets := map[string]sigv4.Secret{}
	for _, cred := range c.credentials {
		if cred.AccessKeyID == "" || cred.SecretAccessKey == "" {
			return fmt.Errorf("the credential of %q lacks its access key id or secret", cred.ARN)
		}
		secrets[cred.AccessKeyID] = sigv4.Secret{Key: cred.SecretAccessKey, SessionToken: cred.SessionToken}
		s.principals[cred.AccessKeyID] = service.Principal{ARN: cred.ARN, UserID: cred.UserID, AccessKeyID: cred.AccessKeyID}
	}
	s.verifier = &sigv4.Verifier{
		Now: c.signing.Now,
		Lookup: func(id string) (sigv4.Secret, bool) {
			secret, ok := secrets[id]
			return secret, ok
		},
	}
	for _, build := range c.services {
		s.services = append(s.services, build(world{s})...)
	}
	return s.registerOperations()
}

func (s *Server) registerOperations() error {
	names := map[string]bool{}
	for _, svc := range s.services {
		if names[svc.Name()] {
			return fmt.Errorf("two services are named %q: let one service offer both sets of operations", svc.Name())
		}
		names[svc.Name()] = true
		for _, op := range svc.Operations() {
			api, name, ok := s.codec.OfInput(op.In)
			if !ok || name != op.Name {
				return fmt.Errorf("service %s: operation %s with input %s is not in the codec's tables: "+
					"add it to wire/wiregen/modelled.go and run go generate", svc.Name(), op.Name, op.In)
			}
			key := operationKey{api.Name(), op.Name}
			if _, twice := s.operations[key]; twice {
				return fmt.Errorf("service %s: operation %s is offered twice", svc.Name(), op.Name)
			}
			for _, field := range op.Fields {
				if _, ok := op.In.FieldByName(field); !ok {
					return fmt.Errorf("service %s: operation %s: the input has no field %s", svc.Name(), op.Name, field)
				}
			}
			s.operations[key] = op
		}
	}
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
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.writeLocked(s.saved); err != nil {
		return fmt.Errorf("simulated AWS: %w", err)
	}
	return nil
}

var errClosed = errors.New("the simulated AWS was closed")
