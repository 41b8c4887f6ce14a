package awssim_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/google/go-cmp/cmp"

	"github.com/krops-go/krops/internal/rehearsal/awssim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

func TestTheAccountOutlivesTheProcess(t *testing.T) {
	file := filepath.Join(t.TempDir(), "account.json")
	first := newBench(t, awssim.WithStateFile(file))
	gone, kept := first.createVPC(t, "10.0.0.0/16"), first.createVPC(t, "10.1.0.0/16")
	if _, err := first.ec2().DeleteVpc(t.Context(), &ec2.DeleteVpcInput{VpcId: &gone}); err != nil {
		t.Fatal(err)
	}
	first.createCluster(t, "one")

	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("the file before Close: %v, %v", info, err)
	}
	killed, err := os.ReadFile(file) // what a process that dies now leaves behind
	if err != nil {
		t.Fatal(err)
	}
	first.close(t)
	if first.clusters.state.Clusters["one"] != "CREATING" {
		t.Errorf("closing finished the cluster: %v", first.clusters.state.Clusters)
	}

	t.Run("after a close", func(t *testing.T) { restored(t, file, gone, kept) })
	t.Run("after a kill", func(t *testing.T) {
		other := filepath.Join(t.TempDir(), "account.json")
		if err := os.WriteFile(other, killed, 0o600); err != nil {
			t.Fatal(err)
		}
		restored(t, other, gone, kept)
	})
	t.Run("not as another account", func(t *testing.T) {
		if _, err := awssim.New(awssim.WithStateFile(file), awssim.WithAccount("999999999999")); err == nil {
			t.Error("it was loaded")
		}
	})
	t.Run("not with a service less", func(t *testing.T) {
		if _, err := awssim.New(awssim.WithStateFile(file), awssim.WithAccount(account), awssim.WithServices(newNetwork())); err == nil {
			t.Error("it was loaded")
		}
	})
	t.Run("not from a damaged file", func(t *testing.T) {
		damaged := filepath.Join(t.TempDir(), "account.json")
		if err := os.WriteFile(damaged, killed[:len(killed)/2], 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := awssim.New(awssim.WithStateFile(damaged), awssim.WithAccount(account), awssim.WithServices(newNetwork(), newClusters())); err == nil {
			t.Error("it was loaded")
		}
	})
}

func restored(t *testing.T, file, gone, kept string) {
	b := newBench(t, awssim.WithStateFile(file))
	want := awssim.Report{
		MutatingCalls: 4,
		Created:       map[string]int{"vpc": 2, "cluster": 1},
		Deleted:       map[string]int{"vpc": 1},
		Existing: []service.Object{
			{Kind: "vpc", Region: "eu-central-1", ID: kept},
			{Kind: "cluster", Region: "eu-central-1", ID: "one"},
		},
		Actions: []awssim.ActionUse{
			{Principal: admin.ARN, Action: "ec2:CreateVpc", Allowed: 2},
			{Principal: admin.ARN, Action: "ec2:DeleteVpc", Allowed: 1},
			{Principal: admin.ARN, Action: "eks:CreateCluster", Allowed: 1},
			{Principal: admin.ARN, Action: "iam:PassRole", Allowed: 1},
		},
	}
	got := b.server.Report()
	got.Calls = nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
	if id := b.createVPC(t, "10.2.0.0/16"); id == gone || id == kept {
		t.Errorf("the id %s was given out again", id)
	}
	b.clusters.start <- errors.New("no room") // the work that was under way goes on
	err := eks.NewClusterActiveWaiter(b.eks()).Wait(t.Context(), &eks.DescribeClusterInput{Name: aws.String("one")}, time.Minute)
	if err == nil {
		t.Error("the resumed work's failure was lost")
	}
	if status := b.clusters.state.Clusters["one"]; status != "FAILED" {
		t.Errorf("the cluster is %s", status)
	}
}

func TestSameSeedSameIDs(t *testing.T) {
	ids := func(seed int64) []string {
		b := newBench(t, awssim.WithSeed(seed))
		return []string{b.createVPC(t, "10.0.0.0/16"), b.createVPC(t, "10.0.0.0/16")}
	}
	if diff := cmp.Diff(ids(1), ids(1)); diff != "" {
		t.Errorf("one seed yields different ids:\n%s", diff)
	}
	if one, two := ids(1), ids(2); one[0] == two[0] || one[0] == one[1] {
		t.Errorf("ids repeat: %v %v", one, two)
	}
}
