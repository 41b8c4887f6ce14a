package controlplane

import (
	"fmt"
	"net/url"
	"time"

	"go.etcd.io/etcd/server/v3/embed"

	"github.com/krops-go/krops/internal/cluster"
)

const storeWithin = 30 * time.Second

// startStore starts etcd on unix sockets in the working directory and returns
// when it serves.
func startStore(dir string, spec cluster.Spec) (*embed.Etcd, error) {
	config := embed.NewConfig()
	config.Dir = cluster.Layout(dir).Etcd()
	config.Name = "krops"
	config.LogLevel = "error"
	config.LogOutputs = []string{"stderr"}
	client, peer := url.URL{Scheme: "unix", Host: cluster.EtcdSocket}, url.URL{Scheme: "unix", Host: cluster.PeerSocket}
	config.ListenClientUrls, config.AdvertiseClientUrls = []url.URL{client}, []url.URL{client}
	config.ListenPeerUrls, config.AdvertisePeerUrls = []url.URL{peer}, []url.URL{peer}
	config.InitialCluster = config.Name + "=" + peer.String()
	// A sole member elects itself; there is nobody to wait for.
	config.TickMs, config.ElectionMs = 10, 100
	config.UnsafeNoFsync = !spec.Durable
	store, err := embed.StartEtcd(config)
	if err != nil {
		return nil, fmt.Errorf("starting etcd on %s: %w; if its files are damaged, remove the folder %s to start the cluster afresh", config.Dir, err, dir)
	}
	select {
	case <-store.Server.ReadyNotify():
		return store, nil
	case err := <-store.Err():
		store.Close()
		return nil, fmt.Errorf("starting etcd on %s: %w", config.Dir, err)
	case <-time.After(storeWithin):
		store.Close()
		return nil, fmt.Errorf("etcd on %s was not ready within %s", config.Dir, storeWithin)
	}
}
