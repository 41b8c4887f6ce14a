package kube

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/krops-go/krops/internal/wholefile"
)

// Context is one way into a cluster, to be written into a kubeconfig file.
type Context struct {
	// Name of the context; its cluster and user entries get the same name.
	Name string
	// Namespace is the default namespace, may be empty.
	Namespace string
	Cluster   clientcmdapi.Cluster
	// User may hold a token, a certificate or an exec credential plugin.
	User clientcmdapi.AuthInfo
}

// WriteContext puts the context into the kubeconfig file at path and leaves all other entries as they are. The
// current context stays what it is; only a file that has none gets this one. The file is replaced as a whole, is
// readable by its owner only, and its folder is made when it does not exist.
func WriteContext(path string, context Context) error {
	target, err := kubeconfigTarget(path)
	if err != nil {
		return err
	}
	config, err := clientcmd.LoadFromFile(target)
	if errors.Is(err, fs.ErrNotExist) {
		config, err = clientcmdapi.NewConfig(), nil
	}
	if err != nil {
		return fmt.Errorf("kubeconfig %s: is not a kubeconfig: move it away or name another file", path)
	}
	config.Clusters[context.Name] = &context.Cluster
	config.AuthInfos[context.Name] = &context.User
	config.Contexts[context.Name] = &clientcmdapi.Context{
		Cluster: context.Name, AuthInfo: context.Name, Namespace: context.Namespace,
	}
	if config.CurrentContext == "" {
		config.CurrentContext = context.Name
	}
	data, err := clientcmd.Write(*config)
	if err != nil {
		return fmt.Errorf("kubeconfig %s: %w", path, err)
	}
	if err := wholefile.Write(target, data); err != nil {
		return fmt.Errorf("kubeconfig %s: %w", path, err)
	}
	return nil
}

// CheckKubeconfigTarget reports why WriteContext could not write to path, so that a run can end before it has made
// anything whose kubeconfig would then be lost. It leaves no trace but the folder.
func CheckKubeconfigTarget(path string) error {
	target, err := kubeconfigTarget(path)
	if err != nil {
		return err
	}
	if _, err := clientcmd.LoadFromFile(target); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("kubeconfig %s: is not a kubeconfig: move it away or name another file", path)
	}
	probe, err := os.CreateTemp(filepath.Dir(target), ".krops-probe-")
	if err != nil {
		return fmt.Errorf("kubeconfig %s: its folder is not writable: %w", path, err)
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// kubeconfigTarget returns the file behind path. A symbolic link is followed, so that it stays one.
func kubeconfigTarget(path string) (string, error) {
	if path == "" {
		return "", errors.New("no kubeconfig file named")
	}
	if strings.ContainsRune(path, os.PathListSeparator) {
		return "", fmt.Errorf("kubeconfig %q names several files: name the one to write to", path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", fmt.Errorf("kubeconfig %s: %w", path, err)
	}
	resolved, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return path, nil
	}
	if err != nil {
		return "", fmt.Errorf("kubeconfig %s: %w", path, err)
	}
	info, err := os.Stat(resolved)
	if err != nil {
		return "", fmt.Errorf("kubeconfig %s: %w", path, err)
	}
	if info.Mode().Perm()&0o200 == 0 {
		return "", fmt.Errorf("kubeconfig %s is read-only: make it writable (chmod u+w) or name another file", path)
	}
	return resolved, nil
}
