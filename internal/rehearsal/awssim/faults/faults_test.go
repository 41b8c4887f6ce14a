package faults_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/krops-go/krops/internal/rehearsal/awssim/faults"
)

func TestRulesChooseCalls(t *testing.T) {
	call := faults.Call{Service: "ec2", Operation: "CreateVpc", Region: "eu-north-1", Principal: "arn:aws:iam::1:user/a"}
	for name, c := range map[string]struct {
		rule faults.Rule
		want string // one letter a call: x for hit
	}{
		"every call":           {faults.Rule{}, "xxxxxx"},
		"the service":          {faults.Rule{Service: "ec2"}, "xxxxxx"},
		"another service":      {faults.Rule{Service: "iam"}, "------"},
		"the operation":        {faults.Rule{Operation: "CreateVpc"}, "xxxxxx"},
		"operations by prefix": {faults.Rule{Operation: "Create*"}, "xxxxxx"},
		"another operation":    {faults.Rule{Operation: "CreateVp"}, "------"},
		"another region":       {faults.Rule{Region: "eu-west-1"}, "------"},
		"another principal":    {faults.Rule{Principal: "arn:aws:iam::1:user/b"}, "------"},
		"at most two":          {faults.Rule{Count: 2}, "xx----"},
		"after two":            {faults.Rule{After: 2}, "--xxxx"},
		"each third":           {faults.Rule{Every: 3}, "--x--x"},
		"all of it":            {faults.Rule{After: 1, Every: 2, Count: 1}, "--x---"},
	} {
		t.Run(name, func(t *testing.T) {
			c.rule.Kind = faults.Throttle
			i, err := faults.New(0, c.rule)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for range len(c.want) {
				if len(i.Decide(call)) > 0 {
					got += "x"
				} else {
					got += "-"
				}
			}
			if got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestProbabilitiesFollowTheSeed(t *testing.T) {
	hits := func(seed int64) []bool {
		i, err := faults.New(seed, faults.Rule{Kind: faults.Throttle, Probability: 0.5})
		if err != nil {
			t.Fatal(err)
		}
		var got []bool
		for range 100 {
			got = append(got, len(i.Decide(faults.Call{})) > 0)
		}
		if n := i.Hits()[0]; n < 25 || n > 75 {
			t.Errorf("%d of 100 calls were hit", n)
		}
		return got
	}
	if diff := cmp.Diff(hits(1), hits(1)); diff != "" {
		t.Errorf("one seed gives two results:\n%s", diff)
	}
	if cmp.Equal(hits(1), hits(2)) {
		t.Error("two seeds give one result")
	}
}

func TestCodesAreTheServices(t *testing.T) {
	for _, c := range []struct {
		kind               faults.Kind
		service, operation string
		code               string
		status             int
	}{
		{faults.Throttle, "ec2", "CreateVpc", "RequestLimitExceeded", 503},
		{faults.Throttle, "s3", "PutObject", "SlowDown", 503},
		{faults.Throttle, "iam", "GetRole", "Throttling", 400},
		{faults.Throttle, "eks", "CreateCluster", "ThrottlingException", 400},
		{faults.Throttle, "servicequotas", "ListServiceQuotas", "TooManyRequestsException", 400},
		{faults.Internal, "eks", "CreateCluster", "ServerException", 500},
		{faults.Internal, "iam", "GetRole", "InternalFailure", 500},
		{faults.Unavailable, "ec2", "CreateVpc", "Unavailable", 503},
		{faults.Unavailable, "rds", "CreateDBInstance", "ServiceUnavailable", 503},
		{faults.Capacity, "ec2", "AllocateAddress", "InsufficientAddressCapacity", 400},
		{faults.Capacity, "ec2", "RunInstances", "InsufficientInstanceCapacity", 500},
		{faults.Capacity, "eks", "CreateCluster", "UnsupportedAvailabilityZoneException", 400},
		{faults.Capacity, "rds", "CreateDBInstance", "InsufficientDBInstanceCapacity", 400},
		{faults.Quota, "ec2", "AllocateAddress", "AddressLimitExceeded", 400},
		{faults.Quota, "ec2", "CreateVpc", "VpcLimitExceeded", 400},
		{faults.Quota, "iam", "CreateRole", "LimitExceeded", 409},
		{faults.Quota, "s3", "CreateBucket", "TooManyBuckets", 400},
	} {
		e := faults.Rule{Kind: c.kind}.Refusal(faults.Call{Service: c.service, Operation: c.operation})
		if e == nil || e.Code != c.code || e.Status != c.status {
			t.Errorf("%s of %s %s: got %+v, want %s %d", c.kind, c.service, c.operation, e, c.code, c.status)
		}
	}
}

func TestLoad(t *testing.T) {
	load := func(text string) (*faults.Injector, error) {
		path := filepath.Join(t.TempDir(), "faults.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return faults.Load(path)
	}
	i, err := load(`{"seed": 3, "rules": [{"service": "ec2", "kind": "slow", "delay": "1m30s"}]}`)
	if err != nil {
		t.Fatal(err)
	}
	want := []faults.Rule{{Service: "ec2", Kind: faults.Slow, Delay: faults.Duration(90 * time.Second)}}
	if diff := cmp.Diff(want, i.Decide(faults.Call{Service: "ec2"})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := load(`[{"kind": "throttle"}]`); err != nil {
		t.Errorf("a list alone: %v", err)
	}
	for name, text := range map[string]string{
		"no JSON":               `rules`,
		"an unknown member":     `[{"kind": "throttle", "probabilty": 1}]`,
		"an unknown kind":       `[{"kind": "explode"}]`,
		"a probability above 1": `[{"kind": "throttle", "probability": 2}]`,
		"slow without delay":    `[{"kind": "slow"}]`,
		"refuse without code":   `[{"kind": "refuse"}]`,
		"a delay that is none":  `[{"kind": "slow", "delay": "soon"}]`,
		"a negative count":      `[{"kind": "throttle", "count": -1}]`,
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := load(text); err == nil {
				t.Error("it was accepted")
			}
		})
	}
}
