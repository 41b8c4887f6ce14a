package wire

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"hash"
	"hash/crc32"
	"hash/crc64"
	"net/http"
	"strings"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

const checksumPrefix = "X-Amz-Checksum-"

// nvme is the polynomial of CRC-64/NVME, reversed ("Checking object integrity
// in Amazon S3").
const nvme = 0x9a6c9329ac4bc9b5

// NewChecksum returns the hash that S3 knows by that name, such as "crc32" or
// "sha256", or false for one it does not know.
func NewChecksum(algorithm string) (hash.Hash, bool) {
	switch strings.ToLower(algorithm) {
	case "crc32":
		return crc32.NewIEEE(), true
	case "crc32c":
		return crc32.New(crc32.MakeTable(crc32.Castagnoli)), true
	case "crc64nvme":
		return crc64.New(crc64.MakeTable(nvme)), true
	case "sha1":
		return sha1.New(), true
	case "sha256":
		return sha256.New(), true
	}
	return nil, false
}

// checkBody refuses a body that is not what its headers say it is.
func checkBody(header http.Header, body []byte) error {
	if stated := header.Get("Content-Md5"); stated != "" {
		sum := md5.Sum(body)
		if base64.StdEncoding.EncodeToString(sum[:]) != stated {
			return service.Refuse("BadDigest", "The Content-MD5 you specified did not match what we received.")
		}
	}
	for name := range header {
		algorithm, ok := strings.CutPrefix(name, checksumPrefix)
		if !ok {
			continue
		}
		sum, known := NewChecksum(algorithm)
		if !known {
			continue
		}
		sum.Write(body)
		if base64.StdEncoding.EncodeToString(sum.Sum(nil)) != header.Get(name) {
			return service.Refuse("BadDigest", "The %s you specified did not match the calculated checksum.", strings.ToUpper(algorithm))
		}
	}
	return nil
}
