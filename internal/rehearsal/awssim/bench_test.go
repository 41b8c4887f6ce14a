package awssim_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/asgsim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/ec2sim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/ekssim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/iamsim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/s3sim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
	"github.com/krops-go/krops/internal/rehearsal/awssim/stssim"
)

// BenchmarkCalls is the rate at which 64 clients are answered, signatures
// verified and policies evaluated. Requests are signed once: what is measured
// is the simulator, not the signing.
func BenchmarkCalls(b *testing.B) {
	const vpcs = 50
	server, err := awssim.New(
		awssim.WithAccount(account), awssim.WithCredentials(admin),
		awssim.WithServicesOf(func(w service.World) []service.Service {
			iam, ec2 := iamsim.New(), ec2sim.New(account, w, ec2sim.Options{Quotas: ec2sim.Quotas{VPCs: vpcs}})
			return []service.Service{ec2, iam, stssim.New(stssim.WithDirectory(iam)), s3sim.New(account, ec2, s3sim.Options{})}
		}),
	)
	if err != nil {
		b.Fatal(err)
	}
	listener := httptest.NewServer(server)
	b.Cleanup(func() {
		listener.Close()
		if err := server.Close(context.Background()); err != nil {
			b.Error(err)
		}
	})
	credentials := aws.Credentials{AccessKeyID: admin.AccessKeyID, SecretAccessKey: admin.SecretAccessKey}
	client := ec2.NewFromConfig(aws.Config{
		Region: "eu-central-1", BaseEndpoint: &listener.URL,
		Credentials: aws.NewCredentialsCache(staticCredentials(credentials)),
	})
	for n := range vpcs {
		if _, err := client.CreateVpc(b.Context(), &ec2.CreateVpcInput{CidrBlock: aws.String(fmt.Sprintf("10.%d.0.0/16", n))}); err != nil {
			b.Fatal(err)
		}
	}
	signed := func(method, path, contentType, body, service string) func() *http.Request {
		sum := sha256.Sum256([]byte(body))
		digest := hex.EncodeToString(sum[:])
		r, err := http.NewRequest(method, listener.URL+path, nil)
		if err != nil {
			b.Fatal(err)
		}
		r.Header.Set("Content-Type", contentType)
		if service == "s3" {
			r.Header.Set("X-Amz-Content-Sha256", digest)
		}
		r.ContentLength = int64(len(body))
		if err := v4.NewSigner().SignHTTP(b.Context(), credentials, r, digest, service, "eu-central-1", time.Now()); err != nil {
			b.Fatal(err)
		}
		return func() *http.Request {
			again := r.Clone(r.Context())
			again.Body = io.NopCloser(strings.NewReader(body))
			return again
		}
	}
	form := func(service, version, action string) func() *http.Request {
		return signed(http.MethodPost, "/", "application/x-www-form-urlencoded; charset=utf-8", "Action="+action+"&Version="+version, service)
	}
	objects := s3.NewFromConfig(aws.Config{
		Region: "eu-central-1", BaseEndpoint: &listener.URL, Credentials: aws.NewCredentialsCache(staticCredentials(credentials)),
	}, func(o *s3.Options) { o.UsePathStyle = true })
	_, err = objects.CreateBucket(b.Context(), &s3.CreateBucketInput{
		Bucket:                    aws.String("bench-bucket"),
		CreateBucketConfiguration: &s3types.CreateBucketConfiguration{LocationConstraint: "eu-central-1"},
	})
	if err != nil {
		b.Fatal(err)
	}
	transport := &http.Transport{MaxIdleConnsPerHost: 128}
	b.Cleanup(transport.CloseIdleConnections)
	for _, c := range []struct {
		name    string
		request func() *http.Request
	}{
		{"DescribeInstances", form("ec2", "2016-11-15", "DescribeInstances")},
		{"GetCallerIdentity", form("sts", "2011-06-15", "GetCallerIdentity")},
		{"ListUsers", form("iam", "2010-05-08", "ListUsers")},
		{"DescribeVpcs", form("ec2", "2016-11-15", "DescribeVpcs")},
		{"PutObject", signed(http.MethodPut, "/bench-bucket/key", "text/plain", strings.Repeat("x", 1024), "s3")},
	} {
		b.Run(c.name, func(b *testing.B) {
			before := processorTime(b)
			b.SetParallelism(32) // for each of two processors
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				var body bytes.Buffer
				for pb.Next() {
					response, err := transport.RoundTrip(c.request())
					if err != nil {
						b.Error(err)
						return
					}
					body.Reset()
					_, err = body.ReadFrom(response.Body)
					response.Body.Close()
					if err != nil || response.StatusCode != http.StatusOK {
						b.Errorf("got %s, %v: %s", response.Status, err, body.String())
						return
					}
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "req/s")
			// What the machine does beside does not count here: clients and
			// server together, on whichever processors.
			b.ReportMetric((processorTime(b)-before).Seconds()*1e6/float64(b.N), "cpu-µs/req")
		})
	}
}

func processorTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// BenchmarkStart is how long an account takes until it can be served.
func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		server, err := awssim.New(allServices())
		if err != nil {
			b.Fatal(err)
		}
		if err := server.Close(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// allServices is an account with everything that is the product's own.
func allServices() awssim.Option {
	return awssim.WithServicesOf(func(w service.World) []service.Service {
		ec2, iam := ec2sim.New(account, w, ec2sim.Options{}), iamsim.New()
		groups := asgsim.New(ec2)
		return []service.Service{
			ec2, iam, groups, ekssim.New(noClusters{}, ec2, iam, groups, ekssim.Timing{}), stssim.New(stssim.WithDirectory(iam)),
			s3sim.New(account, ec2, s3sim.Options{}),
		}
	})
}

// BenchmarkLargeAccount is what ten thousand resources take in memory, and how
// long another one takes to make beside them.
func BenchmarkLargeAccount(b *testing.B) {
	const resources = 10_000
	server, err := awssim.New(awssim.WithAccount(account), awssim.WithCredentials(admin), allServices())
	if err != nil {
		b.Fatal(err)
	}
	listener := httptest.NewServer(server)
	b.Cleanup(func() {
		listener.Close()
		if err := server.Close(context.Background()); err != nil {
			b.Error(err)
		}
	})
	client := ec2.NewFromConfig(aws.Config{
		Region: "eu-central-1", BaseEndpoint: &listener.URL,
		Credentials: aws.NewCredentialsCache(staticCredentials{AccessKeyID: admin.AccessKeyID, SecretAccessKey: admin.SecretAccessKey}),
	})
	vpc, err := createVPC(b.Context(), client)
	if err != nil {
		b.Fatal(err)
	}
	made := 0
	create := func() {
		made++
		_, err := client.CreateSecurityGroup(b.Context(), &ec2.CreateSecurityGroupInput{
			VpcId: &vpc, GroupName: aws.String(fmt.Sprintf("group-%d", made)), Description: aws.String("one of many"),
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	for range resources {
		create()
	}
	for b.Loop() {
		create()
	}
	var memory runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&memory)
	b.ReportMetric(float64(memory.HeapAlloc)/(1<<20), "MB")
}
