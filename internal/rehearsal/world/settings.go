// Package world is the process in which a rehearsal's simulated clouds live.
// It outlives the command that rehearses when told to, keeps all its state in
// one folder, and goes on from there after any end.
//
// What stands for AWS here: the endpoint of every service, one account with one
// access key, and an embedded cluster for each EKS control plane.
package world

import (
	"crypto/rand"
	"encoding/base32"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"github.com/krops-go/krops/internal/wholefile"
)

// Account is the account id of every simulated AWS account, from the range
// that AWS's documentation uses.
const Account = "111122223333"

// Settings are what a world is reached by. They are made once and stay.
type Settings struct {
	// Port on 127.0.0.1 that answers for all of AWS.
	Port            int    `json:"port"`
	AccessKeyID     string `json:"accessKeyID"`
	SecretAccessKey string `json:"secretAccessKey"`
}

// Endpoint is the URL that stands for every AWS service.
func (s Settings) Endpoint() string { return fmt.Sprintf("http://127.0.0.1:%d", s.Port) }

// String names the world without its secret.
func (s Settings) String() string { return s.Endpoint() }

// GoString keeps the secret out of %#v.
func (s Settings) GoString() string { return s.String() }

// Layout names the files of a world's folder, which is the working directory
// of its process.
type Layout string

func (l Layout) path(name string) string { return filepath.Join(string(l), name) }

func (l Layout) settings() string { return l.path("world.json") }
func (l Layout) state() string    { return l.path("aws.json") }
func (l Layout) clusters() string { return l.path("clusters") }
func (l Layout) objects() string  { return l.path("objects") }

// Credentials is a shared credentials file in the AWS CLI's format, mode 0600.
func (l Layout) Credentials() string { return l.path("credentials") }

// Log is where the world's process writes.
func (l Layout) Log() string { return l.path("world.log") }

// controlSocket answers the questions of the rehearsal, relative to the folder.
const controlSocket = "control.sock"

// Prepare makes the folder's settings unless it has some, and returns them.
func Prepare(dir string) (Settings, error) {
	l := Layout(dir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return Settings{}, fmt.Errorf("making the folder of the simulated cloud: %w", err)
	}
	s, err := read(l)
	if !errors.Is(err, os.ErrNotExist) {
		return s, err
	}
	if s.Port, err = freePort(); err != nil {
		return s, err
	}
	s.AccessKeyID, s.SecretAccessKey = newKey()
	credentials := fmt.Sprintf("[default]\naws_access_key_id = %s\naws_secret_access_key = %s\n", s.AccessKeyID, s.SecretAccessKey)
	if err := wholefile.Write(l.Credentials(), []byte(credentials)); err != nil {
		return s, err
	}
	text, err := json.Marshal(s)
	if err != nil {
		return s, err
	}
	return s, wholefile.Write(l.settings(), text)
}

func read(l Layout) (Settings, error) {
	var s Settings
	text, err := os.ReadFile(l.settings())
	if err != nil {
		return s, fmt.Errorf("reading the settings of the simulated cloud: %w", err)
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return s, fmt.Errorf("%s is damaged (%w); remove the folder %s to start afresh", l.settings(), err, l)
	}
	return s, nil
}

// newKey returns an access key in AWS's form (IAM User Guide, "IAM identifiers").
func newKey() (id, secret string) {
	random := make([]byte, 10+30)
	rand.Read(random) // never fails
	return "AKIA" + base32.StdEncoding.EncodeToString(random[:10]), base64.StdEncoding.EncodeToString(random[10:])
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("looking for a free port: %w", err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
