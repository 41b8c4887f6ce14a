package cluster

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"net"
	"time"
)

const lifetime = 10 * 365 * 24 * time.Hour

// Authority signs the certificates of a cluster.
type Authority struct {
	Certificate *x509.Certificate
	key         crypto.Signer
}

// LoadAuthority returns the authority that the clients and servers of the
// cluster in dir trust.
func LoadAuthority(dir string) (*Authority, error) {
	pair, err := loadPair(Layout(dir), caPair)
	if err != nil {
		return nil, err
	}
	return pair.authority(), nil
}

// Serving returns a new certificate for a server of these names and addresses.
func (a *Authority) Serving(name string, dnsNames []string, addresses []net.IP) (*tls.Certificate, error) {
	issued, err := a.issue(&x509.Certificate{
		Subject:     pkix.Name{CommonName: name},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:    dnsNames, IPAddresses: addresses,
	})
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{issued.certificate.Raw}, PrivateKey: issued.key}, nil
}

// issued is a certificate with its key.
type issued struct {
	certificate *x509.Certificate
	key         crypto.Signer
}

func (i *issued) authority() *Authority { return &Authority{i.certificate, i.key} }

// issue makes a key and a certificate for it. A nil Authority makes one that
// signs itself.
func (a *Authority) issue(template *x509.Certificate) (*issued, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	parent, signer := template, crypto.Signer(key)
	if a != nil {
		parent, signer = a.Certificate, a.key
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	template.SerialNumber = serial
	template.NotBefore = time.Now().Add(-time.Hour) // clocks differ a little
	template.NotAfter = time.Now().Add(lifetime)
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		return nil, fmt.Errorf("certificate for %s: %w", template.Subject.CommonName, err)
	}
	certificate, err := x509.ParseCertificate(der)
	return &issued{certificate, key}, err
}
