// Delivery returns the offices of delivery services near a buyer, and the price of delivery to each of them.
//
// It is a small service under test that behaves like real ones. README.md describes its settings.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "delivery: error:", err)
		os.Exit(1)
	}
}

func run() error {
	settings, err := settingsFrom(os.LookupEnv)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	store, err := open(ctx, settings)
	if err != nil {
		return err
	}
	defer store.close()
	listener, err := net.Listen("tcp", settings.address)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: routes(store), ReadHeaderTimeout: 10 * time.Second, ErrorLog: quiet()}
	slog.Info("listening", "address", listener.Addr().String(), "pool", settings.poolSize)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	// Requests in progress may still be answered, for a limited time.
	ending, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := server.Shutdown(ending); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}
