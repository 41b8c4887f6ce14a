package wire

import (
	"net"
	"net/netip"
	"slices"
	"strings"
)

// bucketOf tells the bucket that a request is for from its host or else from
// the first segment of its escaped path, and returns the path within it, which
// is empty for the bucket itself ("Virtual hosting of general purpose
// buckets", S3 User Guide). hosts are names of the server whose subdomains are
// buckets.
func bucketOf(host, path string, hosts []string) (bucket, key string) {
	path = strings.TrimPrefix(path, "/")
	if bucket := bucketOfHost(host, hosts); bucket != "" {
		return bucket, path
	}
	bucket, key, _ = strings.Cut(path, "/")
	return bucket, key
}

func bucketOfHost(host string, hosts []string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.Trim(host, "[]"))
	if _, err := netip.ParseAddr(host); err == nil {
		return ""
	}
	// bucket.s3.region.amazonaws.com, bucket.s3-region.amazonaws.com, and the
	// same before a name of the server's own.
	labels := strings.Split(host, ".")
	for i, label := range slices.Backward(labels) {
		if label == "s3" || strings.HasPrefix(label, "s3-") {
			return strings.Join(labels[:i], ".")
		}
	}
	if bucket, ok := strings.CutSuffix(host, ".localhost"); ok {
		return bucket
	}
	if n := len(labels) - 4; n > 0 {
		if _, err := netip.ParseAddr(strings.Join(labels[n:], ".")); err == nil {
			return strings.Join(labels[:n], ".")
		}
	}
	for _, own := range hosts {
		if bucket, ok := strings.CutSuffix(host, "."+own); ok {
			return bucket
		}
	}
	return ""
}
