//! Captures the servers' responses to the probes.
//!
//! Runs the real-server tests in the mode that writes responses to `crates/stack/fixtures/probe`, then rewrites their
//! expected readings. Review the responses and readings before you commit them.

use std::process::{Command, ExitCode};

/// Captures the responses to `probe`, which is the name of a probe or `all`. The tests cover every PostgreSQL version
/// that can be fetched.
pub fn main(probe: &str) -> ExitCode {
    let steps: [(&[&str], (&str, &str)); 2] = [
        (
            &["--test", "suite", "--", "real_server::capture::", "real_server::services_built::"],
            ("PGDYNO_CAPTURE", probe),
        ),
        (&["--test", "suite", "--", "probes::parses_recorded_answers"], ("UPDATE_EXPECT", "1")),
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
            Ok(status) => {
                eprintln!("capture: the tests that query the servers ended with {status}");
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
