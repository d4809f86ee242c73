package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// onTimeout is the fate of a statement whose request has timed out.
type onTimeout string

const (
	// A cancel request is sent over a separate connection; the session stays open.
	cancelStatement onTimeout = "cancel"
	// The connection is closed, and the pool opens another one.
	closeConnection onTimeout = "close"
	// The client gets its error, and the statement runs to its end.
	waitForEnd onTimeout = "wait"
)

// settings are read from the environment.
type settings struct {
	// Address that accepts requests, host:port.
	address string
	// Connection string in libpq's form; the password comes from PGPASSWORD or a password file.
	database string
	// Number of connections to the database, at least 1.
	poolSize int32
	// Timeout of a request, including the wait for a connection; 0 for none.
	timeout   time.Duration
	onTimeout onTimeout
	// True if statements are prepared once per connection. Poolers in transaction mode may not support this.
	prepare bool
	// Time after which the result of every hundredth request is closed; 0 if all are closed at once. Until then, the result
	// keeps its connection.
	closeAfter time.Duration
	// True if each connection has its own application_name. A pooler that shares connections then sets it at every change
	// of client.
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
	// The error does not show the value, because it may contain a password.
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
	read("CLOSE_AFTER", func(text string) error {
		delay, err := time.ParseDuration(text)
		if err != nil || delay < 0 {
			return fmt.Errorf("write a duration such as 5s, or 0 to close all results at once")
		}
		it.closeAfter = delay
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
