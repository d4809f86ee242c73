//! Fuzz targets: functions that feed fuzzed bytes to the parsers of foreign input and assert their invariants.
//!
//! `fuzz/` runs them under libFuzzer; the tests of this crate replay the stored inputs of `fuzz/corpus` with the stable
//! compiler.

pub mod backend;
pub mod conninfo;
pub mod experiment;
pub mod feed;
pub mod histogram;
pub mod http;
pub mod json;
pub mod ledger;
pub mod loglines;
pub mod names;
pub mod plans;
pub mod probes;
pub mod recording;
pub mod run_file;
pub mod schedule;
pub mod scram;
pub mod script;
pub mod serve;
pub mod server_log;
pub mod template;
pub mod traffic;
pub mod x509;

/// A target's name, which is also its folder in `fuzz/corpus`, and the function that runs one input.
pub type Target = (&'static str, fn(&[u8]));

pub const TARGETS: [Target; 22] = [
    ("backend", backend::run),
    ("conninfo", conninfo::run),
    ("experiment", experiment::run),
    ("feed", feed::run),
    ("histogram", histogram::run),
    ("http", http::run),
    ("json", json::run),
    ("ledger", ledger::run),
    ("loglines", loglines::run),
    ("names", names::run),
    ("plans", plans::run),
    ("probes", probes::run),
    ("recording", recording::run),
    ("run_file", run_file::run),
    ("schedule", schedule::run),
    ("scram", scram::run),
    ("script", script::run),
    ("serve", serve::run),
    ("server_log", server_log::run),
    ("template", template::run),
    ("traffic", traffic::run),
    ("x509", x509::run),
];

/// The input as text, up to its first byte that is not UTF-8.
fn text(data: &[u8]) -> &str {
    match std::str::from_utf8(data) {
        Ok(text) => text,
        Err(error) => {
            std::str::from_utf8(&data[..error.valid_up_to()]).expect("the bytes before the error are valid")
        }
    }
}
