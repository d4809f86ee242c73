package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgxpool"
)

// offices answers requests. The handlers use the database only through it.
type offices interface {
	near(ctx context.Context, it question) ([]office, error)
	stats() poolStats
}

// poolStats is the current state of the pool.
type poolStats struct {
	Size     int32 `json:"size"`
	Busy     int32 `json:"busy"`
	Idle     int32 `json:"idle"`
	Opening  int32 `json:"opening"`
	Waited   int64 `json:"waited_total"`
	Canceled int64 `json:"gave_up_total"`
}

type store struct {
	pool      *pgxpool.Pool
	timeout   time.Duration
	onTimeout onTimeout
	// Delay of the closing of every hundredth result; see settings.
	closeAfter time.Duration
	asked      atomic.Int64
	// Number of statements whose clients have given up.
	abandoned sync.WaitGroup
}

func open(ctx context.Context, it settings) (*store, error) {
	config, err := pgxpool.ParseConfig(it.database)
	if err != nil {
		// The error of pgx contains the whole text, which may contain a password.
		return nil, errors.New("DATABASE_URL: write an address as psql takes it, such as postgres://user@host:5432/database")
	}
	config.MaxConns = it.poolSize
	config.MinConns = 0
	if !it.prepare {
		config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	}
	if it.ownNames {
		var opened atomic.Int64
		config.BeforeConnect = func(_ context.Context, conn *pgx.ConnConfig) error {
			conn.RuntimeParams["application_name"] = fmt.Sprintf("delivery-%d", opened.Add(1))
			return nil
		}
	}
	if it.onTimeout == cancelStatement {
		config.ConnConfig.BuildContextWatcherHandler = func(conn *pgconn.PgConn) ctxwatch.Handler {
			return &pgconn.CancelRequestContextWatcherHandler{Conn: conn, DeadlineDelay: time.Second}
		}
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("the pool: %w", err)
	}
	return &store{pool: pool, timeout: it.timeout, onTimeout: it.onTimeout, closeAfter: it.closeAfter}, nil
}

func (it *store) close() {
	it.abandoned.Wait()
	it.pool.Close()
}

func (it *store) near(ctx context.Context, asked question) ([]office, error) {
	if it.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, it.timeout)
		defer cancel()
	}
	if it.onTimeout != waitForEnd {
		return it.ask(ctx, asked)
	}
	type answer struct {
		offices []office
		err     error
	}
	done := make(chan answer, 1)
	it.abandoned.Add(1)
	go func() {
		defer it.abandoned.Done()
		offices, err := it.ask(context.WithoutCancel(ctx), asked)
		done <- answer{offices, err}
	}()
	select {
	case it := <-done:
		return it.offices, it.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (it *store) ask(ctx context.Context, asked question) ([]office, error) {
	scan := func(row pgx.CollectableRow) (office, error) {
		var found office
		var zone int32
		err := row.Scan(&found.Terminal, &found.Lat, &found.Lon, &zone, &found.MinDays, &found.MaxDays)
		found.Price = price(zone, asked.parcel)
		return found, err
	}
	if it.closeAfter > 0 && it.asked.Add(1)%100 == 0 {
		return it.leaveOpen(ctx, asked, scan)
	}
	rows, err := it.pool.Query(ctx, nearest, asked.arguments()...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, scan)
}

// leaveOpen answers with the first row and closes the result later, as a program does that forgets to close it. Meanwhile,
// the result keeps its connection, and the timeout of the request does not end it.
func (it *store) leaveOpen(ctx context.Context, asked question, scan pgx.RowToFunc[office]) ([]office, error) {
	// The wait for a connection ends with the request.
	connection, err := it.pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	release := func() { connection.Release() }
	rows, err := connection.Query(context.WithoutCancel(ctx), nearest, asked.arguments()...)
	if err != nil {
		release()
		return nil, err
	}
	it.abandoned.Add(1)
	time.AfterFunc(it.closeAfter, func() {
		defer it.abandoned.Done()
		rows.Close()
		release()
	})
	if !rows.Next() {
		return []office{}, rows.Err()
	}
	first, err := scan(rows)
	return []office{first}, err
}

func (it *store) stats() poolStats {
	now := it.pool.Stat()
	return poolStats{
		Size: now.MaxConns(), Busy: now.AcquiredConns(), Idle: now.IdleConns(), Opening: now.ConstructingConns(),
		Waited: now.EmptyAcquireCount(), Canceled: now.CanceledAcquireCount(),
	}
}
