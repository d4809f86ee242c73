package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// onTimeout is what becomes of a statement whose request has waited long enough.
type onTimeout string

const (
	// A cancel request is sent over a connection of its own; the session stays.
	cancelStatement onTimeout = "cancel"
	// The connection is closed, and the pool opens another one.
	closeConnection onTimeout = "close"
	// The client is answered, and the statement runs to its end.
	waitForEnd onTimeout = "wait"
)

// settings are all that the environment decides.
type settings struct {
	// Where requests are taken, host:port.
	address string
	// As libpq takes it; a password comes from PGPASSWORD or a password file.
	database string
	// Connections to the database, at least 1.
	poolSize int32
	// Of one request, the wait for a connection included; none when 0.
	timeout   time.Duration
	onTimeout onTimeout
	// Statements are prepared once per connection. Poolers that share connections by transaction may not allow it.
	prepare bool
	// Whether each connection has an application_name of its own: a pooler that shares connections sets it anew at every
	// change of client.
	ownNames bool
}

func settingsFrom(lookup func(string) (string, bool)) (settings, error) {
	it := settings{
		address: "127.0.0.1:8080", poolSize: 10, timeout: time.Second, onTimeout: closeConnection, prepare: true,
	}
	var wrong []string
	read := func(name string, set func(string) error) {
		if text, ok := lookup(name); ok && text != "" {
			if err := set(text); err != nil {
				wrong = append(wrong, fmt.Sprintf("%s=%s: %v", name, text, err))
			}
		}
	}
	read("ADDRESS", func(text string) error { it.address = text; return nil })
	// Not shown when wrong: it may hold what it should not.
	if text, ok := lookup("DATABASE_URL"); ok {
		it.database = text
	}
	read("POOL_SIZE", func(text string) error {
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil || n < 1 {
			return fmt.Errorf("write a number of connections, 1 or more")
		}
		it.poolSize = int32(n)
		return nil
	})
	read("QUERY_TIMEOUT", func(text string) error {
		lasting, err := time.ParseDuration(text)
		if err != nil || lasting < 0 {
			return fmt.Errorf("write a duration such as 300ms, or 0 for none")
		}
		it.timeout = lasting
		return nil
	})
	read("ON_TIMEOUT", func(text string) error {
		switch onTimeout(text) {
		case cancelStatement, closeConnection, waitForEnd:
			it.onTimeout = onTimeout(text)
			return nil
		}
		return fmt.Errorf("write cancel, close or wait")
	})
	read("PREPARE", func(text string) error {
		on, err := strconv.ParseBool(text)
		it.prepare = on
		if err != nil {
			return fmt.Errorf("write true or false")
		}
		return nil
	})
	read("APPLICATION_NAMES", func(text string) error {
		it.ownNames = text == "different"
		if text != "different" && text != "equal" {
			return fmt.Errorf("write equal or different")
		}
		return nil
	})
	if len(wrong) > 0 {
		return it, fmt.Errorf("%s", strings.Join(wrong, "; "))
	}
	return it, nil
}
