package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"

	"github.com/krops-go/krops/internal/rehearsal"
)

func printReportJSON(out io.Writer, report *rehearsal.Report) error {
	return json.NewEncoder(out).Encode(map[string]*rehearsal.Report{"report": report})
}

// printReport writes what the rehearsal did. over says that it ran to its end
// and that nothing was left, which was checked.
func printReport(out io.Writer, r *rehearsal.Report, over bool) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\nSTEP\tTIME\tRUNS\t")
	for _, s := range r.Steps {
		time := "not done"
		if s.Done {
			time = fmt.Sprintf("%.1fs", s.Elapsed.Seconds())
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\n", s.Step, time, s.Attempts, s.Title)
	}
	fmt.Fprintln(w, "\nCLOUD OBJECTS\tCREATED\tDELETED\t")
	for _, kind := range slices.Sorted(maps.Keys(r.Cloud.Created)) {
		fmt.Fprintf(w, "%s\t%d\t%d\t\n", kind, r.Cloud.Created[kind], r.Cloud.Deleted[kind])
	}
	fmt.Fprintln(w, "\nAWS CALLS\tALL\tMUTATING\tREFUSED OR FAILED\t")
	for _, s := range callsByService(r) {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t\n", s.name, s.all, s.mutating, s.failed)
	}
	w.Flush()
	fmt.Fprintln(out)
	if r.MoveCalls != nil {
		fmt.Fprintf(out, "The pivot made %d calls that change the account.\n", *r.MoveCalls)
	}
	if over {
		fmt.Fprintln(out, "Nothing is left: krops' own listing of the account is empty, and so is the simulated account itself.")
	}
}

type serviceCalls struct {
	name                  string
	all, mutating, failed int
}

func callsByService(r *rehearsal.Report) []serviceCalls {
	sums := map[string]*serviceCalls{}
	for _, c := range r.Cloud.Calls {
		s, ok := sums[c.Service]
		if !ok {
			s = &serviceCalls{name: c.Service}
			sums[c.Service] = s
		}
		s.all += c.Count
		if c.Mutating {
			s.mutating += c.Count
		}
		for _, n := range c.Failed {
			s.failed += n
		}
	}
	var list []serviceCalls
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		list = append(list, *sums[name])
	}
	return list
}

// printKept tells how to look around in a rehearsal that stopped early and lives
// on; again is the command that takes it up.
func printKept(out io.Writer, again string, r *rehearsal.Rehearsal) {
	access := r.Access()
	fmt.Fprintf(out, `
The rehearsal lives on. To look around in the management cluster, if it was built:

  export KUBECONFIG=%s
  kubectl get clusters,machinepools,nodes -A
  kubectl get pods -A

The simulated AWS, for the aws command:

  export AWS_ENDPOINT_URL=%s AWS_SHARED_CREDENTIALS_FILE=%s AWS_REGION=%s
  aws eks list-clusters
  aws ec2 describe-vpcs

To go on and tear it down:  %s
To throw it away:           %s --discard
`, access.Kubeconfig, access.Endpoint, access.CredentialsFile, access.Region, again, again)
}
