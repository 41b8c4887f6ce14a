package main

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/krops-go/krops/internal/cluster"
)

// apiServerReady is how long a new cluster takes until its API server is ready.
func apiServerReady(ctx context.Context, s subject, folder string) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	dir := filepath.Join(folder, "c")
	began := time.Now()
	_, err := cluster.Up(ctx, s.cluster(), dir, cluster.Spec{Name: "bench"})
	took := time.Since(began)
	return took.Seconds(), errors.Join(err, cluster.Delete(context.WithoutCancel(ctx), dir))
}
