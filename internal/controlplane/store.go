package controlplane

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"syscall"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/krops-go/krops/internal/cluster"
)

const storeWithin = 30 * time.Second

// startStore starts etcd on unix sockets in the working directory and returns
// when it serves. When etcd later gives up, it calls giveUp, which must not
// return.
func startStore(dir string, spec cluster.Spec, giveUp func(error)) (store *embed.Etcd, err error) {
	config := embed.NewConfig()
	config.Dir = cluster.Layout(dir).Etcd()
	config.Name = "krops"
	config.ZapLoggerBuilder = embed.NewZapLoggerBuilder(storeLogger(dir, giveUp))
	client, peer := url.URL{Scheme: "unix", Host: cluster.EtcdSocket}, url.URL{Scheme: "unix", Host: cluster.PeerSocket}
	config.ListenClientUrls, config.AdvertiseClientUrls = []url.URL{client}, []url.URL{client}
	config.ListenPeerUrls, config.AdvertisePeerUrls = []url.URL{peer}, []url.URL{peer}
	config.InitialCluster = config.Name + "=" + peer.String()
	// A sole member elects itself; there is nobody to wait for.
	config.TickMs, config.ElectionMs = 10, 100
	config.UnsafeNoFsync = !spec.Durable
	defer func() {
		if v := recover(); v != nil { // its files are not what it wrote
			err = storeError(dir, "starting", fmt.Errorf("%v", v))
		}
	}()
	if store, err = embed.StartEtcd(config); err != nil {
		return nil, storeError(dir, "starting", err)
	}
	select {
	case <-store.Server.ReadyNotify():
		return store, nil
	case err := <-store.Err():
		store.Close()
		return nil, storeError(dir, "starting", err)
	case <-time.After(storeWithin):
		store.Close()
		return nil, fmt.Errorf("etcd on %s was not ready within %s", config.Dir, storeWithin)
	}
}

// storeError says what etcd failed of and what can be done.
func storeError(dir, doing string, err error) error {
	if errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("the disk of %s is full, so the cluster's state cannot be written; free some space and start the cluster again, its state is whole", dir)
	}
	return fmt.Errorf("%s etcd on %s: %w; if its files are damaged, remove the folder %s to start the cluster afresh", doing, cluster.Layout(dir).Etcd(), err, dir)
}

// storeLogger writes errors to the standard error stream, and hands on those
// after which etcd would end the process.
func storeLogger(dir string, giveUp func(error)) *zap.Logger {
	core := zapcore.NewCore(zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()), zapcore.Lock(os.Stderr), zapcore.ErrorLevel)
	hook := lastWords(func(message string, cause error) {
		if cause != nil {
			giveUp(storeError(dir, "running", fmt.Errorf("%s: %w", message, cause)))
		}
		giveUp(storeError(dir, "running", errors.New(message)))
	})
	return zap.New(core, zap.WithFatalHook(hook), zap.WithPanicHook(hook))
}

// lastWords is called with the message and error of a log entry after which
// etcd cannot go on.
type lastWords func(message string, cause error)

func (f lastWords) OnWrite(entry *zapcore.CheckedEntry, fields []zapcore.Field) {
	var cause error
	for _, field := range fields {
		if err, ok := field.Interface.(error); ok && field.Type == zapcore.ErrorType {
			cause = err
		}
	}
	f(entry.Message, cause)
}
