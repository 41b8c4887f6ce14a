package awssim

import (
	"io"
	"log/slog"

	"k8s.io/utils/clock"

	"github.com/krops-go/krops/internal/rehearsal/awssim/faults"
	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// Option configures a Server.
type Option func(*config)

type config struct {
	account     string
	services    []func(service.World) []service.Service
	credentials []Credential
	clock       clock.WithTicker
	signing     clock.PassiveClock
	seed        int64
	stateFile   string
	endpoint    string
	log         *slog.Logger
	faults      *faults.Injector
	calls       io.Writer
}

// Credential is an access key and whose it is.
type Credential struct {
	AccessKeyID     string
	SecretAccessKey string
	SessionToken    string // empty for a permanent key
	ARN             string // of the principal
	UserID          string
	// Policies are the documents of what the principal may do. Nil means
	// everything; an empty list means nothing.
	Policies []string
}

// WithServices adds services. Two services must not share a Name.
func WithServices(services ...service.Service) Option {
	return WithServicesOf(func(service.World) []service.Service { return services })
}

// WithServicesOf adds services that need the account's World when they are
// made. build is called once, by New, and must not use the World's Async or
// Await yet.
func WithServicesOf(build func(service.World) []service.Service) Option {
	return func(c *config) { c.services = append(c.services, build) }
}

// WithCredentials adds access keys. Requests signed with any other are refused.
func WithCredentials(credentials ...Credential) Option {
	return func(c *config) { c.credentials = append(c.credentials, credentials...) }
}

// WithAccount sets the twelve-digit account id; the default is 000000000000.
func WithAccount(id string) Option { return func(c *config) { c.account = id } }

// WithClock sets the account's time, by which resources change state. The
// default is the real time.
func WithClock(time clock.WithTicker) Option { return func(c *config) { c.clock = time } }

// WithSignatureClock sets the time that signatures are dated by. The default
// is the real time even when the account's is not, because clients sign by it.
func WithSignatureClock(time clock.PassiveClock) Option { return func(c *config) { c.signing = time } }

// WithSeed sets what ids are derived from: same seed and calls, same ids.
func WithSeed(seed int64) Option { return func(c *config) { c.seed = seed } }

// WithStateFile keeps the account in a file, so that it outlives the process.
// An existing file is loaded. One process at a time may use it.
func WithStateFile(path string) Option { return func(c *config) { c.stateFile = path } }

// WithEndpoint sets the URL under which clients reach the server, such as
// "http://127.0.0.1:4566". TokenReviewHandler accepts no token made for
// another, and none at all without it.
func WithEndpoint(url string) Option { return func(c *config) { c.endpoint = url } }

// WithLogger sets where refusals and failures are logged; the default is
// nowhere. Bodies, signatures and secrets are never logged.
func WithLogger(log *slog.Logger) Option { return func(c *config) { c.log = log } }

// WithFaults makes calls fail as the injector decides.
func WithFaults(i *faults.Injector) Option { return func(c *config) { c.faults = i } }

// WithCallLog writes every call to w, one JSON object of the form of Outcome a
// line, in the order in which they ended. The server writes from one goroutine
// and is done with w when Close returns.
func WithCallLog(w io.Writer) Option { return func(c *config) { c.calls = w } }
