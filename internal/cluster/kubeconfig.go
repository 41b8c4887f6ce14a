package cluster

import (
	"os"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/krops-go/krops/internal/wholefile"
)

// writeKubeconfig stores the administrator's kubeconfig of the cluster.
func writeKubeconfig(dir string, spec Spec) error {
	l := Layout(dir)
	read := func(name string) (b []byte, err error) { return os.ReadFile(l.PKI(name)) }
	ca, err := read(CACert)
	if err != nil {
		return err
	}
	cert, err := read(AdminCert)
	if err != nil {
		return err
	}
	key, err := read(AdminKey)
	if err != nil {
		return err
	}
	config := clientcmdapi.NewConfig()
	config.Clusters[spec.Name] = &clientcmdapi.Cluster{Server: spec.Endpoint(), CertificateAuthorityData: ca}
	config.AuthInfos[spec.Name] = &clientcmdapi.AuthInfo{ClientCertificateData: cert, ClientKeyData: key}
	config.Contexts[spec.Name] = &clientcmdapi.Context{Cluster: spec.Name, AuthInfo: spec.Name}
	config.CurrentContext = spec.Name
	text, err := clientcmd.Write(*config)
	if err != nil {
		return err
	}
	return wholefile.Write(l.Kubeconfig(), text)
}
