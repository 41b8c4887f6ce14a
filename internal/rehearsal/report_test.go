package rehearsal

import (
	"strings"
	"testing"

	"github.com/krops-go/krops/internal/rehearsal/awssim"
	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

func TestVerdict(t *testing.T) {
	none, some := 0, 2
	left := awssim.Report{Existing: []service.Object{{Kind: "vpc", ID: "vpc-1", Region: "eu-north-1"}}}
	for name, test := range map[string]struct {
		report Report
		kept   bool
		want   string // part of the error; empty for none
	}{
		"all is well":                         {Report{MoveCalls: &none}, false, ""},
		"the pivot changed the account":       {Report{MoveCalls: &some}, false, "2 calls that change the account"},
		"it is unknown what the pivot did":    {Report{}, false, "not known"},
		"a kept one need not have pivoted":    {Report{}, true, ""},
		"a kept one has objects":              {Report{MoveCalls: &none, Cloud: left}, true, ""},
		"an object is left":                   {Report{MoveCalls: &none, Cloud: left}, false, "vpc vpc-1 eu-north-1"},
		"something is not modelled":           {Report{MoveCalls: &none, Cloud: awssim.Report{Refused: []awssim.Refusal{{Service: "ec2", Operation: "RunInstances", What: "operation"}}}}, false, "ec2 RunInstances (operation)"},
		"a kept one met what is not modelled": {Report{Cloud: awssim.Report{Refused: []awssim.Refusal{{Service: "s3", Operation: "x", What: "y"}}}}, true, "incomplete"},
	} {
		t.Run(name, func(t *testing.T) {
			err := test.report.verdict(test.kept)
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}
