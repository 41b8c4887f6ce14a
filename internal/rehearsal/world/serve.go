package world

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"

	"k8s.io/client-go/kubernetes"

	"github.com/krops-go/krops/internal/dirlock"
	"github.com/krops-go/krops/internal/rehearsal/awssim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/asgsim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/cfnsim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/ec2sim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/ekssim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/elbsim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/iamsim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/kmssim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/quotasim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/rdssim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/s3sim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/secretsim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
	"github.com/krops-go/krops/internal/rehearsal/awssim/ssmsim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/stssim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/taggingsim"
)

// tokenReviewPrefix is on the AWS endpoint, where no service has a path like it.
const tokenReviewPrefix = "/_krops/token-review/"

const closeWithin = 5 * time.Second

// Serve runs the world of a prepared folder, which must be the working
// directory, until ctx ends. clusterBinary is the krops-cluster program.
func Serve(ctx context.Context, dir, clusterBinary string) error {
	lock, err := dirlock.Acquire(dir, "simulated cloud")
	if err != nil {
		return err
	}
	defer lock.Release()
	settings, err := read(Layout(dir))
	if err != nil {
		return err
	}
	cloud, err := listen("tcp", fmt.Sprintf("127.0.0.1:%d", settings.Port))
	if err != nil {
		return err
	}
	defer cloud.Close()
	if err := os.Remove(controlSocket); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	control, err := listen("unix", controlSocket)
	if err != nil {
		return err
	}
	defer control.Close()

	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	aws, err := newAWS(dir, clusterBinary, settings, log)
	if err != nil {
		return err
	}
	// Held answers are not cut off: there is no write timeout.
	cloudServer := &http.Server{Handler: route(aws), ReadHeaderTimeout: 30 * time.Second}
	controlServer := &http.Server{Handler: controlHandler(aws), ReadHeaderTimeout: 30 * time.Second}
	failed := make(chan error, 2)
	go func() { failed <- cloudServer.Serve(cloud) }()
	go func() { failed <- controlServer.Serve(control) }()
	select {
	case <-ctx.Done():
		err = nil
	case err = <-failed:
	}
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeWithin)
	defer cancel()
	return errors.Join(err, aws.Close(closing), cloudServer.Close(), controlServer.Close())
}

func listen(network, address string) (net.Listener, error) {
	l, err := net.Listen(network, address)
	if errors.Is(err, syscall.EADDRINUSE) {
		_, port, _ := net.SplitHostPort(address)
		return nil, fmt.Errorf("port %s, on which the simulated cloud answers, is taken by another process; end it (ss -ltnp 'sport = :%s' shows which it is) and run the command again", port, port)
	}
	if err != nil {
		return nil, fmt.Errorf("listening on %s: %w", address, err)
	}
	return l, nil
}

func newAWS(dir, clusterBinary string, settings Settings, log *slog.Logger) (*awssim.Server, error) {
	l := Layout(dir)
	backend := &clusters{
		binary: clusterBinary, dir: l.clusters(), endpoint: settings.Endpoint(),
		clients: map[ekssim.ClusterID]kubernetes.Interface{},
	}
	return awssim.New(
		awssim.WithAccount(Account),
		awssim.WithCredentials(awssim.Credential{
			AccessKeyID: settings.AccessKeyID, SecretAccessKey: settings.SecretAccessKey,
			ARN: "arn:aws:iam::" + Account + ":user/krops", UserID: "AIDAKROPSREHEARSAL01",
		}),
		awssim.WithEndpoint(settings.Endpoint()),
		awssim.WithStateFile(l.state()),
		awssim.WithLogger(log),
		awssim.WithServicesOf(func(w service.World) []service.Service {
			ec2 := ec2sim.New(Account, w, ec2sim.Options{})
			iam := iamsim.New()
			groups := asgsim.New(ec2)
			eks := ekssim.New(backend, ec2, iam, groups, ekssim.Timing{})
			classic, v2 := elbsim.NewClassic(elbsim.WithNetwork(ec2)), elbsim.NewV2(elbsim.WithNetwork(ec2))
			keys, secrets := kmssim.New(Account), secretsim.New(Account)
			databases := rdssim.New(Account, w, ec2, secrets, keys, rdssim.Timing{})
			buckets := s3sim.New(Account, ec2, s3sim.Options{Dir: l.objects()})
			stacks := cfnsim.New(Account, w, iam, cfnsim.Timing{})
			parameters := ssmsim.New(Account, ec2)
			return []service.Service{
				ec2, iam, groups, eks, stssim.New(stssim.WithDirectory(iam)), classic, v2,
				buckets, databases, stacks, keys, secrets, parameters, quotasim.New(Account, ec2),
				taggingsim.New(ec2, eks, groups, classic, v2, buckets, databases, stacks, keys, secrets, parameters),
			}
		}),
	)
}

// route tells the token reviews of the EKS clusters from calls of AWS's API.
func route(aws *awssim.Server) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rest, ok := strings.CutPrefix(r.URL.EscapedPath(), tokenReviewPrefix)
		if !ok {
			aws.ServeHTTP(w, r)
			return
		}
		region, escaped, _ := strings.Cut(rest, "/")
		name, err := url.PathUnescape(escaped)
		if err != nil || name == "" {
			http.NotFound(w, r)
			return
		}
		aws.TokenReviewHandler(region, name).ServeHTTP(w, r)
	})
}

// controlHandler answers the rehearsal itself.
func controlHandler(aws *awssim.Server) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /report", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(aws.Report()); err != nil {
			slog.Error("Answering a report failed", "err", err)
		}
	})
	return mux
}
