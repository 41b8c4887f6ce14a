package node

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadName(t *testing.T) {
	type answer struct {
		Names []serviceName
		Sure  bool
	}
	for host, want := range map[string]answer{
		"web":                         {[]serviceName{{"", "web", "here"}}, false},
		"web.shop":                    {[]serviceName{{"", "web", "shop"}, {"web", "shop", "here"}}, false},
		"web.shop.svc":                {[]serviceName{{"", "web", "shop"}}, true},
		"web.shop.svc.cluster.local":  {[]serviceName{{"", "web", "shop"}}, true},
		"web.shop.svc.cluster.local.": {[]serviceName{{"", "web", "shop"}}, true},
		"db-0.db.shop.svc":            {[]serviceName{{"db-0", "db", "shop"}}, true},
		"api.example.org":             {[]serviceName{{"api", "example", "org"}}, false},
		"a.b.c.example.org":           {},
	} {
		var got answer
		got.Names, got.Sure = readName(host, "here")
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(serviceName{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", host, diff)
		}
	}
}
