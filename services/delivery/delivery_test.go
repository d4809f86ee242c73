package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

const asked = "seller_lat=55.7&seller_lon=37.6&seller_south=55&seller_west=37&seller_north=56&seller_east=38" +
	"&buyer_south=59&buyer_west=30&buyer_north=60&buyer_east=31&weight=900&height=100&length=200&width=300&cost=5000"

// invented is a database with predefined answers.
type invented struct {
	found []office
	err   error
}

func (it invented) near(context.Context, question) ([]office, error) { return it.found, it.err }
func (it invented) stats() poolStats                                 { return poolStats{Size: 3, Busy: 2} }

func get(t *testing.T, from offices, path string) (int, string) {
	t.Helper()
	server := httptest.NewServer(routes(from))
	defer server.Close()
	answer, err := http.Get(server.URL + path)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, _ := io.ReadAll(answer.Body)
	return answer.StatusCode, string(body)
}

func TestAnswers(t *testing.T) {
	one := invented{found: []office{{Terminal: 7, Lat: 59.5, Lon: 30.5, MinDays: 2, MaxDays: 4, Price: 215}}}
	refused := &pgconn.PgError{Code: "42P01", Message: "relation does not exist"}
	for _, it := range []struct {
		from     offices
		path     string
		status   int
		contains string
	}{
		{one, "/offices?" + asked, 200, `"terminal":7,"lat":59.5,"lon":30.5,"min_days":2,"max_days":4,"price":215`},
		{invented{found: []office{}}, "/offices?" + asked, 200, `{"offices":[]}`},
		{one, "/offices?" + asked + "&limit=0", 400, "limit: write a whole number from 1 to 1000"},
		{one, "/offices?" + strings.Replace(asked, "=55.7", "=NaN", 1), 400, "seller_lat: write degrees"},
		{one, "/offices", 400, "weight: write a whole number"},
		{invented{err: context.DeadlineExceeded}, "/offices?" + asked, 504, "in time"},
		{invented{err: fmt.Errorf("of the pool: %w", &pgconn.PgError{Code: "57014"})}, "/offices?" + asked, 504, "in time"},
		{invented{err: &net.OpError{Op: "dial", Err: errors.New("refused")}}, "/offices?" + asked, 503, "no connection"},
		{invented{err: refused}, "/offices?" + asked, 500, "refused"},
		{one, "/stats", 200, `"pool":{"size":3,"busy":2`},
		{one, "/health", 200, "up"},
		{one, "/nowhere", 404, ""},
	} {
		status, body := get(t, it.from, it.path)
		if status != it.status || !strings.Contains(body, it.contains) {
			t.Errorf("%s: %d %s; expected %d with %s", it.path, status, body, it.status, it.contains)
		}
	}
	if _, body := get(t, invented{err: errors.New("secret=x")}, "/offices?"+asked); strings.Contains(body, "secret") {
		t.Errorf("a client is told what it must not know: %s", body)
	}
}

func TestPrices(t *testing.T) {
	for _, it := range []struct {
		zone     int32
		of       parcel
		expected int64
	}{
		{0, parcel{weight: 900, height: 100, length: 100, width: 100}, 150},
		{0, parcel{weight: 1001, height: 100, length: 100, width: 100}, 170},
		// 200 × 300 × 500 mm are 30 l: six kilograms by size.
		{2, parcel{weight: 900, height: 200, length: 300, width: 500}, 150 + 80 + 30*5},
		{5, parcel{weight: 5000, height: 1, length: 1, width: 1, cost: 10_000}, 150 + 200 + 45*4 + 50},
	} {
		if got := price(it.zone, it.of); got != it.expected {
			t.Errorf("zone %d, %+v: %d, expected %d", it.zone, it.of, got, it.expected)
		}
	}
}

func TestSettings(t *testing.T) {
	of := func(pairs ...string) (settings, error) {
		all := map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			all[pairs[i]] = pairs[i+1]
		}
		return settingsFrom(func(name string) (string, bool) { it, ok := all[name]; return it, ok })
	}
	got, err := of("POOL_SIZE", "24", "QUERY_TIMEOUT", "300ms", "ON_TIMEOUT", "cancel", "PREPARE", "false", "APPLICATION_NAMES", "different", "CLOSE_AFTER", "5s")
	if err != nil || got.poolSize != 24 || got.timeout != 300*time.Millisecond || got.onTimeout != cancelStatement || got.prepare || !got.ownNames ||
		got.closeAfter != 5*time.Second {
		t.Errorf("%+v, %v", got, err)
	}
	_, err = of("POOL_SIZE", "0", "QUERY_TIMEOUT", "soon", "ON_TIMEOUT", "cry", "PREPARE", "maybe", "APPLICATION_NAMES", "mine", "CLOSE_AFTER", "never")
	for _, name := range []string{"POOL_SIZE=0", "QUERY_TIMEOUT=soon", "ON_TIMEOUT=cry", "PREPARE=maybe", "APPLICATION_NAMES=mine", "CLOSE_AFTER=never"} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s is not told: %v", name, err)
		}
	}
	if _, err := open(context.Background(), settings{database: "postgres://u:secret@[", poolSize: 1}); err == nil ||
		strings.Contains(err.Error(), "secret") {
		t.Errorf("what is wrong with the address is told with its password: %v", err)
	}
}

// This test needs a real server: TEST_DATABASE_URL is the address of a writable database.
func TestOfficesOfARealServer(t *testing.T) {
	url := os.Getenv("TEST_DATABASE_URL")
	if url == "" {
		t.Skip("TEST_DATABASE_URL is not set: ./x services test sets it")
	}
	ctx := context.Background()
	for _, way := range []onTimeout{cancelStatement, closeConnection, waitForEnd} {
		it, err := open(ctx, settings{database: url, poolSize: 2, timeout: time.Second, onTimeout: way, prepare: true})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := it.pool.Exec(ctx, tables); err != nil {
			t.Fatal(err)
		}
		status, body := get(t, it, "/offices?"+asked)
		// The nearer office of provider 1 leads to terminal 11; provider 2 does not accept that weight.
		if expected := `{"offices":[{"terminal":11,"lat":59.9,"lon":30.3,"min_days":1,"max_days":3,"price":285}]}`; status != 200 ||
			body != expected {
			t.Errorf("%s: %d %s, expected %s", way, status, body, expected)
		}
		// A locked table makes a statement that does not end.
		keeper, err := it.pool.Begin(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := keeper.Exec(ctx, "LOCK TABLE delivery.send"); err != nil {
			t.Fatal(err)
		}
		it.timeout = 100 * time.Millisecond
		if status, body := get(t, it, "/offices?"+asked); status != 504 {
			t.Errorf("%s: %d %s, expected 504", way, status, body)
		}
		if err := keeper.Rollback(ctx); err != nil {
			t.Fatal(err)
		}
		it.timeout = 10 * time.Second
		if status, body := get(t, it, "/offices?"+asked); status != 200 {
			t.Errorf("%s, after it: %d %s", way, status, body)
		}
		it.close()
	}
	leaky, err := open(ctx, settings{database: url, poolSize: 2, timeout: time.Second, closeAfter: 200 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	// The hundredth result is left open, and keeps its connection.
	leaky.asked.Store(98)
	for _, busy := range []int32{0, 1} {
		if status, body := get(t, leaky, "/offices?"+asked); status != 200 || !strings.Contains(body, `"terminal":11`) {
			t.Errorf("with open results: %d %s", status, body)
		}
		if stats := leaky.stats(); stats.Busy != busy {
			t.Errorf("busy connections: %d, expected %d", stats.Busy, busy)
		}
	}
	// Closing the store waits for the result.
	leaky.close()
	if stats := leaky.stats(); stats.Busy != 0 {
		t.Errorf("busy connections after the end: %d", stats.Busy)
	}
	// Nothing listens on this port.
	gone, err := open(ctx, settings{database: "postgres://nobody@127.0.0.1:1/none", poolSize: 1, timeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer gone.close()
	if status, body := get(t, gone, "/offices?"+asked); status != 503 {
		t.Errorf("without a server: %d %s", status, body)
	}
}

const tables = `
DROP SCHEMA IF EXISTS delivery CASCADE;
CREATE SCHEMA delivery;
CREATE TABLE delivery.send (provider smallint, tariff_id int, tag_from_id int, lat float8, lon float8,
    active_from timestamptz, active_until timestamptz, max_weight int, max_height int, max_length int, max_width int,
    max_declared_cost bigint);
CREATE TABLE delivery.receive (terminal_id int, tag_from_id int, lat float8, lon float8, tariff_zone_id int,
    min_term smallint, max_term smallint, max_weight int, max_height int, max_length int, max_width int,
    max_declared_cost bigint);
INSERT INTO delivery.send VALUES
    (1, 1, 101, 55.71, 37.61, '-infinity', 'infinity', 30000, 1000, 1000, 1000, 100000),
    (1, 1, 102, 55.90, 37.90, '-infinity', 'infinity', 30000, 1000, 1000, 1000, 100000),
    (2, 1, 103, 55.70, 37.60, '-infinity', 'infinity', 500, 1000, 1000, 1000, 100000),
    (3, 1, 104, 55.70, 37.60, '-infinity', '2020-01-01', 30000, 1000, 1000, 1000, 100000);
INSERT INTO delivery.receive VALUES
    (11, 101, 59.9, 30.3, 2, 1, 3, 30000, 1000, 1000, 1000, 100000),
    (12, 102, 59.9, 30.3, 2, 1, 3, 30000, 1000, 1000, 1000, 100000),
    (13, 101, 61.0, 30.3, 2, 1, 3, 30000, 1000, 1000, 1000, 100000),
    (14, 103, 59.9, 30.3, 2, 1, 3, 30000, 1000, 1000, 1000, 100000);
`

func TestParametersSurviveEscapes(t *testing.T) {
	values, err := url.ParseQuery(asked)
	if err != nil {
		t.Fatal(err)
	}
	got, err := ofQuery(values, time.Time{})
	if err != nil || len(got.arguments()) != 17 || got.limit != 100 || got.buyer.north != 60 {
		t.Errorf("%+v, %v", got, err)
	}
}
