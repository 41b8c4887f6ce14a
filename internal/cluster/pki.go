package cluster

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/google/renameio/v2"
)

// Names in the pki folder.
const (
	CACert     = "ca.crt"
	ServerCert = "server.crt"
	ServerKey  = "server.key"
	AdminCert  = "admin.crt"
	AdminKey   = "admin.key"
	// AccountKey signs service account tokens. It is RSA, the only kind that
	// every cloud's federation accepts.
	AccountKey = "sa.key"
	AccountPub = "sa.pub"
)

// ServiceIP is the address of the service "kubernetes", first of ServiceRange.
const (
	ServiceRange = "10.96.0.0/16"
	ServiceIP    = "10.96.0.1"
)

const lifetime = 10 * 365 * 24 * time.Hour

// ensurePKI makes the certificates and keys of a cluster unless they are
// there already. The last file written is the CA's certificate, so that a set
// whose making was interrupted is made again as a whole.
func ensurePKI(dir string) error {
	l := Layout(dir)
	if _, err := os.Stat(l.PKI(CACert)); err == nil {
		return nil
	} else if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(l.PKI(CACert)), 0o700); err != nil {
		return err
	}
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	ca := &x509.Certificate{
		Subject: pkix.Name{CommonName: "krops embedded cluster"},
		IsCA:    true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	caDER, err := sign(ca, ca, caKey.Public(), caKey)
	if err != nil {
		return err
	}
	server := &x509.Certificate{
		Subject:     pkix.Name{CommonName: "kube-apiserver"},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:    []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.ParseIP(ServiceIP)},
	}
	admin := &x509.Certificate{
		Subject:     pkix.Name{CommonName: "krops-admin", Organization: []string{"system:masters"}},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	for _, leaf := range []struct {
		template  *x509.Certificate
		cert, key string
	}{{server, ServerCert, ServerKey}, {admin, AdminCert, AdminKey}} {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			return err
		}
		der, err := sign(leaf.template, ca, key.Public(), caKey)
		if err != nil {
			return err
		}
		if err := errors.Join(writeKey(l.PKI(leaf.key), key), writePEM(l.PKI(leaf.cert), "CERTIFICATE", der)); err != nil {
			return err
		}
	}
	account, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	public, err := x509.MarshalPKIXPublicKey(account.Public())
	if err != nil {
		return err
	}
	return errors.Join(
		writeKey(l.PKI(AccountKey), account),
		writePEM(l.PKI(AccountPub), "PUBLIC KEY", public),
		writePEM(l.PKI(CACert), "CERTIFICATE", caDER),
	)
}

func sign(template, parent *x509.Certificate, public crypto.PublicKey, key crypto.Signer) ([]byte, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	template.SerialNumber = serial
	template.NotBefore = time.Now().Add(-time.Hour) // clocks differ a little
	template.NotAfter = time.Now().Add(lifetime)
	der, err := x509.CreateCertificate(rand.Reader, template, parent, public, key)
	if err != nil {
		return nil, fmt.Errorf("certificate for %s: %w", template.Subject.CommonName, err)
	}
	return der, nil
}

func writeKey(path string, key crypto.Signer) error {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	return writePEM(path, "PRIVATE KEY", der)
}

func writePEM(path, kind string, der []byte) error {
	return renameio.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
}
