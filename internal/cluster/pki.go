package cluster

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"github.com/krops-go/krops/internal/wholefile"
)

// Names in the pki folder.
const (
	CACert     = "ca.crt"
	CAKey      = "ca.key"
	ServerCert = "server.crt"
	ServerKey  = "server.key"
	AdminCert  = "admin.crt"
	AdminKey   = "admin.key"
	// The API server is a client of the kubelet with these, ...
	KubeletClientCert = "kubelet-client.crt"
	KubeletClientKey  = "kubelet-client.key"
	// ... and of aggregated APIs with these, which have an authority of their own.
	ProxyCACert     = "front-proxy-ca.crt"
	ProxyCAKey      = "front-proxy-ca.key"
	ProxyClientCert = "front-proxy-client.crt"
	ProxyClientKey  = "front-proxy-client.key"
	// AccountKey signs service account tokens. By default it is RSA, the only
	// kind that every cloud's federation accepts.
	AccountKey = "sa.key"
	AccountPub = "sa.pub"
)

// ServiceIP is the address of the service "kubernetes", first of ServiceRange.
const (
	ServiceRange = "10.96.0.0/16"
	ServiceIP    = "10.96.0.1"
)

// Names that certificates are for.
const (
	KubeletClient = "kube-apiserver-kubelet-client"
	ProxyClient   = "front-proxy-client"
)

type pairNames struct{ cert, key string }

var caPair = pairNames{CACert, CAKey}

// ensurePKI makes the certificates and keys of a cluster that it does not have
// yet. What is there must be sound.
func ensurePKI(dir string, spec Spec) error {
	l := Layout(dir)
	if err := os.MkdirAll(filepath.Dir(l.PKI(CACert)), 0o700); err != nil {
		return err
	}
	authority := func(names pairNames, name string) (*Authority, error) {
		pair, err := ensurePair(l, names, nil, &x509.Certificate{
			Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true,
			KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		})
		if err != nil {
			return nil, err
		}
		return pair.authority(), nil
	}
	ca, err := authority(caPair, "krops embedded cluster")
	if err != nil {
		return err
	}
	proxyCA, err := authority(pairNames{ProxyCACert, ProxyCAKey}, "krops front proxy")
	if err != nil {
		return err
	}
	client := func(name string, groups ...string) *x509.Certificate {
		return &x509.Certificate{
			Subject:     pkix.Name{CommonName: name, Organization: groups},
			KeyUsage:    x509.KeyUsageDigitalSignature,
			ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
		}
	}
	server := &x509.Certificate{
		Subject:     pkix.Name{CommonName: "kube-apiserver"},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:    []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.ParseIP(ServiceIP)},
	}
	for _, leaf := range []struct {
		names    pairNames
		by       *Authority
		template *x509.Certificate
	}{
		{pairNames{ServerCert, ServerKey}, ca, server},
		{pairNames{AdminCert, AdminKey}, ca, client("krops-admin", "system:masters")},
		{pairNames{KubeletClientCert, KubeletClientKey}, ca, client(KubeletClient)},
		{pairNames{ProxyClientCert, ProxyClientKey}, proxyCA, client(ProxyClient)},
	} {
		if _, err := ensurePair(l, leaf.names, leaf.by, leaf.template); err != nil {
			return err
		}
	}
	return ensureAccountKey(l, spec.AccountKeyFile)
}

// ensurePair loads a certificate with its key, or makes it when there is none.
// The certificate is written last, so that an interrupted making is made again.
func ensurePair(l Layout, names pairNames, by *Authority, template *x509.Certificate) (*issued, error) {
	pair, err := loadPair(l, names)
	if err == nil && by != nil && pair.certificate.CheckSignatureFrom(by.Certificate) != nil {
		return nil, damaged(l, names.cert, errors.New("another authority has signed it"))
	}
	if !errors.Is(err, os.ErrNotExist) {
		return pair, err
	}
	if pair, err = by.issue(template); err != nil {
		return nil, err
	}
	return pair, errors.Join(
		writeKey(l.PKI(names.key), pair.key),
		writePEM(l.PKI(names.cert), "CERTIFICATE", pair.certificate.Raw),
	)
}

// loadPair returns a certificate with its key. The error wraps os.ErrNotExist
// when there is no certificate.
func loadPair(l Layout, names pairNames) (*issued, error) {
	cert, err := os.ReadFile(l.PKI(names.cert))
	if err != nil {
		return nil, err
	}
	key, err := os.ReadFile(l.PKI(names.key))
	if err != nil {
		return nil, damaged(l, names.key, errors.New("the file cannot be read"))
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, damaged(l, names.cert, err)
	}
	signer, ok := pair.PrivateKey.(crypto.Signer)
	if !ok {
		return nil, damaged(l, names.key, errors.New("it is no key for signing"))
	}
	return &issued{pair.Leaf, signer}, nil
}

func damaged(l Layout, name string, cause error) error {
	return fmt.Errorf("%s is damaged (%w); remove the folder %s to start the cluster afresh", l.PKI(name), cause, l)
}

// ensureAccountKey puts the key that signs service account tokens in place:
// the one in the file external if that is named, one of the cluster's own
// otherwise.
func ensureAccountKey(l Layout, external string) error {
	if external == "" {
		_, err := readSigner(l.PKI(AccountKey))
		if !errors.Is(err, os.ErrNotExist) {
			if err != nil {
				err = damaged(l, AccountKey, err)
			}
			return err
		}
		key, err := rsa.GenerateKey(rand.Reader, 2048)
		if err != nil {
			return err
		}
		return writeAccountKey(l, key)
	}
	key, err := readSigner(external)
	if err != nil {
		return fmt.Errorf("the key for service account tokens in %s: %w; it must be a PEM file with an RSA or ECDSA private key", external, err)
	}
	return writeAccountKey(l, key)
}

// writeAccountKey writes the private key last, which marks that both are there.
func writeAccountKey(l Layout, key crypto.Signer) error {
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return err
	}
	return errors.Join(writePEM(l.PKI(AccountPub), "PUBLIC KEY", public), writeKey(l.PKI(AccountKey), key))
}

func readSigner(path string) (crypto.Signer, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errors.New("it holds no PEM block")
	}
	var key any
	switch block.Type {
	case "RSA PRIVATE KEY":
		key, err = x509.ParsePKCS1PrivateKey(block.Bytes)
	case "EC PRIVATE KEY":
		key, err = x509.ParseECPrivateKey(block.Bytes)
	default:
		key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
	}
	if err != nil {
		return nil, err
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return nil, errors.New("it is no key for signing")
	}
	return signer, nil
}

func writeKey(path string, key crypto.Signer) error {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	return writePEM(path, "PRIVATE KEY", der)
}

func writePEM(path, kind string, der []byte) error {
	return wholefile.Write(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}
