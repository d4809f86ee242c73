package main

import (
	"context"
	"encoding/json"
	"errors"
	"log"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

func routes(from offices) http.Handler {
	var working atomic.Int64
	mux := http.NewServeMux()
	mux.HandleFunc("GET /offices", func(out http.ResponseWriter, in *http.Request) {
		working.Add(1)
		defer working.Add(-1)
		asked, err := ofQuery(in.URL.Query(), time.Now())
		if err != nil {
			answer(out, http.StatusBadRequest, map[string]string{"error": err.Error()})
			return
		}
		found, err := from.near(in.Context(), asked)
		if err != nil {
			fail(out, in, err)
			return
		}
		answer(out, http.StatusOK, map[string]any{"offices": found})
	})
	mux.HandleFunc("GET /health", func(out http.ResponseWriter, _ *http.Request) {
		answer(out, http.StatusOK, map[string]string{"status": "up"})
	})
	mux.HandleFunc("GET /stats", func(out http.ResponseWriter, _ *http.Request) {
		answer(out, http.StatusOK, map[string]any{"working": working.Load(), "pool": from.stats()})
	})
	return mux
}

// fail answers an error: 504 if the database timed out, 503 if there is no database, 500 otherwise.
func fail(out http.ResponseWriter, in *http.Request, err error) {
	if in.Context().Err() != nil {
		return // Nobody is there to be told.
	}
	status, what := http.StatusInternalServerError, "the database refused the statement"
	var canceled *pgconn.PgError
	var connecting *pgconn.ConnectError
	var broken net.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &canceled) && canceled.Code == "57014":
		status, what = http.StatusGatewayTimeout, "the database did not answer in time"
	case errors.As(err, &connecting), errors.As(err, &broken), pgconn.SafeToRetry(err):
		status, what = http.StatusServiceUnavailable, "there is no connection to the database"
	}
	// The load generator counts errors that the load causes. Only errors of the service itself are logged.
	level := slog.LevelDebug
	if status == http.StatusInternalServerError {
		level = slog.LevelWarn
	}
	slog.Log(in.Context(), level, what, "error", err)
	answer(out, status, map[string]string{"error": what})
}

func answer(out http.ResponseWriter, status int, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		status, text = http.StatusInternalServerError, []byte(`{"error":"the answer cannot be written"}`)
	}
	out.Header().Set("Content-Type", "application/json")
	out.WriteHeader(status)
	_, _ = out.Write(text) // Who has gone is not told.
}

// quiet suppresses net/http's log line for each connection that a client closed.
func quiet() *log.Logger { return slog.NewLogLogger(slog.Default().Handler(), slog.LevelDebug) }
