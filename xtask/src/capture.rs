//! What do the servers of this machine answer to the probes?
//!
//! Runs the real-server tests that ask them, told to write the answers to `crates/stack/fixtures/probe`; then the readings
//! that are expected of those are rewritten, to be looked at before they are committed.

use std::process::{Command, ExitCode};

/// `probe` is the name of one, or `all`. PostgreSQL of all versions that can be fetched is asked.
pub fn main(probe: &str) -> ExitCode {
    let steps: [(&[&str], (&str, &str)); 2] = [
        (&["--test", "real_server", "--", "capture::", "services_built::"], ("PGDYNO_CAPTURE", probe)),
        (&["--test", "probes", "--", "recorded_answers"], ("UPDATE_EXPECT", "1")),
    ];
    for (arguments, (name, value)) in steps {
        let status = Command::new(env!("CARGO"))
            .args(["test", "--package", "stack"])
            .args(arguments)
            .env(name, value)
            .env("PGDYNO_TEST_ALL_VERSIONS", "1")
            .status();
        match status {
            Ok(it) if it.success() => {}
            Ok(it) => {
                eprintln!("capture: the tests that ask the servers ended with {it}");
                return ExitCode::from(1);
            }
            Err(error) => {
                eprintln!("capture: cargo cannot be started: {error}");
                return ExitCode::from(1);
            }
        }
    }
    ExitCode::SUCCESS
}
