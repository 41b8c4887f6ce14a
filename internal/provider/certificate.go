package provider

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// caKey is where cert-manager puts the CA beside the certificate.
const caKey = "ca.crt"

const (
	validity = 365 * 24 * time.Hour
	// renewal is how much of the validity must be left for a certificate to be kept.
	renewal = validity / 3
	// backdate allows for clocks that are behind.
	backdate = 5 * time.Minute
)

func newSecret(key client.ObjectKey) *corev1.Secret {
	return &corev1.Secret{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name},
		Type:       corev1.SecretTypeTLS,
	}
}

// issue makes a self-signed serving certificate, which is its own CA, in the keys of a TLS Secret.
func issue(names []string, now time.Time) (map[string][]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber:          serial,
		Subject:               pkix.Name{CommonName: commonName(names[0])},
		DNSNames:              names,
		NotBefore:             now.Add(-backdate),
		NotAfter:              now.Add(validity),
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
		IsCA:                  true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("sign: %w", err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return map[string][]byte{
		corev1.TLSCertKey:       certificate,
		corev1.TLSPrivateKeyKey: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}),
		caKey:                   certificate,
	}, nil
}

// commonName cuts a name to the 64 characters that a subject may have; clients look at the DNS names only.
func commonName(name string) string { return name[:min(len(name), 64)] }

// fits tells whether the content of a TLS Secret can go on serving these names: certificate and key belong together,
// the CA vouches for it under each name, and enough of its time is left.
func fits(data map[string][]byte, names []string, now time.Time) bool {
	pair, err := tls.X509KeyPair(data[corev1.TLSCertKey], data[corev1.TLSPrivateKeyKey])
	if err != nil {
		return false
	}
	roots := x509.NewCertPool()
	if len(bytes.TrimSpace(data[caKey])) == 0 || !roots.AppendCertsFromPEM(data[caKey]) {
		return false
	}
	intermediates := x509.NewCertPool()
	for _, der := range pair.Certificate[1:] {
		certificate, err := x509.ParseCertificate(der)
		if err != nil {
			return false
		}
		intermediates.AddCert(certificate)
	}
	for _, name := range names {
		for _, at := range []time.Time{now, now.Add(renewal)} {
			_, err := pair.Leaf.Verify(x509.VerifyOptions{DNSName: name, Roots: roots, Intermediates: intermediates, CurrentTime: at})
			if err != nil {
				return false
			}
		}
	}
	return true
}
