package wire

import "testing"

func TestBucketOf(t *testing.T) {
	for _, test := range []struct{ host, path, bucket, key string }{
		{"127.0.0.1:4566", "/acme-x/a/b", "acme-x", "a/b"},
		{"127.0.0.1:4566", "/", "", ""},
		{"[::1]:4566", "/acme-x", "acme-x", ""},
		{"localhost:4566", "/acme-x/k", "acme-x", "k"},
		{"acme-x.localhost:4566", "/k", "acme-x", "k"},
		{"acme-x.127.0.0.1:4566", "/k", "acme-x", "k"},
		{"acme.x.127.0.0.1", "/", "acme.x", ""},
		{"acme-x.s3.eu-north-1.amazonaws.com", "/k", "acme-x", "k"},
		{"acme-x.s3-eu-west-1.amazonaws.com", "/k", "acme-x", "k"},
		{"s3.eu-north-1.amazonaws.com", "/acme-x/k", "acme-x", "k"},
		{"acme-x.s3.localhost", "/k", "acme-x", "k"},
		{"acme-x.cloud.internal:80", "/k", "acme-x", "k"},
		{"cloud.internal:80", "/acme-x/k", "acme-x", "k"},
	} {
		bucket, key := bucketOf(test.host, test.path, []string{"cloud.internal"})
		if bucket != test.bucket || key != test.key {
			t.Errorf("%s%s: got %q and %q, want %q and %q", test.host, test.path, bucket, key, test.bucket, test.key)
		}
	}
}
